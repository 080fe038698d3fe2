#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes lens_golden.json and lenses/*.pt: Jacobian lenses of tiny models by their formula, for lens_fit_test and
jacobian_lens_test.

    python tests/core/make/make_lens_golden.py FOLDER                                     (transformers 5, torch)

Of each model one prompt, the 40 tokens of its expected.json. The matrix of a layer is made from the whole Jacobian
[position, element, position, element] of the last layer's output by the layer's output, without the one backward pass per row
that a fit takes: sums over later positions, and means over the positions 16 to 38 of both. Of each layer: [norm, signed sum]
(make_gradients_golden.py). lenses/: that of llama as jlens (float16) and as TransformerLens (float32, with metadata) save it.
"""

import os
import sys

import torch

import golden_runs as runs
import make_positions_golden as positions
from make_gradients_golden import signed_sum

SKIPPED = 16
NAMES = ("llama", "gemma2", "gemma3", "cohere", "gpt-neox", "smollm3", "qwen3-moe")


def layers_of(model):
    return (model.gpt_neox if hasattr(model, "gpt_neox") else model.model).layers


def lens(name):
    tokens = torch.tensor([runs.prompt_ids(name)])
    model = positions.opened(name)
    layers = layers_of(model)
    counted = slice(SKIPPED, tokens.shape[1] - 1)
    streams = {}

    def keeps(index):
        def hook(module, inputs, output):
            streams[index] = output[0] if isinstance(output, tuple) else output
        return hook

    def last_stream(layer, rows):
        def replaces(module, inputs, output):
            stream = streams[layer].detach().clone()
            stream[0, counted] = rows
            return (stream, *output[1:]) if isinstance(output, tuple) else stream

        hooks = [layers[layer].register_forward_hook(replaces), layers[-1].register_forward_hook(keeps(len(layers) - 1))]
        model(tokens, use_cache=False)
        for hook in hooks:
            hook.remove()
        return streams[len(layers) - 1][0, counted]

    hooks = [layer.register_forward_hook(keeps(index)) for index, layer in enumerate(layers)]
    with torch.no_grad():
        model(tokens, use_cache=False)
    for hook in hooks:
        hook.remove()
    matrices = {}
    for layer in range(len(layers) - 1):
        rows = streams[layer][0, counted].detach()
        whole = torch.autograd.functional.jacobian(lambda x, layer=layer: last_stream(layer, x), rows)
        matrices[layer] = whole.sum(0).mean(1)  # [target position, element, source position, element]
    return matrices


def save(folder, matrices):
    os.makedirs(folder, exist_ok=True)
    rest = {"n_prompts": 1, "source_layers": sorted(matrices), "d_model": matrices[0].shape[0]}
    torch.save({"J": {layer: matrix.to(torch.float16) for layer, matrix in matrices.items()}} | rest, os.path.join(folder, "jlens.pt"))
    metadata = {"model_name": "llama", "target_layer": len(matrices), "corpus": None, "processing": {"compatibility_mode": False},
                "skip_first_positions": SKIPPED, "fit_seconds": 0.5}
    torch.save({"J": dict(matrices)} | rest | {"metadata": metadata}, os.path.join(folder, "transformer_lens.pt"))


def main():
    runs.set_up()
    cases = []
    for name in NAMES:
        matrices = lens(name)
        if name == "llama":
            save(os.path.join(sys.argv[1], "lenses"), matrices)
        sums = [[float(f"{x:.7g}") for x in (matrix.double().norm(), signed_sum(matrix.double().numpy().reshape(-1)))]
                for matrix in matrices.values()]
        cases.append(dict(model=name, matrices=sums))
    runs.write(os.path.join(sys.argv[1], "lens_golden.json"), cases, {})


if __name__ == "__main__":
    main()
