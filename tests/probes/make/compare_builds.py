#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Whether two builds compute, print and store the same on the embedded model, bit for bit. For restructurings.

    python tests/probes/make/compare_builds.py BEFORE AFTER      (folders that hold the program midscope; h5py)

Runs probe, whatif, sweep, channels and rope with each and compares all data sets and attributes of their files (but for what
names the moment, the folder or the build) and what they print. Exits with 1 where something differs.
"""
import os
import re
import subprocess
import sys
import tempfile

import h5py
import numpy

PROMPT = "The capital of France is Paris. The capital of Italy is Rome. The capital of Spain is"
COMMANDS = {
    "probe": ["probe", "embedded", "--prompt", PROMPT, "--span", "gold=Rome", "--channels", "100", "--out", "probe.h5"],
    "probe-with": ["probe", "embedded", "--prompt", PROMPT, "--with", "ms-poe(min=1.2, max=1.8) + channel(100, factor=-1, layers=8-25)",
                   "--answer", " Madrid", "--out", "with.h5"],
    "probe-task": ["probe", "embedded", "--task", "list:lines=8", "--places", "1,4,8", "--samples", "2", "--seed", "3",
                   "--probes", "last_query_attention,span_attention,head_scores,logit_lens", "--out", "task.h5"],
    "sweep": ["sweep", "embedded", "--task", "list:lines=8", "--places", "1,4,8", "--samples", "4", "--seed", "2", "--with", "none",
              "--with", "channel(100, factor=-1, layers=8-25)", "--with", "pi(1.5)", "--with", "self-extend(group=2, window=16)",
              "--with", "ms-poe", "--with", "yarn(2)", "--with", "crop(span=gold, layers=3-5)", "--attention", "--out", "sweep.h5"],
    "sweep-json": ["sweep", "embedded", "--task", "kv:pairs=4", "--places", "1,4", "--samples", "2", "--seed", "2", "--with", "none",
                   "--with", "ablate(L12H3, with=mean) + boost(span=gold, factor=2)", "--json", "--out", "json.h5"],
    "stored": ["probe", "embedded", "--prompt", PROMPT, "--weights", "stored", "--out", "stored.h5"],
    "stored-bfloat16": ["probe", "embedded", "--prompt", PROMPT, "--weights", "stored", "--dtype", "bfloat16", "--out", "half.h5"],
    "channels": ["channels", "embedded", "--seed", "1", "--validate", "none", "--json"],
    "rope": ["rope", "--dim", "64", "--base", "100000", "--context", "2048", "--json"],
    "whatif": ["whatif", "embedded", "--prompt", PROMPT, "--span", "gold=Rome", "--answer", " Madrid", "--json"],
    "info": ["info", "embedded", "--json"],
}
LINES = "none\nchannel(100, factor=-1, layers=8-25)\npi(1.5)\nms-poe(min=1.2, max=1.8)\ninfini(segment=8)\nboost(span=gold, factor=2)\n"
# The moment, the command line (its paths) and the build: equal numbers may differ in these.
OTHER = {"created", "command", "libraries", "version", "options_json", "model_path"}


def run(folder, where, name):
    words = [os.path.join(os.path.abspath(folder), "midscope")] + COMMANDS[name]
    done = subprocess.run(words, cwd=where, input=LINES if name == "whatif" else None, capture_output=True, text=True)
    if done.returncode not in (0, 1):
        sys.exit(f"{name}: exit status {done.returncode}: {done.stderr}")
    return f"status {done.returncode}\n{done.stdout}"


def content(path):
    values = {}
    with h5py.File(path) as file:
        def visit(name, item):
            for key, value in item.attrs.items():
                if key not in OTHER and not isinstance(value, (h5py.Reference, numpy.ndarray)):
                    values[f"{name}@{key}"] = str(value)
            if isinstance(item, h5py.Dataset):
                data = item[()]
                values[name] = data.tobytes() if isinstance(data, numpy.ndarray) and data.dtype != object else str(data)
        file.visititems(visit)
    return values


def timeless(text):
    return re.sub(r'"milliseconds":[\d.e+-]+', "", text)


def main():
    before, after = sys.argv[1:3]
    differences = compared = 0
    with tempfile.TemporaryDirectory() as work:
        folders = [os.path.join(work, name) for name in ("before", "after")]
        for folder in folders:
            os.mkdir(folder)
        for name in COMMANDS:
            printed = [run(binary, where, name) for binary, where in zip((before, after), folders)]
            same = timeless(printed[0]) == timeless(printed[1])
            print(f"{name}: prints {'the same' if same else 'OTHER TEXT'}")
            if not same:
                print(printed[0], printed[1], sep="\n--- after ---\n")
            differences += not same
        for file in sorted(os.listdir(folders[0])):
            left, right = (content(os.path.join(folder, file)) for folder in folders)
            other = [key for key in sorted(left.keys() | right.keys()) if left.get(key) != right.get(key)]
            compared += len(left)
            differences += len(other)
            print(f"{file}: {len(left)} data sets and attributes, {len(other)} differ {other[:8]}")
    print(f"{compared} compared, {differences} differences")
    sys.exit(1 if differences else 0)


main()
