#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes positions_golden.json: logits of every tiny model with rotary or learned positions under given ids, as transformers
gives them for the same position_ids, for positions_test.

    python tests/core/make/make_positions_golden.py OUT.json [NAME ...]                  (transformers 5, torch)

With names: the cases of those models alone are made, beside those of others that OUT.json has.

In float32, eager. The sequence is the 40 tokens of the model's expected.json, at random increasing ids (whole numbers, or
real ones of which the last is whole, because dynamic frequencies look at the largest id + 1), and the 4 tokens of ANSWER,
which go on from the last id + 1. Of each case: logits [row of ROWS, every LOGIT_STEP-th of the vocabulary]. Cases with
"group" are Self-Extend by its plain computation of whole matrices, by ids instead of rows: make_far_schemes_golden.py. Cases with
"rows" are ids that only those rows see: the plain computation at the tokens' own places, and in the rows by ids.
"""

import json
import os
import sys

import golden_runs as runs
import make_far_schemes_golden as far
import make_tiny_models as tiny
from tiny_configurations import CLASSES, MODELS, rope
import numpy
import torch
import transformers

ROWS = [5, 17, 39, 42]
LOGIT_STEP = 11
LAST = {"whole": 120, "real": 90}
OF_TABLES = ("gptj", "gpt2", "gpt2-by-layer", "gpt2-unscaled", "gpt-neo", "gpt-bigcode", "gpt-bigcode-heads", "opt", "opt-350m", "opt-plain", "xglm")  # have tables of whole positions
SELF_EXTEND = {"llama": dict(group=3, window=7), "qwen3": dict(group=2, window=16), "phi3": dict(group=5, window=40)}

READ = {"llama": ("last", runs.LAST_ROW), "qwen3": ("answer", runs.ANSWER_ROWS), "gemma2": ("last:6", slice(runs.PROMPT - 6, None))}


def ids_of(name, kind):
    random = numpy.random.default_rng([len(name), ord(name[0]), LAST[kind]])
    if kind == "whole":
        inner = random.choice(LAST[kind], tiny.PROMPT - 1, replace=False)
    else:
        inner = (random.random(tiny.PROMPT - 1) * LAST[kind]).round(3)
    return sorted(inner.tolist()) + [LAST[kind]]


def by_ids(q, k, scaling, rule):
    ids, group, window = far.now["ids"], rule["group"], rule["window"]
    near = q @ k.transpose(2, 3)
    far_q = far.turn(q, ids // group + window - window // group - ids)
    far_k = far.turn(k, ids // group - ids)
    return torch.where(ids[:, None] - ids < window, near, far_q @ far_k.transpose(2, 3)) * scaling


def read_by_ids(q, k, scaling, rule):
    """q and k are rotated at the tokens' own places."""
    turned = far.now["ids"] - torch.arange(q.shape[2])
    logits = q @ k.transpose(2, 3)
    rows = rule["rows"]
    logits[:, :, rows] = (far.turn(q, turned) @ far.turn(k, turned).transpose(2, 3))[:, :, rows]
    return logits * scaling


def opened(name):
    kind = MODELS[name][0]
    folder = os.path.join(tiny.FOLDER, name)
    model_class = CLASSES.get(kind, ("", kind + "ForCausalLM"))[1]
    options = {}
    if name == "longchat":  # transformers does not know the name of its ratio
        config = transformers.AutoConfig.from_pretrained(folder)
        config.rope_parameters = rope("linear", factor=4.0)
        options["config"] = config
    model = getattr(transformers, model_class).from_pretrained(folder, attn_implementation="eager", dtype=torch.float32, **options).eval()
    model.config._experts_implementation = "eager"
    return model


def run(model, tokens, ids):
    # A mask that is given, as transformers takes jumps of ids for the beginnings of other sequences without one.
    with torch.no_grad():
        return model(torch.tensor([tokens]), position_ids=torch.tensor([ids]), use_cache=False,
                     attention_mask=torch.ones(1, len(tokens), dtype=torch.long)).logits[0]


def run_plainly(name, tokens, ids, logits_of, setting, places):
    """The model at `places`, with logits of attention as logits_of computes them of `ids`."""
    modeling = runs.modeling(name)
    replaced = modeling.eager_attention_forward
    modeling.eager_attention_forward = runs.eager
    model = opened(name)
    far.self_extend = logits_of
    far.now.update(setting=setting, ids=torch.tensor(ids, dtype=torch.float64), rotates=lambda layer: True,
                   inverse_frequency=lambda: model.model.rotary_emb.inv_freq)
    logits = run(model, tokens, places)
    modeling.eager_attention_forward = replaced
    return logits


def cases(name):
    tokens = runs.prompt_ids(name) + runs.ANSWER
    for kind in LAST:
        if kind == "real" and name in OF_TABLES:
            continue
        ids = ids_of(name, kind)
        all_ids = ids + [ids[-1] + 1 + i for i in range(len(runs.ANSWER))]
        logits = run(opened(name), tokens, all_ids)
        case = dict(model=name, ids=ids, logits=runs.numbers(logits[ROWS][:, ::LOGIT_STEP]))
        yield case
        if name in SELF_EXTEND:
            logits = run_plainly(name, tokens, all_ids, by_ids, SELF_EXTEND[name], all_ids)
            yield case | SELF_EXTEND[name] | dict(logits=runs.numbers(logits[ROWS][:, ::LOGIT_STEP]))
        if name in READ:
            rows, at = READ[name]
            logits = run_plainly(name, tokens, all_ids, read_by_ids, dict(rows=at), list(range(len(tokens))))
            yield case | dict(rows=rows, logits=runs.numbers(logits[ROWS][:, ::LOGIT_STEP]))


def main():
    runs.set_up()
    runs.now["attend"] = far.attend
    others = ("mpt", "bloom", "falcon-alibi", "granite-hybrid", "nemotron-h", "nemotron-h-experts")  # ALiBi, none
    others += ("internlm", "internlm2", "gpt-oss-mxfp4", "llama4-pictures")  # which transformers does not open as it is, or not for text
    names = [name for name in sorted(MODELS) if name not in others and not name.startswith("gguf-")]
    asked = sys.argv[2:]
    kept = []
    if asked:
        with open(sys.argv[1]) as file:
            kept = [case for case in json.load(file)["cases"] if case["model"] not in asked]
    made = [case for name in names if not asked or name in asked for case in cases(name)]
    runs.write(sys.argv[1], sorted(kept + made, key=lambda case: case["model"]), runs.FRAME | dict(rows=ROWS, logit_step=LOGIT_STEP))


if __name__ == "__main__":
    main()
