#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes head_edits_golden.json: boosts, knockouts and streaming masks of chosen heads, as transformers' own models give them
when their eager attention is replaced by the plain computation below (whole matrices in float64, a mask and a factor for
every head, row and key), for head_edits_golden_test.

    python tests/core/make/make_head_edits_golden.py OUT.json                 (transformers 5, torch)

For the tiny models named in MODELS, of which the first three have grouped key heads; mpt attends with ALiBi. Sequence, rows
and numbers as in golden_runs.py.
"""


import golden_runs as runs
import torch

MODELS = ["llama", "qwen3", "gemma2", "mpt"]
ALL = lambda layer, head: True
# text: edits as (kind, heads(layer, head), rows, first key, last key, ...).
SETTINGS = {
    "boost(span=30:37, factor=2, heads=[L0H0-1,L1H*])": [
        ("boost", lambda layer, head: layer == 1 or (layer == 0 and head < 2), runs.ANSWER_ROWS, 30, 37, 2.0, False)],
    "boost(span=24:34, factor=100, renormalise=yes, rows=all, heads=L1H0)": [
        ("boost", lambda layer, head: (layer, head) == (1, 0), runs.ALL_ROWS, 24, 34, 100.0, True)],
    "block(from=last, to=30:36)": [("block", ALL, runs.LAST_ROW, 30, 36)],
    "block(from=answer, to=28:39, heads=[L0H1,L1H0])": [
        ("block", lambda layer, head: (layer, head) in ((0, 1), (1, 0)), runs.ANSWER_ROWS, 28, 39)],
    "block(from=36:40, to=30:38, layers=1)": [("block", lambda layer, head: layer == 1, slice(36, 40), 30, 38)],
    "block(from=all, to=0:4, layers=0, heads=L0H*)": [("block", lambda layer, head: layer == 0, runs.ALL_ROWS, 0, 4)],
    "streaming(sink=2, recent=7)": [("streaming", ALL, runs.ALL_ROWS, 2, 7)],
    "streaming(heads=[L0H1,L1H2], sink=0, recent=3, rows=answer)": [
        ("streaming", lambda layer, head: (layer, head) in ((0, 1), (1, 2)), runs.ANSWER_ROWS, 0, 3)],
    "boost(span=33:38, factor=3, heads=L0H2) + block(from=last:6, to=20:30, heads=L0H0) + streaming(heads=L1H1, sink=1, recent=5)": [
        ("boost", lambda layer, head: (layer, head) == (0, 2), runs.ANSWER_ROWS, 33, 38, 3.0, False),
        ("block", lambda layer, head: (layer, head) == (0, 0), slice(runs.PROMPT - 6, None), 20, 30),
        ("streaming", lambda layer, head: (layer, head) == (1, 1), runs.ALL_ROWS, 1, 5)],
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
    return (weights @ v).float(), weights.float()


def cases(name):
    model = runs.opened(name)
    for text, setting in SETTINGS.items():
        now["setting"] = setting
        yield runs.replaced_case(name, text, model)


if __name__ == "__main__":
    runs.make(MODELS, attend, cases)
