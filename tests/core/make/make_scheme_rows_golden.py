#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes scheme_rows_golden.json: position schemes that only some rows see, as transformers' own models give them when their
eager attention is replaced by the plain computation below (whole matrices in float64; logits of both rotations, chosen by
row), for scheme_rows_golden_test.

    python tests/core/make/make_scheme_rows_golden.py OUT.json                (transformers 5, torch)

For the tiny models named in MODELS, all of which have grouped key heads. Sequence, rows and numbers as in golden_runs.py.
"""

import math

import golden_runs as runs
import torch

MODELS = ["llama", "qwen3", "gemma2"]
ROWS = {"last": runs.LAST_ROW, "answer": runs.ANSWER_ROWS, "last:6": slice(runs.PROMPT - 6, None)}
# The term without its rows, what the plain computation does, and the rows.
SETTINGS = [
    ("pi(1.5", dict(ratio=1.5), "last"),
    ("pi(0.6", dict(ratio=0.6), "last:6"),
    ("base(500000", dict(base=500000.0), "answer"),
    ("nope(layers=all", dict(nope=True), "last"),
    ("rotary-pairs(1-2, factor=0", dict(pairs=[1, 2], pair_factor=0.0), "last"),
    ("rotary-pairs([0,3], factor=1.7", dict(pairs=[0, 3], pair_factor=1.7), "last:6"),
    ("eabf(3000, context=12, first_layer=1", dict(base=3000.0, log_base=12, scaled_from=1), "last:6"),
    ("self-extend(group=3, window=7", dict(group=3, window=7), "answer"),
    ("self-extend(group=2, window=4", dict(group=2, window=4), "last"),
    ("ms-poe(min=1.2, max=1.8, order=sequential, first_layer=0", dict(ramp=(1.2, 1.8)), "answer"),
    ("ms-poe(min=1.2, max=1.8, first_layer=0", dict(ramp=(1.2, 1.8), score=True), "last"),
    ("ms-poe(min=3, max=0.7, first_layer=1", dict(ramp=(3.0, 0.7), score=True, first_layer=1), "last:6"),
    ("ms-poe(min=1.5, max=4, mode=code, first_layer=0", dict(ramp=(1.5, 4.0), score=True, code=True), "answer"),
]

now = {}  # the setting that runs, its rows and the model's frequencies


def turn(x, angle):
    """x [1, head, token, dim], rotated or not, turned on by angle [head or 1, token, pair]."""
    pairs = angle.shape[-1]
    first, second = x[..., :pairs], x[..., pairs:2 * pairs]
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([first * cos - second * sin, second * cos + first * sin, x[..., 2 * pairs:]], -1)


def finished(logits, softcap, visible):
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)
    return torch.softmax(logits.masked_fill(~visible, float("-inf")), dim=-1)


def head_ratios(q, k, scaling, softcap, visible, rule):
    """Of queries and keys, [head] each; q and k without positions."""
    heads, prompt = q.shape[1], runs.PROMPT
    low, high = rule["ramp"]
    index = list(range(heads))
    if "score" in rule:
        row = finished(q[:, :, prompt - 1:prompt] @ k.transpose(2, 3) * scaling, softcap, visible[prompt - 1:prompt])[0, :, 0, :prompt]
        counted = row > 3 / prompt if "code" in rule else row >= 3 / prompt
        order = sorted(range(heads), key=lambda head: -int(counted[head].sum()))  # stable: ties to the lower head
        for rank, head in enumerate(order):
            index[rank if "code" in rule else head] = head if "code" in rule else rank
    ratios = [low + (high - low) * i / (heads if "code" in rule else heads - 1) for i in index]
    group = heads // now["key_heads"]
    of_keys = [ratios[head // group * group] for head in range(heads)] if "code" in rule else ratios
    return torch.tensor(ratios, dtype=torch.float64), torch.tensor(of_keys, dtype=torch.float64)


def changed(layer, q, k, scaling, softcap, visible, rule):
    """Logits [1, head, row, key] with the scheme's positions, before the soft cap; q and k without positions."""
    place = torch.arange(q.shape[2], dtype=torch.float64)
    frequency = now["frequency"]
    if "base" in rule:
        frequency = rule["base"] ** (-torch.arange(len(frequency), dtype=torch.float64) / len(frequency))
    if "pairs" in rule:
        frequency = frequency.clone()
        frequency[rule["pairs"]] *= rule["pair_factor"]
    if layer >= rule.get("scaled_from", layer + 1):
        q = q * (torch.log(place + 1) / math.log(rule["log_base"])).clamp(min=1)[:, None]
    if "nope" in rule:
        return q @ k.transpose(2, 3) * scaling
    q_ratio = k_ratio = torch.tensor([rule.get("ratio", 1.0)], dtype=torch.float64)
    if "ramp" in rule:
        q_ratio, k_ratio = head_ratios(q, k, scaling, softcap, visible, rule)

    def logits(q_place, k_place):
        angle = lambda places, ratio: places[None, :, None] / ratio[:, None, None] * frequency
        return turn(q, angle(q_place, q_ratio)) @ turn(k, angle(k_place, k_ratio)).transpose(2, 3) * scaling

    near = logits(place, place)
    if "group" not in rule:
        return near
    group, window = rule["group"], rule["window"]
    far = logits(torch.floor(place / group) + window - window // group, torch.floor(place / group))
    return torch.where(place[:, None] - place < window, near, far)


def attend(layer, q, k, v, scaling, softcap, bias, visible):
    rule = now["rule"]
    q, k, v = q.double(), k.double(), v.double()
    logits = q @ k.transpose(2, 3) * scaling
    if layer >= rule.get("first_layer", 0):
        place = torch.arange(q.shape[2], dtype=torch.float64)
        back = -place[None, :, None] * now["frequency"]
        rows = ROWS[now["rows"]]
        logits[:, :, rows] = changed(layer, turn(q, back), turn(k, back), scaling, softcap, visible, rule)[:, :, rows]
    weights = finished(logits, softcap, visible)
    return (weights @ v).float(), weights.float()


def cases(name):
    model = runs.opened(name)
    now.update(frequency=model.model.rotary_emb.inv_freq.double(), key_heads=model.config.num_key_value_heads)
    for term, rule, rows in SETTINGS:
        if "group" in rule and name == "gemma2":
            continue  # refused: it has sliding windows
        now.update(rule=rule, rows=rows)
        yield runs.replaced_case(name, f"{term}, rows={rows})", model)


if __name__ == "__main__":
    runs.make(MODELS, attend, cases)
