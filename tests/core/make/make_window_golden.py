# SPDX-License-Identifier: MIT
"""Writes tests/core/golden/window_off_golden.json: what transformers makes of tiny models with their sliding windows taken away.

    python tests/core/make/make_window_golden.py      (transformers 5, torch; the tiny models must be there)

For each model, in float32 with eager attention, of the prompt that its expected.json has:
    logits     [vocabulary] of the last prompt row
    attention  [layer, head, key] of the last prompt row
"""

import json
import os

import torch
import transformers

from make_tiny_models import FOLDER, rounded, run

# Mistral and Phi-3 know a window of None. Gemma's layers are told apart by their type, which also says how they rotate:
# there the window becomes longer than every prompt.
NO_WINDOW = {"mistral": None, "phi3-long": None, "gemma3": 4096}


def golden(name):
    folder = os.path.join(FOLDER, name)
    with open(os.path.join(folder, "expected.json")) as file:
        ids = json.load(file)["ids"]
    config = transformers.AutoConfig.from_pretrained(folder)
    assert config.sliding_window < len(ids), name
    config.sliding_window = NO_WINDOW[name]
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, config=config, attn_implementation="eager", dtype=torch.float32).eval()
    logits, attentions = run(model, ids)
    return dict(logits=rounded(logits[-1].tolist()), attention=[layer[0, :, -1, :].double().numpy().round(8).tolist() for layer in attentions])


if __name__ == "__main__":
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    path = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "golden", "window_off_golden.json")
    with open(path, "w") as out:
        json.dump({name: golden(name) for name in NO_WINDOW}, out, separators=(",", ":"))
    print(path, os.path.getsize(path), "bytes")
