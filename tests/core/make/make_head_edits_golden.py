#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes head_edits_golden.json: boosts, knockouts and streaming masks of chosen heads, as transformers' own models give them
when their eager attention is replaced by the plain computation below (whole matrices in float64, a mask and a factor for
every head, row and key), for head_edits_golden_test.

    python tests/core/make/make_head_edits_golden.py OUT.json                 (transformers 5, torch)

For the tiny models named in MODELS, of which the first three have grouped key heads; mpt attends with ALiBi. Sequence, rows
and numbers as in make_edits_golden.py, whose replacements of the models' attention are used.
"""

import json
import os
import sys

import make_edits_golden as edits
import torch
import transformers
from transformers.models.qwen3 import modeling_qwen3

MODELS = {"llama": edits.modeling_llama, "qwen3": modeling_qwen3, "gemma2": edits.modeling_gemma2, "mpt": None}
ALL = lambda layer, head: True
# text: edits as (kind, heads(layer, head), rows, first key, last key, ...).
SETTINGS = {
    "boost(span=30:37, factor=2, heads=[L0H0-1,L1H*])": [
        ("boost", lambda layer, head: layer == 1 or (layer == 0 and head < 2), edits.ANSWER_ROWS, 30, 37, 2.0, False)],
    "boost(span=24:34, factor=100, renormalise=yes, rows=all, heads=L1H0)": [
        ("boost", lambda layer, head: (layer, head) == (1, 0), edits.ALL_ROWS, 24, 34, 100.0, True)],
    "block(from=last, to=30:36)": [("block", ALL, edits.LAST_ROW, 30, 36)],
    "block(from=answer, to=28:39, heads=[L0H1,L1H0])": [
        ("block", lambda layer, head: (layer, head) in ((0, 1), (1, 0)), edits.ANSWER_ROWS, 28, 39)],
    "block(from=36:40, to=30:38, layers=1)": [("block", lambda layer, head: layer == 1, slice(36, 40), 30, 38)],
    "block(from=all, to=0:4, layers=0, heads=L0H*)": [("block", lambda layer, head: layer == 0, edits.ALL_ROWS, 0, 4)],
    "streaming(sink=2, recent=7)": [("streaming", ALL, edits.ALL_ROWS, 2, 7)],
    "streaming(heads=[L0H1,L1H2], sink=0, recent=3, rows=answer)": [
        ("streaming", lambda layer, head: (layer, head) in ((0, 1), (1, 2)), edits.ANSWER_ROWS, 0, 3)],
    "boost(span=33:38, factor=3, heads=L0H2) + block(from=last:6, to=20:30, heads=L0H0) + streaming(heads=L1H1, sink=1, recent=5)": [
        ("boost", lambda layer, head: (layer, head) == (0, 2), edits.ANSWER_ROWS, 33, 38, 3.0, False),
        ("block", lambda layer, head: (layer, head) == (0, 0), slice(edits.PROMPT - 6, None), 20, 30),
        ("streaming", lambda layer, head: (layer, head) == (1, 1), edits.ALL_ROWS, 1, 5)],
}

now = {}  # the setting that runs


def chosen(rows, count):
    mask = torch.zeros(count, dtype=torch.bool)
    mask[rows] = True
    return mask


def attend(layer, q, k, v, scaling, softcap, bias, visible):
    q, k, v = q.double(), k.double(), v.double()
    logits = q @ k.transpose(2, 3) * scaling
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)
    if bias is not None:
        logits = logits + bias
    heads, count = q.shape[1], q.shape[2]
    place = torch.arange(count)
    seen = visible.expand(heads, count, count).clone()
    factor = torch.ones(heads, count, count, dtype=torch.float64)
    before = torch.ones(heads, count, count, dtype=torch.float64)
    for kind, of, rows, first, last, *more in now["setting"]:
        row = chosen(rows, count)[:, None]
        for head in range(heads):
            if not of(layer, head):
                continue
            if kind == "streaming":
                hidden = (place >= first) & (place <= place[:, None] - last)
            else:
                hidden = (place >= first) & (place < last)
            if kind == "boost":
                target = before if more[1] else factor
                target[head] *= torch.where(row & hidden, more[0], 1.0)
            else:
                seen[head] &= ~(row & hidden) | (place == place[:, None])  # a row always sees itself
    logits = logits + torch.log(before)
    weights = torch.softmax(logits.masked_fill(~seen, float("-inf")), dim=-1) * factor
    edits.now["attention"] = weights.float()
    return (weights @ v).float(), weights.float()


def cases(name):
    folder = os.path.join(edits.FOLDER, name)
    with open(os.path.join(folder, "expected.json")) as file:
        ids = json.load(file)["ids"] + edits.ANSWER
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    for text, setting in SETTINGS.items():
        now["setting"] = setting
        with torch.no_grad():
            logits = model(torch.tensor([ids]), use_cache=False).logits[0]
        yield dict(
            model=name,
            setting=text,
            logits=edits.numbers(logits[edits.ROWS][:, ::edits.LOGIT_STEP]),
            attention=[round(x, 7) for x in edits.now["attention"][0, :, edits.PROMPT - 1, :edits.PROMPT].flatten().tolist()],
        )


def main():
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    edits.attend = attend
    edits.modeling_mpt.MptAttention.forward = edits.mpt_forward
    for module in MODELS.values():
        if module is not None:
            module.eager_attention_forward = edits.eager
    found = [case for name in MODELS for case in cases(name)]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(dict(answer=edits.ANSWER, rows=edits.ROWS, logit_step=edits.LOGIT_STEP, cases=found), file,
                  separators=(",", ":"))
        file.write("\n")
    print(f"{len(found)} cases, {os.path.getsize(sys.argv[1]) / 1000:.0f} kB", file=sys.stderr)


if __name__ == "__main__":
    main()
