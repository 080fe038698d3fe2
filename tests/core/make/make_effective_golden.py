#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes effective_golden.json: the weights with which the values of all rows make up a row's output in layers without
attention, for effective_pattern_test.

    python tests/core/make/make_effective_golden.py OUT.json      (transformers 5, torch)

In float32. transformers' own recurrent rule gets the queries, keys, decays and rates of its model, and as values the unit vector of
each row: what comes out are the weights. Of each model: [layer without attention, row of ROWS, head, key].
"""

import importlib
import json
import sys

import golden_runs as runs
import torch

MODELS = ["qwen3-5", "qwen3-next"]
ROWS = [0, 17, 39]


def weights_of(name):
    model = runs.opened(name)
    module = importlib.import_module(type(model).__module__)
    found = []
    rule = module.torch_chunk_gated_delta_rule

    def keep(query, key, value, **others):
        rows, heads = value.shape[1:3]
        units = torch.eye(rows)[None, :, None].expand(1, rows, heads, rows)
        found.append(module.torch_recurrent_gated_delta_rule(query, key, units, **others)[0][0])
        return rule(query, key, value, **others)

    # transformers binds the rule to its layer when the model is built, or finds it in the module.
    module.torch_chunk_gated_delta_rule = keep
    for part in model.modules():
        if getattr(part, "chunk_gated_delta_rule", None) is not None:
            part.chunk_gated_delta_rule = keep
    with torch.no_grad():
        model(torch.tensor([runs.prompt_ids(name)]), use_cache=False)
    module.torch_chunk_gated_delta_rule = rule
    assert found, name
    return [[[[float(f"{value:.7g}") for value in head] for head in of_layer[row]] for row in ROWS] for of_layer in found]


if __name__ == "__main__":
    runs.set_up()
    golden = {"rows": ROWS, "models": {name: weights_of(name) for name in MODELS}}
    with open(sys.argv[1], "w") as out:
        json.dump(golden, out, separators=(",", ":"))
        out.write("\n")
