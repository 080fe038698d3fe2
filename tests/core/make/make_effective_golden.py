#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes effective_golden.json: the weights with which the values of all rows make up a row's output in layers without
attention, for effective_pattern_test.

    python tests/core/make/make_effective_golden.py OUT.json      (transformers 5, torch)

In float32. transformers' own rule or scan gets the queries, keys and decays of its model, and as values the unit vector of each row:
what comes out are the weights. Of each model: [layer with a mixer, row of ROWS, head, key].
"""

import importlib
import json
import sys

import golden_runs as runs
import torch

MODELS = {"qwen3-5": "torch_chunk_gated_delta_rule", "qwen3-next": "torch_chunk_gated_delta_rule", **dict.fromkeys(("granite-hybrid", "nemotron-h", "falcon-h1"), "mamba2_chunk_scan")}
ROWS = [0, 17, 39]


def weights_of(name, rule_name):
    model = runs.opened(name)
    module = importlib.import_module(type(model).__module__)
    rule = getattr(module, rule_name)
    found = []

    def keep(*arrays, **others):
        index = 0 if rule_name == "mamba2_chunk_scan" else 2  # of the values
        rows, heads = arrays[index].shape[1:3]
        units = torch.eye(rows)[None, :, None].expand(1, rows, heads, rows).contiguous()
        result = rule(*arrays[:index], units, *arrays[index + 1:], **others)
        found.append((result[0] if isinstance(result, tuple) else result)[0])
        return rule(*arrays, **others)

    setattr(module, rule_name, keep)
    with torch.no_grad():
        model(torch.tensor([runs.prompt_ids(name)]), use_cache=False)
    setattr(module, rule_name, rule)
    assert found, name
    return [[[[float(f"{value:.7g}") for value in head] for head in of_layer[row]] for row in ROWS] for of_layer in found]


if __name__ == "__main__":
    runs.set_up()
    golden = {"rows": ROWS, "models": {name: weights_of(name, rule) for name, rule in MODELS.items()}}
    with open(sys.argv[1], "w") as out:
        json.dump(golden, out, separators=(",", ":"))
        out.write("\n")
