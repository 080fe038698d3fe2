#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Opening a large quantised model and prefill with all captures, beside llama.cpp, in one run.

    compare_large.py MIDSCOPE MODEL.gguf [TOKENS] [THREADS] [ROUNDS]        (needs xllamacpp; make_large_gguf.py makes such a model)

Every measurement is a process of its own; the two programs take turns, and the least time counts: other work on the machine
only adds to times. Peak memory is the largest resident set, with the pages of the mapped file that were touched.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

PEER = r"""
import json, resource, sys, time
import xllamacpp
path, tokens, threads = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
params = xllamacpp.CommonParams()
params.model.path = path
params.n_ctx = tokens + 64
params.n_batch = params.n_ubatch = 512
params.n_parallel = 1
params.warmup = False
params.cpuparams.n_threads = threads
params.cpuparams_batch.n_threads = threads
start = time.perf_counter()
server = xllamacpp.Server(params)
opened = time.perf_counter() - start
ids = [32 + i * 37 % 64 for i in range(tokens)]
reply = server.handle_completions({"prompt": ids, "n_predict": 1, "cache_prompt": False})
timings = reply["timings"]
print(json.dumps({"open_seconds": opened, "tokens": timings["prompt_n"], "seconds": timings["prompt_ms"] / 1e3,
                  "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))
"""


def run(command, threads):
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "GOMP_SPINCOUNT": "3000"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"{command[0]}: {(done.stderr.strip().splitlines() or ['failed'])[-1]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return done.stdout, wall, cpu


def measured(command, threads):
    out, _, cpu = run(command, threads)
    lines = [line for line in out.splitlines() if line.startswith("{")]
    return {**json.loads(lines[-1]), "cpu_seconds": cpu}


def main():
    midscope, model = sys.argv[1], sys.argv[2]
    tokens, threads, rounds = (int(sys.argv[i]) if len(sys.argv) > i else d for i, d in ((3, 512), (4, 2), (5, 2)))
    bench = os.path.join(os.path.dirname(midscope), "run_bench")
    with open(model, "rb") as file:  # into the page cache
        while file.read(1 << 26):
            pass
    size = os.path.getsize(model)
    opens = [measured([bench, "open", "0", "bfloat16", "1", model], threads) for _ in range(3)]
    print("open, s: " + ", ".join(f"{o['seconds']:.2f}" for o in opens))
    ours, theirs = [], []
    for _ in range(rounds):
        ours.append(measured([bench, "prefill", str(tokens), "bfloat16", "1", model], threads))
        theirs.append(measured([sys.executable, "-c", PEER, model, str(tokens), str(threads)], threads))
    print(f"{'tool':36}{'tok/s':>8}{'seconds':>9}{'cpu s':>8}{'peak GB':>9}{'of file':>9}")
    for name, results in (("midscope, bf16, all captures", ours), ("llama.cpp, no capture", theirs)):
        best = min(results, key=lambda r: r["seconds"])
        print(f"{name:36}{tokens / best['seconds']:8.2f}{best['seconds']:9.1f}{best['cpu_seconds']:8.1f}"
              f"{best['peak_bytes'] / 1e9:9.2f}{best['peak_bytes'] / size:9.2f}")
    with tempfile.TemporaryDirectory() as folder:
        prompt = os.path.join(folder, "prompt.txt")
        with open(prompt, "w") as file:
            file.write("".join(chr(32 + i * 37 % 64) for i in range(tokens)))
        _, wall, _ = run([midscope, "probe", model, "--prompt-file", prompt, "--dtype", "bfloat16", "--out",
                          os.path.join(folder, "run.h5")], threads)
        print(f"midscope probe, the whole command (open, prefill, hash, write): {wall:.1f} s")


if __name__ == "__main__":
    main()
