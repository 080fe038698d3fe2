#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes patch_golden.json: activation patching as transformers' own models give it with hooks on their modules, for
patch_golden_test.

    python tests/core/make/make_patch_golden.py MODEL.gguf OUT.json [NAME ...]           (transformers 5, torch, gguf)

With names: the cases of those models alone are made, beside those of others that OUT.json has.

For the tiny models named in MODELS (llama, qwen3 and gemma2 have grouped key heads, mpt attends with ALiBi) and the embedded
model in MODEL.gguf, in float32; for SHARED also keys and values that later layers read. The target is the 40 tokens of the model's expected.json (of the embedded model: every
37th of its vocabulary), the source the same tokens in reverse; each passage has its tokens in both. Of each setting: logits
[row of ROWS, every LOGIT_STEP-th of the vocabulary], and attention [head, key] of the last prompt row in the last layer.
"""

import json
import sys

import golden_runs as runs
import torch

MODELS = ["llama", "qwen3", "gemma2", "mpt"]
SHARED = "gemma4-shared"  # layers 4 and 5 read keys of layer 2, layer 6 those of layer 3
# (first, last) of the source, then of the target.
PASSAGES = {"same": ((5, 11), (30, 36)), "longer": ((8, 12), (20, 26)), "shorter": ((3, 12), (24, 27))}
LAST = ((39, 40), (39, 40))
LAST_3 = ((37, 40), (37, 40))
ALL = ((0, 40), (0, 40))
EVERY = lambda layer, head: True


def settings(last_layer):
    """text: (what, rows of source and target, layers, heads, align) of each patch; below and at the last layer."""
    below = last_layer - 1
    same = PASSAGES["same"]
    found = {
        f"patch(from=source:other, what={what}, span=same, layers={below})": [(what, same, [below], EVERY, "")]
        for what in ("resid", "q", "k", "v", "z", "attn_out", "mlp_out")
    }
    found.update({
        f"patch(from=source:other, what=z, span=last, heads=[L{below}H1,L{last_layer}H2])": [
            ("z", LAST, [below, last_layer], lambda layer, head: (layer, head) in ((below, 1), (last_layer, 2)), "")],
        f"patch(from=source:other, what=k, span=same, heads=L{below}H1)": [
            ("k", same, [below], lambda layer, head: head == 1, "")],
        f"patch(from=source:other, what=v, span=all, heads=L{last_layer}G0)": [
            ("v", ALL, [last_layer], lambda layer, head: head == 0, "")],
        f"patch(from=source:other, what=q, span=last:3, layers={last_layer})": [("q", LAST_3, [last_layer], EVERY, "")],
        f"patch(from=source:other, what=resid, span=longer, layers={below}, align=end)": [
            ("resid", PASSAGES["longer"], [below], EVERY, "end")],
        f"patch(from=source:other, what=resid, span=longer, layers={below}, align=mean)": [
            ("resid", PASSAGES["longer"], [below], EVERY, "mean")],
        f"patch(from=source:other, what=mlp_out, span=shorter, layers={below}, align=start) + "
        f"patch(from=source:other, what=resid, span=last, layers={last_layer})": [
            ("mlp_out", PASSAGES["shorter"], [below], EVERY, "start"), ("resid", LAST, [last_layer], EVERY, "")],
    })
    return found


def shared_settings():
    same = PASSAGES["same"]
    return {
        "patch(from=source:other, what=k, span=same, layers=2)": [("k", same, [2], EVERY, "")],
        "patch(from=source:other, what=v, span=all)": [("v", ALL, [0, 1, 2, 3], EVERY, "")],
        "patch(from=source:other, what=q, span=all, layers=4-6)": [("q", ALL, [4, 5, 6], EVERY, "")],
        "patch(from=source:other, what=z, span=last, layers=3-5)": [("z", LAST, [3, 4, 5], EVERY, "")],
    }


def modules(model, layer):
    """what: (module, whether its input is meant, its columns or None for all)."""
    config = model.config
    if hasattr(model, "transformer"):
        block = model.transformer.blocks[layer]
        width = config.d_model
        return {
            "resid": (block, False, None), "q": (block.attn.Wqkv, False, (0, width)),
            "k": (block.attn.Wqkv, False, (width, 2 * width)), "v": (block.attn.Wqkv, False, (2 * width, 3 * width)),
            "z": (block.attn.out_proj, True, None), "attn_out": (block.attn.out_proj, False, None),
            "mlp_out": (block.ffn.down_proj, False, None)}
    block = model.model.layers[layer]
    attention = block.self_attn
    gemma2 = hasattr(block, "post_feedforward_layernorm")
    keys, values = (getattr(attention, part, None) for part in ("k_proj", "v_proj"))  # none in layers that read others'
    return {
        "resid": (block, False, None), "q": (attention.q_proj, False, None), "k": (keys, False, None),
        "v": (values, False, None), "z": (attention.o_proj, True, None),
        "attn_out": (block.post_attention_layernorm if gemma2 else attention.o_proj, False, None),
        "mlp_out": (block.post_feedforward_layernorm if gemma2 else block.mlp, False, None)}


def key_heads(config):
    config.allow_global_per_layer_attribute_access = True  # gemma4's, whose layers here have as many
    return getattr(config, "num_key_value_heads", None) or heads_of(config)


def heads_of(config):
    return getattr(config, "num_attention_heads", None) or config.n_heads


def hook(model, what, layer, change):
    """change(values [row, width]) -> the values to go on with, or None."""
    module, is_input, columns = modules(model, layer)[what]

    def changed(tensor):
        part = tensor[0] if columns is None else tensor[0, :, columns[0]:columns[1]]
        new = change(part.clone())
        if new is None:
            return None
        tensor = tensor.clone()
        if columns is None:
            tensor[0] = new
        else:
            tensor[0, :, columns[0]:columns[1]] = new
        return tensor

    if is_input:
        def before(module, args):
            new = changed(args[0])
            return None if new is None else (new, *args[1:])
        return module.register_forward_pre_hook(before)

    def after(module, args, output):
        tensor = output[0] if isinstance(output, tuple) else output
        new = changed(tensor)
        if new is None:
            return None
        return (new, *output[1:]) if isinstance(output, tuple) else new
    return module.register_forward_hook(after)


def run(model, ids, hooks):
    handles = [hook(model, *one) for one in hooks]
    with torch.no_grad():
        out = model(torch.tensor([ids]), use_cache=False, output_attentions=True)
    for handle in handles:
        handle.remove()
    return out.logits[0], out.attentions[-1][0]


def replaced(model, values, what, rows, heads, align, layer):
    (s0, s1), (t0, t1) = rows

    def change(target):
        taken = values[s0:s1]
        first, last = t0, t1
        if s1 - s0 != t1 - t0:
            common = min(s1 - s0, t1 - t0)
            if align == "mean":
                taken = taken.mean(dim=0, keepdim=True).expand(t1 - t0, -1)
            elif align == "end":
                taken, first = taken[-common:], last - common
            else:
                taken, last = taken[:common], first + common
        if what in ("q", "k", "v", "z"):
            count = key_heads(model.config) if what in "kv" else heads_of(model.config)
            group = heads_of(model.config) // count
            width = target.shape[1] // count
            for head in range(count):
                members = range(head * group, (head + 1) * group) if what in "kv" else [head]
                if any(heads(layer, member) for member in members):
                    part = slice(head * width, (head + 1) * width)
                    target[first:last, part] = taken[:, part]
        else:
            target[first:last] = taken
        return target
    return change


def cases(name, model, target, source):
    last_layer = (model.config.num_hidden_layers if hasattr(model.config, "num_hidden_layers") else model.config.n_layers) - 1
    for text, patches in (shared_settings() if name == SHARED else settings(last_layer)).items():
        hooks = []
        for what, rows, layers, heads, align in patches:
            for layer in layers:
                kept = {}
                run(model, source, [(what, layer, lambda values: kept.__setitem__("values", values))])
                hooks.append((what, layer, replaced(model, kept["values"], what, rows, heads, align, layer)))
        yield runs.case(name, text, *run(model, target + runs.ANSWER, hooks), logit_step=runs.logit_step(name))


def main():
    runs.set_up()
    chosen = sys.argv[3:] or [*MODELS, SHARED, runs.EMBEDDED]
    found = []
    if len(sys.argv) > 3:
        with open(sys.argv[2]) as file:
            found = [case for case in json.load(file)["cases"] if case["model"] not in chosen]
    for name in [*MODELS, SHARED]:
        ids = runs.prompt_ids(name)
        if name in chosen:
            found += cases(name, runs.opened(name), ids, ids[::-1])
    ids = [300 + 37 * i for i in range(runs.PROMPT)]
    if runs.EMBEDDED in chosen:
        found += cases(runs.EMBEDDED, runs.opened_gguf(sys.argv[1]), ids, ids[::-1])
    runs.write(sys.argv[2], found, dict(
        answer=runs.ANSWER, rows=runs.ROWS,
        passages={name: dict(source=rows[0], target=rows[1]) for name, rows in PASSAGES.items()}, embedded_ids=ids))


if __name__ == "__main__":
    main()
