#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes far_schemes_golden.json: Self-Extend and Infini-attention as transformers' own models give them when their eager
attention is replaced by the plain computation below (whole matrices; segment by segment in float64), for
far_schemes_golden_test.

    python tests/core/make/make_far_schemes_golden.py OUT.json                (transformers 5, torch)

For the tiny models named in MODELS, sliding windows off. Sequence, rows and numbers as in golden_runs.py.
"""

import os

import golden_runs as runs
import torch
import transformers

MODELS = ["llama", "llama-yarn", "mistral", "phi3", "qwen3", "smollm3", "gpt-neox", "mpt", "hunyuan", "hunyuan-plain"]
SELF_EXTEND = [dict(group=2, window=4), dict(group=3, window=7), dict(group=5, window=16),
               dict(group=3, window=7, scale_base=10)]
# A number a head of the models with 6 and 3 heads.
GATES = [0.0, 0.3, 1.0, 0.5, 0.9, 0.05]
INFINI = [
    dict(segment=16, gates=[0.3], update="linear"),
    dict(segment=16, gates=[0.3], update="delta"),
    dict(segment=7, gates=GATES, update="linear"),
    dict(segment=1, gates=[0.5], update="delta"),
]

now = {}  # the setting that runs


def turn(x, positions, magnitude=1.0):
    """x [1, head, token, dim], rotated or not: each token turned on by so many positions; what is rotated times magnitude."""
    frequency = now["inverse_frequency"]().double()
    pairs = len(frequency)
    angle = positions.double()[:, None] * frequency
    first, second = x[..., :pairs].double(), x[..., pairs:2 * pairs].double()
    cos, sin = angle.cos() * magnitude, angle.sin() * magnitude
    return torch.cat([first * cos - second * sin, second * cos + first * sin, x[..., 2 * pairs:].double()], -1)


def softmax_of(logits, softcap, bias, visible):
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)
    if bias is not None:
        logits = logits + bias
    return torch.softmax(logits.masked_fill(~visible, float("-inf")), dim=-1)


def self_extend(q, k, scaling, rule):
    place = torch.arange(q.shape[2])
    group, window = rule["group"], rule["window"]
    if "scale_base" in rule:
        scale = torch.log(place.double() + 1) / torch.log(torch.tensor(float(rule["scale_base"]), dtype=torch.float64))
        q = q * scale.clamp(min=1)[:, None]
    near = q @ k.transpose(2, 3)
    far_q = turn(q, place // group + window - window // group - place)
    far_k = turn(k, place // group - place)
    far = far_q @ far_k.transpose(2, 3)
    return torch.where(place[:, None] - place < window, near, far) * scaling


def unrotated(x, place, weight):
    """weight: of a norm after the rotation (Hunyuan), whose memory is of what is normed without one."""
    return turn(x / weight, -place, 1 / now["magnitude"]()) * weight


def compressive(q, k, v, rule):
    """What rows read from the segments before theirs, [1, head, token, dim]; 0 in the first segment."""
    feature = lambda x: torch.nn.functional.elu(x) + 1
    read = torch.zeros_like(v)
    heads, size = q.shape[1], q.shape[3]
    matrix, sums = torch.zeros(1, heads, size, size, dtype=torch.float64), torch.zeros(1, heads, size, 1, dtype=torch.float64)
    for begin in range(0, q.shape[2], rule["segment"]):
        part = slice(begin, begin + rule["segment"])
        keys, values = feature(k[:, :, part]), v[:, :, part]
        if begin > 0:
            queries = feature(q[:, :, part])
            read[:, :, part] = (queries @ matrix) / (queries @ sums)
            if rule["update"] == "delta":
                values = values - (keys @ matrix) / (keys @ sums)
        matrix = matrix + keys.transpose(2, 3) @ values
        sums = sums + keys.sum(2)[..., None]
    return read


def attend(layer, q, k, v, scaling, softcap, bias, visible):
    rule = now["setting"]
    place = torch.arange(q.shape[2])
    rotates = now["rotates"](layer)
    q, k, v = q.double(), k.double(), v.double()
    if "segment" not in rule:
        logits = self_extend(q, k, scaling, rule) if rotates else q @ k.transpose(2, 3) * scaling
        weights = softmax_of(logits, softcap, bias, visible)
        out = weights @ v
    else:
        segment = place // rule["segment"]
        local = visible & (segment[:, None] == segment)
        weights = softmax_of(q @ k.transpose(2, 3) * scaling, softcap, bias, local)
        if rotates:
            # YaRN's and longrope's magnitude is part of the rotation.
            q, k = (unrotated(x, place, weight) for x, weight in zip((q, k), now["norms"](layer)))
        gates = (rule["gates"] * q.shape[1])[:q.shape[1]]
        gate = torch.tensor(gates, dtype=torch.float64).view(1, -1, 1, 1) * (segment > 0).view(1, 1, -1, 1)
        weights = (1 - gate) * weights
        out = weights @ v + gate * compressive(q, k, v, rule)
    return out.float(), weights.float()


def norms_after_rotation(body, layer):
    attention = body.layers[layer].self_attn if hasattr(body.layers[layer], "self_attn") else None
    if not hasattr(attention, "query_layernorm"):
        return 1.0, 1.0
    return attention.query_layernorm.weight.double(), attention.key_layernorm.weight.double()


def cases(name):
    config = transformers.AutoConfig.from_pretrained(os.path.join(runs.FOLDER, name))
    if getattr(config, "sliding_window", None):
        config.sliding_window = None
    model = runs.opened(name, config=config)
    body = getattr(model, "model", None) or getattr(model, "gpt_neox", None)
    now["rotates"] = lambda layer: name != "mpt" and (getattr(config, "no_rope_layers", None) or [1] * 99)[layer] == 1
    now["norms"] = lambda layer: norms_after_rotation(body, layer)
    now["magnitude"] = lambda: body.rotary_emb.attention_scaling
    now["inverse_frequency"] = lambda: body.rotary_emb.inv_freq
    for setting in SELF_EXTEND + INFINI:
        if "group" in setting and name in ("mpt", "hunyuan", "hunyuan-plain"):
            continue  # no positions to group; keys that are normed after their rotation can't be turned on
        if "gates" in setting and len(setting["gates"]) > 1:
            heads = config.n_heads if name == "mpt" else config.num_attention_heads
            setting = setting | dict(gates=GATES[:heads])
        now["setting"] = setting
        yield runs.replaced_case(name, setting, model)


if __name__ == "__main__":
    runs.make(MODELS, attend, cases)
