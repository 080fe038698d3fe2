#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/probes/golden/versions: files of results as a version of Midscope writes them.

    make_version_files.py MIDSCOPE

MIDSCOPE is the program of that version. The files there are of commit 2c8e508, the last one before folders, lists of terms and
one description of parameters. Later versions read, continue and compare them (tests/probes/program/program_versions_test.cpp).
They are made once and not made again: a new version's files would say nothing of an old one's.
"""
import json
import pathlib
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2]
MODEL = "../../../core/golden/tiny_models/llama"  # from OUT: no path of this machine is stored
OUT = TESTS / "probes/golden/versions"
SETTINGS = ["none", "channel(3, factor=-1, layers=0-1)", "ms-poe(min=1.2, max=1.8, layers=0-1)",
            "self-extend(group=2, window=8) + boost(span=gold, factor=2)"]


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    OUT.mkdir(parents=True, exist_ok=True)
    names = ["Tom", "Ann", "Sue", "Bob"]
    lines = [{"context": [f"{a}: mill", f"{b}: inn"], "gold": 2, "question": "inn?", "answers": [b]}
             for a, b in zip(names, names[1:] + names[:1])]
    (OUT / "samples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (OUT / "prompt.txt").write_text("Tom: mill\nAnn: inn\nSue: farm\ninn? ")
    for name in ["sweep.h5", "probe.h5"]:
        (OUT / name).unlink(missing_ok=True)
    sweep = [program, "sweep", MODEL, "--task", "jsonl:file=samples.jsonl", "--places", "1,2", "--samples", "2", "--seed", "1",
             "--score", "likelihood", "--out", "sweep.h5"]
    for setting in SETTINGS:
        sweep += ["--with", setting]
    probe = [program, "probe", MODEL, "--prompt-file", "prompt.txt", "--span", "gold=Ann: inn", "--answer", "Ann", "--with",
             SETTINGS[2], "--out", "probe.h5"]
    for command in (sweep, probe):
        subprocess.run(command, check=True, cwd=OUT)


if __name__ == "__main__":
    main()
