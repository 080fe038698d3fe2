#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes decoder_golden.json: numbers of an independent Python reference, for decoder_golden_test.

    make_decoder_golden.py ORACLE.py MODEL.gguf OUT.json

ORACLE.py is the project's slow reference decoder (torch, transformers; float32). Ms-PoE's logits and attention are taken with the
reference's own ratios; the test feeds those ratios to the decoder, as one key near the threshold may swap two of them.
"""
import importlib.util
import json
import sys

import numpy as np
import torch

PROMPTS = {
    "list": "Below is a list of people and the item that each one bought.\n\n"
            + "".join(f"{n} bought: {i}\n" for n, i in zip(
                ["Anna", "Peter", "Maria", "John", "Emma", "Paul", "Laura", "Mark", "Julia", "Simon"],
                ["bread", "lamp", "piano", "chair", "bottle", "hammer", "clock", "carpet", "mirror", "basket"]))
            + "\nQuestion: what did Maria buy?\nAnswer: Maria bought:",
    "unicode": "naïve café — 東京 2026년 ½ ①\t👩‍👩‍👧 e\u0301\u0302 العربية ١٢٣ \u200bзадача <|im_start|>user\n  fin",
}
SETTINGS = {
    "none": ("none", None),
    "pi(1.5)": ("pi:1.5", None),
    "ms-poe(mode=rank)": ("mspoe:1.2,1.8,rank", None),
    "ms-poe(mode=code)": ("mspoe:1.2,1.8,code", None),
    "ms-poe(mode=group)": ("mspoe:1.2,1.8,group", None),
    "ms-poe(order=reversed)": ("mspoe:1.2,1.8,reversed", None),
    "channel(100, factor=-1, layers=8-25)": ("none", [100, -1.0, 8, 25]),
    "channel(100, factor=0.5, layers=4-20, rows=last:5)": ("none", [100, 0.5, 4, 20, 5]),
    "pi(0.8) + channel(215, factor=0, layers=10-25)": ("pi:0.8", [215, 0.0, 10, 25]),
}
LAYERS = [5, 20]
HEADS = [0, 4, 8]
LOGIT_STEP = 211


def digits(values, count=7):
    return [float(f"{v:.{count}g}") for v in np.asarray(values, dtype=np.float64).ravel()]


def main():
    spec = importlib.util.spec_from_file_location("oracle", sys.argv[1])
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    tok, cfg, weights = oracle.load(sys.argv[2])
    cases = []
    for prompt_name, text in PROMPTS.items():
        ids = tok(text, add_special_tokens=False).input_ids
        for setting, (positions, channel) in SETTINGS.items():
            with torch.no_grad():
                out = oracle.run(weights, cfg, torch.tensor(ids), positions, channel)
            logits = out["logits" if "logits" in out else "logits_last"][-1]
            cases.append({
                "prompt": prompt_name,
                "setting": setting,
                "logits": digits(logits[::LOGIT_STEP]),
                "top": [int(i) for i in np.argsort(-logits, kind="stable")[:5]],
                "attention": digits(out["last_attention"][LAYERS][:, HEADS]),
                "attended_keys": [int(round(float(s) * len(ids))) for s in out["scores"].ravel()],
                "ratios": digits(out["ratios"], 9),
            })
            print(prompt_name, setting, len(ids), file=sys.stderr)
        PROMPTS[prompt_name] = {"text": text, "ids": ids}
    with open(sys.argv[3], "w", encoding="utf-8") as file:
        json.dump({"prompts": PROMPTS, "layers": LAYERS, "heads": HEADS, "logit_step": LOGIT_STEP, "cases": cases}, file,
                  ensure_ascii=True, separators=(",", ":"))
        file.write("\n")


main()
