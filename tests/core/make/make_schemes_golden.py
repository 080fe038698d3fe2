# SPDX-License-Identifier: MIT
"""Writes tests/core/golden/schemes_golden.json: what transformers makes of tiny models with other rope_parameters.

    python tests/core/make/make_schemes_golden.py      (transformers 5, torch; the tiny models must be there)

Each case is a tiny model, the intervention that must give the same, and the logits [vocabulary] of the last row of the prompt
that its expected.json has (40 tokens), in float32 with eager attention. `context`, where it is not 0: max_position_embeddings,
of which dynamic scaling starts from. gemma3 rotates its sliding layers by a base of their own, which no case touches.
"""

import json
import os

import torch
import transformers

from make_tiny_models import FOLDER, rounded, run

YARN = dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=16)
# (model, setting, context, rope_parameters but for rope_theta)
CASES = [
    ("qwen3", "pi(2)", 0, dict(rope_type="linear", factor=2.0)),
    ("qwen3", "base(500000)", 0, dict(rope_type="default", rope_theta=500000.0)),
    ("qwen3", "dynamic-ntk(2)", 32, dict(rope_type="dynamic", factor=2.0)),
    ("qwen3", "dynamic-ntk(2)", 64, dict(rope_type="dynamic", factor=2.0)),  # the prompt is within
    ("olmo2", "dynamic-ntk(3)", 24, dict(rope_type="dynamic", factor=3.0)),
    ("qwen3", "yarn(4, context=16)", 0, YARN),
    ("olmo2", "yarn(4, context=16, beta_fast=8, beta_slow=2)", 0, dict(YARN, beta_fast=8.0, beta_slow=2.0)),
    ("olmo2", "yarn(4, context=16, magnitude=1)", 0, dict(YARN, attention_factor=1.0)),
    ("qwen2", "yarn(4, context=16)", 0, YARN),
    ("gemma3", "yarn(4, context=16)", 0, YARN),
    ("gemma3", "base(20000)", 0, dict(rope_type="default", rope_theta=20000.0)),
]


def golden(name, context, parameters):
    folder = os.path.join(FOLDER, name)
    with open(os.path.join(folder, "expected.json")) as file:
        ids = json.load(file)["ids"]
    config = transformers.AutoConfig.from_pretrained(folder)
    own = config.rope_parameters
    target = own["full_attention"] if "full_attention" in own else own
    changed = dict(dict(rope_theta=target["rope_theta"]), **parameters)
    target.clear()
    target.update(changed)
    if context:
        config.max_position_embeddings = context
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, config=config, attn_implementation="eager", dtype=torch.float32).eval()
    logits, _ = run(model, ids)
    return rounded(logits[-1].tolist())


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    cases = [dict(model=name, setting=setting, context=context, logits=golden(name, context, parameters))
             for name, setting, context, parameters in CASES]
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "schemes_golden.json")
    with open(path, "w") as out:
        json.dump(cases, out, separators=(",", ":"))
    print(path, os.path.getsize(path), "bytes")
