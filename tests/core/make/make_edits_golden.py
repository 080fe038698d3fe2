#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes edits_golden.json: scaled channels, crops, moves, boosts, ablations and temperatures as transformers' own models
give them when their eager attention is replaced by the plain computation below (whole matrices, explicit masks), for
edits_golden_test. Of a layer with scaled channels the attention runs twice, on the input as it is and on the scaled one.

    python tests/core/make/make_edits_golden.py OUT.json                      (transformers 5, torch)

For the tiny models named in MODELS, in float32. Sequence, rows and numbers as in golden_runs.py.
"""

import sys

import golden_runs as runs
import torch

MODELS = ["llama", "mistral", "gemma2", "phi3", "mpt", "deepseek-v2-groups", "deepseek-v3"]
# Whose rotated elements are the last ones of a head, so that nothing is turned here.
LATENT = ("deepseek-v2-groups", "deepseek-v3")
# text: what the plain computation does. Heads are (layer, head).
SETTINGS = {
    "crop(span=30:36)": dict(crop=[(30, 36, None, 1)]),
    "crop(span=30:36, layers=0-0, keep=none)": dict(crop=[(30, 36, [0], 0)]),
    "move(span=30:36, to=shift:-8)": dict(move=[(30, 36, -8, runs.ANSWER_ROWS)]),
    "move(span=30:36, to=shift:15, rows=all)": dict(move=[(30, 36, 15, runs.ALL_ROWS)]),
    "boost(span=30:37, factor=2)": dict(boost=[(30, 37, 2.0, False, runs.ANSWER_ROWS)]),
    "boost(span=24:34, factor=3, renormalise=yes, rows=all)": dict(boost=[(24, 34, 3.0, True, runs.ALL_ROWS)]),
    "boost(span=2:40, factor=-0.5, rows=last:3)": dict(boost=[(2, 40, -0.5, False, slice(runs.PROMPT - 3, None))]),
    "ablate([L0H1,L1H2])": dict(zero=[(0, 1), (1, 2)]),
    "ablate(L0H2, with=mean)": dict(mean=[(0, 2)]),
    "temperature([L0H0,L1H2], 1.7)": dict(temperature={(0, 0): 1.7, (1, 2): 1.7}),
    "channel(3, factor=-1)": dict(channel=[(3, -1.0, None, False)], channel_rows=runs.ANSWER_ROWS),
    "channel(3, factor=-1, change_value=yes)": dict(channel=[(3, -1.0, None, True)], channel_rows=runs.ANSWER_ROWS),
    "channel([3,11], factor=[-2,0.3], rows=last, change_value=yes)": dict(
        channel=[(3, -2.0, None, True), (11, 0.3, None, True)], channel_rows=runs.LAST_ROW
    ),
    "channel(3, factor=4, rows=last:6) + channel(11, factor=-3, layers=0, rows=last:6, change_value=yes)": dict(
        channel=[(3, 4.0, None, False), (11, -3.0, [0], True)], channel_rows=slice(runs.PROMPT - 6, None)
    ),
    "channel(11, factor=-1, rows=all, change_value=yes)": dict(channel=[(11, -1.0, None, True)], channel_rows=runs.ALL_ROWS),
    "crop(span=30:36, layers=0) + boost(span=33:38, factor=2) + channel(3, factor=0, change_value=yes)": dict(
        channel=[(3, 0.0, None, True)],
        channel_rows=runs.ANSWER_ROWS,
        crop=[(30, 36, [0], 1)],
        boost=[(33, 38, 2.0, False, runs.ANSWER_ROWS)],
    ),
    "pi(1.5) + crop(span=30:36, layers=1) + move(span=20:24, to=shift:9) + boost(span=33:38, factor=2) + "
    "ablate(L0H0, with=mean, rows=answer) + temperature(L1H1, 0.6)": dict(
        ratio=1.5,
        crop=[(30, 36, [1], 1)],
        move=[(20, 24, 9, runs.ANSWER_ROWS)],
        boost=[(33, 38, 2.0, False, runs.ANSWER_ROWS)],
        mean=[(0, 0)],
        mean_rows=runs.ANSWER_ROWS,
        temperature={(1, 1): 0.6},
    ),
}
ROTARY_ONLY = ("move(", "pi(")

now = {}  # the setting that runs


def turned(x, begin, end, shift, inverse_frequency):
    """x [1, head, token, dim], rotated already: the tokens begin..end turned on by `shift` positions more."""
    x = x.clone()
    pairs = len(inverse_frequency)
    cos, sin = torch.cos(shift * inverse_frequency).float(), torch.sin(shift * inverse_frequency).float()
    first, second = x[:, :, begin:end, :pairs].clone(), x[:, :, begin:end, pairs:2 * pairs].clone()
    x[:, :, begin:end, :pairs] = first * cos - second * sin
    x[:, :, begin:end, pairs:2 * pairs] = second * cos + first * sin
    return x


def attention(forward):
    """forward, of an attention module, run on the scaled input first: what q, k and v it finds there is what scaled rows
    see, v only of the channels that change it."""

    def run(self, hidden_states, *args, **kwargs):
        channels = [c for c in now["setting"].get("channel", []) if c[2] is None or self.layer_idx in c[2]]

        def found(of):
            scaled = hidden_states.clone()
            for channel, factor, _, _ in of:
                scaled[..., channel] *= factor
            now["seen"] = []
            forward(self, scaled, *args, **kwargs)
            return now.pop("seen")

        now.pop("scaled", None)
        if channels:
            q, k, _ = found(channels)
            now["scaled"] = (q, k, found([c for c in channels if c[3]])[2])
        return forward(self, hidden_states, *args, **kwargs)

    return run


def attend(layer, q, k, v, scaling, softcap, bias, visible):
    """As attend_all, but what `attention` has found of the scaled input gives the rows of channel_rows."""
    if "seen" in now:
        now["seen"] = (q, k, v)
        return v.repeat(1, 1, 1, 1), None
    out, weights = attend_all(layer, q, k, v, scaling, softcap, bias, visible)
    if "scaled" in now:
        rows = now["setting"]["channel_rows"]
        of_scaled = attend_all(layer, *now["scaled"], scaling, softcap, bias, visible)
        out[:, :, rows], weights[:, :, rows] = of_scaled[0][:, :, rows], of_scaled[1][:, :, rows]
    return out, weights


def attend_all(layer, q, k, v, scaling, softcap, bias, visible):
    """q, k, v [1, head, token, dim], k and v once a query head; bias (ALiBi) or None; visible [token, token]."""
    edits = now["setting"]
    logits = q @ k.transpose(2, 3) * scaling
    for begin, end, shift, rows in edits.get("move", []):
        frequency = now["inverse_frequency"]().double()
        moved = turned(q, begin, end, shift, frequency) @ turned(k, begin, end, shift, frequency).transpose(2, 3) * scaling
        logits[:, :, rows] = moved[:, :, rows]
    if softcap is not None:
        logits = softcap * torch.tanh(logits / softcap)
    if bias is not None:
        logits = logits + bias
    for (of_layer, head), temperature in edits.get("temperature", {}).items():
        if of_layer == layer:
            logits[:, head] = logits[:, head] / temperature
    for begin, end, factor, renormalise, rows in edits.get("boost", []):
        if renormalise:
            logits[:, :, rows, begin:end] += torch.log(torch.tensor(factor))
    visible = visible.clone()
    for begin, end, layers, first_hidden in edits.get("crop", []):
        if layers is None or layer in layers:
            visible[begin:end, first_hidden:begin] = False
    weights = torch.softmax(logits.masked_fill(~visible, float("-inf")), dim=-1)
    for begin, end, factor, renormalise, rows in edits.get("boost", []):
        if not renormalise:
            weights[:, :, rows, begin:end] *= factor
    out = weights @ v
    for of_layer, head in edits.get("zero", []):
        if of_layer == layer:
            out[:, head] = 0
    for of_layer, head in edits.get("mean", []):
        if of_layer == layer:
            count = torch.arange(1, out.shape[2] + 1)[:, None]
            mean = out[:, head].cumsum(dim=1) / count
            rows = edits.get("mean_rows", runs.ALL_ROWS)
            out[:, head, rows] = mean[:, rows]
    return out, weights


def cases(name):
    for text, setting in SETTINGS.items():
        if name in ("mpt", *LATENT) and any(term in text for term in ROTARY_ONLY):
            continue
        if name == "phi3" and "ratio" in setting:
            continue  # its frequencies are computed anew in each run
        model = runs.opened(name)
        if "ratio" in setting:
            model.model.rotary_emb.inv_freq.div_(setting["ratio"])
        now.update(setting=setting, inverse_frequency=lambda: model.model.rotary_emb.inv_freq)
        yield runs.replaced_case(name, text, model)


def main():
    runs.set_up()
    runs.replace_attention(MODELS, attend)
    for name in MODELS:
        stem = "".join(part.capitalize() for part in name.split("-")[:2]) if name in LATENT else name.capitalize()
        kind = getattr(runs.modeling(name), stem + "Attention")
        kind.forward = attention(kind.forward)
    runs.write(sys.argv[1], [case for name in MODELS for case in cases(name)])


if __name__ == "__main__":
    main()
