#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes gradients_golden.json: the gradients of the weights of every tiny model with rotary positions, as transformers
computes them, for gradients_golden_test.

    python tests/core/make/make_gradients_golden.py OUT.json [NAME ...]                  (transformers 5, torch)

With names: the cases of those models alone are made, beside those of others that OUT.json has.

In float32, eager. The loss is the mean cross entropy of the next token over the 40 tokens of the model's expected.json, under
the given ids IDS (a head, a middle and a tail with gaps between them, as CREAM has). Of each case: the loss, and for each
tensor of the file, under its name there: [length of the last dimension, norm, signed sum] of its gradient. The signed sum is
of all entries by flat index i, negated where bit 16 of i * 2654435761 (mod 2^32) is set, so it shows entries at wrong places.
"""

import json
import os
import sys
import tempfile

import golden_runs as runs
import make_positions_golden as positions
from tiny_configurations import MODELS
import numpy
import safetensors.torch
import torch

IDS = [*range(8), *range(41, 63), *range(117, 127)]
# Without rotary positions; or transformers does not open it as it is, or not for text.
OTHERS = ("mpt", "bloom", "falcon-alibi", "gpt2", "gpt2-by-layer", "gpt2-unscaled", "gpt-neo", "gpt-bigcode", "gpt-bigcode-heads", "opt", "opt-350m", "opt-plain", "xglm",
          "internlm", "internlm2", "gpt-oss-mxfp4", "llama4-pictures")


def signed_sum(values):
    index = numpy.arange(values.size, dtype=numpy.uint64) * 2654435761 % 2**32
    return float((values * numpy.where(index >> 16 & 1, -1.0, 1.0)).sum())


def summary(gradient):
    values = gradient.double().numpy().reshape(-1)
    return [gradient.shape[-1], *(float(f"{x:.7g}") for x in (numpy.linalg.norm(values), signed_sum(values)))]


def saved(model):
    """The tensors that transformers writes to a file for this model, under their names there."""
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        tensors = {}
        for name in os.listdir(folder):
            if name.endswith(".safetensors"):
                tensors |= safetensors.torch.load_file(os.path.join(folder, name))
    return tensors


def case(name):
    tokens = runs.prompt_ids(name)
    model = positions.opened(name)
    logits = model(torch.tensor([tokens]), position_ids=torch.tensor([IDS]), use_cache=False,
                   attention_mask=torch.ones(1, len(tokens), dtype=torch.long)).logits[0]
    loss = torch.nn.functional.cross_entropy(logits[:-1], torch.tensor(tokens[1:]))
    loss.backward()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.zeros_like(parameter) if parameter.grad is None else parameter.grad)
        for buffer in model.buffers():
            buffer.zero_()
    gradients = {key: summary(tensor) for key, tensor in sorted(saved(model).items()) if tensor.any()}
    return dict(model=name, loss=loss.item(), gradients=gradients)


def main():
    runs.set_up()
    chosen = sys.argv[2:]
    names = chosen or [name for name in sorted(MODELS) if name not in OTHERS and not name.startswith("gguf-")]
    kept = []
    if chosen:
        with open(sys.argv[1]) as file:
            kept = [old for old in json.load(file)["cases"] if old["model"] not in chosen]
    made = [case(name) for name in names]
    runs.write(sys.argv[1], sorted(kept + made, key=lambda made_case: made_case["model"]), dict(position_ids=IDS))


if __name__ == "__main__":
    main()
