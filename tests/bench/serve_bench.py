#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The engine as a process, as the Python client sees it: activations per second, and the latency of a what-if step, here and through
a relay that delays each direction.

    serve_bench.py MIDSCOPE SOURCE_FOLDER [--delays 0,20,100] [--steps 20] [--runs 5]

"beyond" is the time from request to result without the seconds that the engine reports for its own work; "cached" is a reply that
the engine has already computed, and so only the protocol.
"""

import argparse
import os
import pathlib
import queue
import statistics
import subprocess
import sys
import threading
import time

POINTS = [f"blocks.{layer}.hook_resid_post" for layer in range(30)]


def relay(delay, command):
    """Runs a command and passes its standard input and output on, `delay` seconds later."""
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)

    def pump(source, target):
        waiting = queue.Queue()

        def write():
            while True:
                due, data = waiting.get()
                time.sleep(max(0.0, due - time.monotonic()))
                if not data:
                    os.close(target)
                    return
                while data:
                    data = data[os.write(target, data):]

        writer = threading.Thread(target=write)
        writer.start()
        data = b"-"
        while data:
            data = os.read(source, 1 << 20)
            waiting.put((time.monotonic() + delay, data))
        return writer

    threading.Thread(target=pump, args=(0, process.stdin.fileno()), daemon=True).start()
    pump(process.stdout.fileno(), 1).join()
    os._exit(process.wait())


def received(engine):
    """Counts the bytes that come from the engine, in the list that is returned."""
    count = [0]
    read = engine._read

    def counted():
        size = read()
        count[0] += size
        return size

    engine._read = counted
    return count


def measure_steps(model, prompt, steps, attention):
    model._use(prompt)
    count = received(model._engine)
    totals, beyond, cached, sizes = [], [], [], []
    for step in range(-2, steps):
        params = {"setting": f"channel(100, factor={step / 100 + attention / 1000}, layers=8-25)", "place": prompt.place_index,
                  "attention": attention, "channels": []}
        for _ in range(2):
            before, start = count[0], time.perf_counter()
            result = model._request("what_if", params)
            seconds = time.perf_counter() - start
            if step < 0:  # the first make the cache
                continue
            if result["cost"]["seen_before"]:
                cached.append(1e3 * seconds)
                continue
            totals.append(1e3 * seconds)
            beyond.append(1e3 * (seconds - result["cost"]["seconds"]))
            sizes.append(count[0] - before)
    print(f"    {'with' if attention else 'without'} attention: {statistics.median(totals):.1f} ms, beyond "
          f"{statistics.median(beyond):.2f} ms, cached {statistics.median(cached):.2f} ms; {statistics.median(sizes):.0f} bytes",
          flush=True)


def measure_activations(model, prompt, runs):
    for _ in range(runs):
        start = time.perf_counter()
        run = model.run(prompt, capture=POINTS)
        seconds = time.perf_counter() - start
        size = sum(run[point].nbytes for point in POINTS)
        print(f"    {size / 1e6:.0f} MB: {seconds:.2f} s, of which {run.seconds:.2f} s are the run; "
              f"{size / (seconds - run.seconds) / 1e9:.2f} GB/s beyond it", flush=True)


def main():
    if sys.argv[1] == "--relay":
        relay(float(sys.argv[2]) / 1e3, sys.argv[3:])
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--delays", default="0,20,100", help="ms each way; 0: without the relay")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    sys.path.insert(0, str(given.sources / "probes" / "python"))
    os.environ["MIDSCOPE_PROGRAM"] = given.program
    import midscope

    for delay in given.delays.split(","):
        remote = None if delay == "0" else f"{sys.executable} {__file__} --relay {delay} {given.program}"
        with midscope.load("embedded", remote, dtype="float32") as model:
            prompt = model.task("kv:pairs=28", place=10, sample=3)
            print(f"{delay} ms each way, {len(prompt.tokens)} tokens", flush=True)
            for attention in (False, True):
                measure_steps(model, prompt, given.steps, attention)
            if delay == "0":
                measure_activations(model, prompt, given.runs)


main()
