#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills a sweep at random moments and resumes it: nothing may be lost, and the file must open after every kill.

    kill_sweep.py MIDSCOPE [--kills 50] [--model embedded]        (needs h5py)

A sweep that runs through unharmed is made beside it; at the end both files must hold equal data sets and both commands must
have printed the same table. A sweep that ends before the kills are done is begun anew.
"""
import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

import h5py
import numpy


def command(arguments, out, samples):
    return [arguments.midscope, "sweep", arguments.model, "--task", "list:lines=6", "--places", "1,3,6", "--samples",
            str(samples), "--with", "none", "--with", "channel(100, factor=-1, layers=8-25)", "--with", "pi(1.5)",
            "--score", "both", "--attention", "--dtype", "bfloat16", "--checkpoint", "2", "--json", "--resume", "--out", out]


def data_sets(path):
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and item.attrs.get("units") != "s":  # times are of the machine
            found[name] = item[()]

    with h5py.File(path) as file:
        file.visititems(visit)
    return found


def table(text):
    result = json.loads(text)
    for one in result["sweeps"]:
        one.pop("file", None)
    return result


def equal(a, b):
    if a.dtype.kind == "f":
        return numpy.array_equal(a, b, equal_nan=True)
    return numpy.array_equal(a, b)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("midscope")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--model", default="embedded")
    parser.add_argument("--samples", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    draw = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as folder:
        whole = os.path.join(folder, "whole.h5")
        start = time.perf_counter()
        done = subprocess.run(command(arguments, whole, arguments.samples), capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        whole_seconds = time.perf_counter() - start
        expected, expected_table = data_sets(whole), table(done.stdout)
        kills = opened = rounds = 0
        while kills < arguments.kills:
            rounds += 1
            out = os.path.join(folder, f"killed{rounds}.h5")
            text = ""
            while not text:
                running = subprocess.Popen(command(arguments, out, arguments.samples), stdout=subprocess.PIPE,
                                           stderr=subprocess.PIPE, text=True)
                try:
                    wait = draw.uniform(0.05, whole_seconds / 3) if kills < arguments.kills else None
                    text, error = running.communicate(timeout=wait)
                    if running.returncode:
                        sys.exit(error)
                except subprocess.TimeoutExpired:
                    running.send_signal(signal.SIGKILL)
                    running.communicate()
                    kills += 1
                    if os.path.exists(out):
                        data_sets(out)
                        opened += 1
            got = data_sets(out)
            if sorted(got) != sorted(expected):
                sys.exit(f"other data sets: {sorted(set(got) ^ set(expected))}")
            different = [name for name in expected if not equal(got[name], expected[name])]
            if different or table(text) != expected_table:
                sys.exit(f"after {kills} kills differ: {different or 'the table'}")
            left = [name for name in os.listdir(folder) if name.startswith(f"killed{rounds}.h5.")]
            if left:
                sys.exit(f"left behind: {left}")
        print(f"{kills} kills over {rounds} sweeps of {arguments.samples} samples ({whole_seconds:.1f} s unharmed): equal data "
              f"sets ({len(expected)}) and tables each time; the file was there after {opened} kills and opened every time")


main()
