#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Holds `midscope probe` against the slow reference decoder, on prompts of one's own.

    compare_oracle.py MIDSCOPE ORACLE.py MODEL.gguf [--tokens N [--all]] [PROMPT_FILE ...]
        (needs torch, transformers, gguf, accelerate, h5py)

Two steps, because Ms-PoE ranks heads by counts of keys near a threshold: scores and ratios first, in every layer up to the first that has
a key within 1e-6 of 3/n; then logits and attention with the product's own ratios fed to the reference. Scores are held by both
rules, and from the rotated row too (heads with a rotated weight within 1e-6 of 3/n left out). With --tokens the long built-in prompt
alone, made longer to about N tokens, under `none` and `ms-poe`. Prints a table; exits with 1 when a bound is passed (logits 5e-3,
attention 1e-4, ratios 1e-6, scores equal, entropy 1e-4).
"""
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py
import numpy as np
import torch

SETTINGS = {
    "none": ("none", None),
    "pi(1.5)": ("pi:1.5", None),
    "base(500000)": ("base:500000", None),
    "ntk(2)": ("ntk:2", None),
    "ms-poe(mode=rank)": ("mspoe:1.2,1.8,rank", None),
    "ms-poe(mode=code)": ("mspoe:1.2,1.8,code", None),
    "ms-poe(mode=group)": ("mspoe:1.2,1.8,group", None),
    "ms-poe(min=1.8, max=1.2, first_layer=0)": ("mspoe:1.8,1.2,rank,0", None),
    "ms-poe(order=sequential)": ("mspoe:1.2,1.8,sequential", None),
    "ms-poe(order=reversed)": ("mspoe:1.2,1.8,reversed", None),
    "ratios": ("table", None),
    "self-extend(group=2, window=64)": ("selfextend:2,64", None),
    "self-extend(group=5, window=37)": ("selfextend:5,37", None),
    "channel(100, factor=-1, layers=8-25)": ("none", [100, -1.0, 8, 25]),
}
NAMES = ["token_ids", "last_logits", "last_query_attention", "position_awareness_score", "position_ratio", "score_at_least",
         "score_greater", "score_at_least_rotated", "row_entropy_rotated"]


def built_in_prompts(folder, lines=82):
    """One ordinary, one with unusual Unicode, one of more than 1,500 tokens."""
    words = "river stone lamp green seven house under write piano salt window early paper north bridge".split()
    rng = np.random.default_rng(7)
    long = "\n".join(f"{i}. The {' '.join(rng.choice(words, 9))} stood at number {rng.integers(1000)}." for i in range(1, lines))
    texts = {
        "plain": "The house by the river had a green lamp in its window. Anna wrote three letters there every night, and in the "
                 "morning she carried them over the stone bridge to the post office, where nobody ever asked her name. One day",
        "unicode": "naïve — 東京タワー 2026年 ½ ① ٣ \u200d👩‍👩‍👧 e\u0301\u0302 हिन्दी עברית\tзадача\n\n  <|im_start|>user\nΩ≈ç√ fin de",
        "long": long + "\nQuestion: at which number did the first one stand?\nAnswer:",
    }
    paths = []
    for name, text in texts.items():
        path = pathlib.Path(folder) / f"{name}.txt"
        path.write_bytes(text.encode())
        paths.append(path)
    return paths


def product(midscope, model, prompt, setting, folder):
    out = pathlib.Path(folder) / "probe.h5"
    subprocess.run([midscope, "probe", model, "--prompt-file", str(prompt), "--with", setting, "--probes", "default,head_scores",
                    "--out", str(out), "--overwrite"],
                   check=True, stdout=subprocess.DEVNULL)
    found = {}
    with h5py.File(out) as file:
        file.visititems(lambda name, item: found.update({name.split("/")[-1]: item[()]})
                        if isinstance(item, h5py.Dataset) and name.split("/")[-1] in NAMES else None)
    return found


def near_threshold_layer(oracle, weights, cfg, ids, positions, channel, table):
    """The first layer with a key whose un-rotated weight lies within 1e-6 of 3/n (layers where there is none)."""
    first = [cfg.num_hidden_layers]
    counter = [0]
    original = oracle.head_ratios

    def watch(raw_row, spec, H, KV, n):
        if (raw_row - 3.0 / n).abs().min() < 1e-6:
            first[0] = min(first[0], counter[0])
        counter[0] += 1
        return original(raw_row, spec, H, KV, n)

    oracle.head_ratios = watch
    try:
        if positions == "table":
            result = oracle.run(weights, cfg, ids, "mspoe:1,1,rank,0", channel, table)
        else:
            result = oracle.run(weights, cfg, ids, positions, channel)
    finally:
        oracle.head_ratios = original
    return first[0], result


def rotated_row_differences(mine, oracle, n):
    """Largest differences of head_scores from the rotated rows: score and entropy; and how many heads were left out.
    Heads with a rotated weight within 1e-6 of 3/n are left out of the rotated score."""
    rows = oracle["last_attention"].astype(np.float64)
    clear = np.abs(rows - 3 / n).min(-1) >= 1e-6
    rotated = np.abs(oracle["scores_rope"] - mine["score_at_least_rotated"])[clear].max(initial=0)
    entropy = -(rows * np.log(np.where(rows > 0, rows, 1))).sum(-1)
    return rotated, np.abs(entropy - mine["row_entropy_rotated"]).max(), int((~clear).sum())


def main():
    arguments = sys.argv[1:]
    everything = "--all" in arguments
    if everything:
        arguments.remove("--all")
    tokens = 0
    if "--tokens" in arguments:
        at = arguments.index("--tokens")
        tokens = int(arguments[at + 1])
        del arguments[at:at + 2]
    midscope, oracle_path, model = arguments[:3]
    spec = importlib.util.spec_from_file_location("oracle", oracle_path)
    oracle = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(oracle)
    tok, cfg, weights = oracle.load(model)
    faults = 0
    with tempfile.TemporaryDirectory() as folder, torch.no_grad():
        settings = dict(SETTINGS)
        if tokens:
            prompts = built_in_prompts(folder, round(tokens / 20.6))[-1:]  # a line has about 20 tokens
            if not everything:
                settings = {name: SETTINGS[name] for name in ("none", "ms-poe(mode=rank)")}
        else:
            prompts = [pathlib.Path(p) for p in arguments[3:]] or built_in_prompts(folder)
        table = np.random.default_rng(5).uniform(1, 1.8, (cfg.num_hidden_layers, cfg.num_attention_heads))
        table_file = pathlib.Path(folder) / "ratios.json"
        table_file.write_text(json.dumps(table.tolist()))
        print(f"{'prompt':10}{'tokens':>7}  {'setting':38}{'logits':>10}{'attention':>11}{'scores':>9}{'ratios':>10}{'rotated':>9}{'entropy':>9}"
              "  layers in step 1")
        for prompt in prompts:
            text = prompt.read_bytes().decode()
            ids = tok(text, add_special_tokens=False).input_ids
            for setting, (positions, channel) in settings.items():
                given = f'ratios("{table_file}")' if positions == "table" else setting
                mine = product(midscope, model, prompt, given, folder)
                assert list(mine["token_ids"]) == ids, "token ids differ"
                layers, first = near_threshold_layer(oracle, weights, cfg, torch.tensor(ids), positions, channel, table)
                second = first
                if positions.startswith("mspoe"):
                    second = oracle.run(weights, cfg, torch.tensor(ids), positions, channel, mine["position_ratio"])
                logits = second["logits" if "logits" in second else "logits_last"][-1]
                d_logits = np.abs(logits - mine["last_logits"]).max()
                d_attention = np.abs(second["last_attention"] - mine["last_query_attention"]).max()
                d_scores = np.abs(first["scores"] - mine["position_awareness_score"])[:layers].max(initial=0)
                d_ratios = np.abs(first["ratios"] - mine["position_ratio"])[:layers].max(initial=0)
                rule = "score_greater" if positions.endswith("code") else "score_at_least"
                own = np.abs(first["scores"] - mine[rule])[:layers].max(initial=0)
                d_scores = max(d_scores, own)
                d_rotated, d_entropy, left_out = rotated_row_differences(mine, second, len(ids))
                bad = d_rotated > 1e-7 or d_entropy > 1e-4 or d_logits > 5e-3 or d_attention > 1e-4 or d_scores > 1e-7 or d_ratios > 1e-6
                faults += bad
                print(f"{prompt.stem:10}{len(ids):7}  {setting:38}{d_logits:10.2e}{d_attention:11.2e}{d_scores:9.1e}{d_ratios:10.1e}"
                      f"{d_rotated:9.1e}{d_entropy:9.1e}  0-{layers - 1}; rotated: {left_out} heads left out"
                      f"{'  <-- beyond the bound' if bad else ''}", flush=True)
    print(f"{faults} beyond a bound")
    sys.exit(1 if faults else 0)


main()
