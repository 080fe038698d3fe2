#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes residual_edits_golden.json and the control vectors beside it: vectors added to the residual stream and channels set,
and how the stream moves with position, as transformers' own models give them with a hook after each block, for
residual_edits_golden_test and position_direction_test. The control vectors are written by the package gguf, as repeng does (repeng/control.py, export_gguf).

    python tests/core/make/make_residual_edits_golden.py GOLDEN_FOLDER EMBEDDED.gguf         (transformers 5, torch, gguf)

For the tiny models named in MODELS, of which the first three have grouped key heads; gpt-neox has a parallel residual, mpt
attends with ALiBi; and for the embedded model. Sequence, rows and numbers as in golden_runs.py. VECTOR in a setting
stands for the model's control vector.
"""

import os
import sys

import gguf
import golden_runs as runs
import numpy as np
import torch

MODELS = ["llama", "qwen3", "gemma2", "gpt-neox", "mpt"]
EMBEDDED_LAYERS = [0, 1, 29]
LAST_SIX = slice(runs.PROMPT - 6, None)
# text: edits as (kind, layers or None, rows, ...): an added vector's scale; a channel, and its value or "mean".
SETTINGS = {
    "vector(VECTOR, scale=2)": [("vector", None, runs.ALL_ROWS, 2.0)],
    "vector(VECTOR, scale=-1.5, layers=1, rows=last:6)": [("vector", [1], LAST_SIX, -1.5)],
    "vector(VECTOR, scale=3, rows=last)": [("vector", None, runs.LAST_ROW, 3.0)],
    "set(3, span=20:33, to=zero, layers=0)": [("set", [0], slice(20, 33), 3, 0.0)],
    "set(11, span=answer, to=2.5)": [("set", None, runs.ANSWER_ROWS, 11, 2.5)],
    "set(5, to=mean, layers=0)": [("set", [0], runs.ALL_ROWS, 5, "mean")],
    "set(5, span=0:1, to=mean) + set(9, span=36:40, to=-4)": [
        ("set", None, slice(0, 1), 5, "mean"), ("set", None, slice(36, 40), 9, -4.0)],
    "vector(VECTOR, scale=2, layers=0) + set(7, span=30:40, to=mean, layers=0-1)": [
        ("vector", [0], runs.ALL_ROWS, 2.0), ("set", [0, 1], slice(30, 40), 7, "mean")],
}


def blocks(model):
    for path in (("model", "layers"), ("gpt_neox", "layers"), ("transformer", "blocks")):
        if hasattr(model, path[0]):
            return getattr(getattr(model, path[0]), path[1])
    raise SystemExit("no blocks")


def edit(stream, layer, setting, directions):
    """stream [row, hidden] after the block: vectors first, then means, then values."""
    stream = stream.clone()
    for kind, layers, rows, *more in setting:
        if kind == "vector" and (layers is None or layer in layers) and layer in directions:
            stream[rows] += more[0] * torch.from_numpy(directions[layer])
    sets = [(rows, *more) for kind, layers, rows, *more in setting if kind == "set" and (layers is None or layer in layers)]
    means = [stream[:runs.PROMPT, channel].double().mean().float() for _, channel, _ in sets]
    for (rows, channel, value), mean in zip(sets, means):
        stream[rows, channel] = mean if value == "mean" else value
    return stream


def write_vector(path, name, directions):
    writer = gguf.GGUFWriter(path, "controlvector")
    writer.add_string("controlvector.model_hint", name)
    writer.add_uint32("controlvector.layer_count", len(directions))
    for layer, values in directions.items():
        writer.add_tensor(f"direction.{layer}", values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def cases(name, model, ids, folder):
    random = np.random.default_rng(17)
    hidden = model.get_input_embeddings().weight.shape[1]
    layers = EMBEDDED_LAYERS if name == runs.EMBEDDED else range(len(blocks(model)))
    directions = {layer: (0.3 * random.standard_normal(hidden)).astype(np.float32) for layer in layers}
    write_vector(os.path.join(folder, f"{name}.gguf"), name, directions)
    now = {}

    def after(layer):
        def hook(_module, _inputs, output):
            stream = output[0] if isinstance(output, tuple) else output
            changed = edit(stream[0], layer, now["setting"], directions)[None]
            return (changed, *output[1:]) if isinstance(output, tuple) else changed
        return hook

    for layer, block in enumerate(blocks(model)):
        block.register_forward_hook(after(layer))
    for text, setting in SETTINGS.items():
        now["setting"] = setting
        with torch.no_grad():
            result = model(torch.tensor([ids]), use_cache=False, output_attentions=True)
        yield runs.case(name, text, result.logits[0], result.attentions[-1][0])


def drift(model, ids):
    """Per layer: the covariance of the stream after the block with the position, by numpy, over the prompt's rows."""
    streams = {}
    hooks = [block.register_forward_hook(lambda _module, _inputs, output, layer=layer: streams.update(
        {layer: (output[0] if isinstance(output, tuple) else output)[0].double().numpy()})) for layer, block in enumerate(blocks(model))]
    with torch.no_grad():
        model(torch.tensor([ids[:runs.PROMPT]]), use_cache=False)
    for hook in hooks:
        hook.remove()
    time = np.arange(runs.PROMPT, dtype=np.float64)
    for layer in sorted(streams):
        covariance = np.array([np.cov(column, time, bias=True)[0, 1] for column in streams[layer].T])
        direction = covariance / np.linalg.norm(covariance)
        along = streams[layer] @ direction
        yield dict(
            direction=[round(x, 7) for x in direction.tolist()],
            slope=float(np.polyfit(time, along, 1)[0]),
            correlation=float(np.corrcoef(along, time)[0, 1]),
        )


def tiny(name):
    return runs.opened(name), runs.prompt_ids(name) + runs.ANSWER


def main():
    runs.set_up()
    folder = os.path.join(sys.argv[1], "control_vectors")
    os.makedirs(folder, exist_ok=True)
    drifts = {name: list(drift(*tiny(name))) for name in MODELS}
    found = [case for name in MODELS for case in cases(name, *tiny(name), folder)]
    ids = [(37 * i * i + 11 * i + 300) % 40000 for i in range(runs.PROMPT)]
    found += cases(runs.EMBEDDED, runs.opened_gguf(sys.argv[2]), ids + runs.ANSWER, folder)
    runs.write(os.path.join(sys.argv[1], "residual_edits_golden.json"), found, runs.FRAME | dict(
        embedded_logit_step=runs.EMBEDDED_LOGIT_STEP, embedded_ids=ids, drifts=drifts))


if __name__ == "__main__":
    main()
