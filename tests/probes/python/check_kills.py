# SPDX-License-Identifier: MIT
"""Kills the engine (SIGKILL) while it loads a model, runs, answers what-ifs, scans and sweeps. Each time Python gets a
midscope.Error that names the signal, results from before stay readable, a newly loaded model gives the same numbers, and a sweep
continues with every finished sample.

    check_kills.py MIDSCOPE SOURCE_FOLDER [KILLS [SEED]]
"""
import collections
import contextlib
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
KILLS = int(sys.argv[3]) if len(sys.argv) > 3 else 5
RANDOM = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
sys.path.insert(0, str(SOURCES / "probes" / "python"))
os.environ["MIDSCOPE_PROGRAM"] = PROGRAM

import midscope  # noqa: E402
import midscope._engine  # noqa: E402
import midscope._model  # noqa: E402

SWEEP = dict(task="list:lines=5", places=[1, 5], settings=["none", "pi(1.5)"], samples=6, score="likelihood")
LONGEST_DELAY = {"load": 1.0, "sweep": 2.0}  # in seconds, from the call to the kill
USUAL_DELAY = 0.4


class Started(subprocess.Popen):
    """Notes the newest engine, which midscope.load does not return before it is killed."""

    last = None

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        Started.last = self


class Progress:
    """Notes how many samples a sweep has reported."""

    done = []

    def __enter__(self):
        Progress.done = []
        return self

    def __call__(self, progress):
        if progress["stage"] == "sweep":
            Progress.done.append(progress["done"])

    def __exit__(self, *_):
        pass


def load():
    return midscope.load("embedded", dtype="float32")


def children(pid):
    """Returns the processes that a process has started."""
    found = []
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(folder.name))
    return found


def kill_later(stage, with_children):
    """Kills the engine after a while, and the processes that it has started, if that is requested."""

    def kill():
        time.sleep(RANDOM.uniform(0.02, LONGEST_DELAY.get(stage, USUAL_DELAY)))
        while not noticed.is_set():  # an engine that is about to end by itself takes no notice
            engine = Started.last.pid
            for pid in [engine, *(children(engine) if with_children else [])]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            noticed.wait(0.2)

    noticed = threading.Event()
    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread, noticed


def repeated(work):
    while True:
        work()


def killed_call(stage, model, prompt, file):
    if stage == "load":
        repeated(lambda: load().close())
    if stage == "run":
        repeated(lambda: model.run(prompt, capture=["blocks.12.hook_resid_post"]))
    if stage == "what-if":
        live = model.what_if(prompt)
        repeated(lambda: live(f"pi({RANDOM.uniform(1, 2)})"))
    if stage == "scan":
        repeated(lambda: model.scan("list:lines=10", over="heads", samples=20))
    if stage == "sweep":
        repeated(lambda: model.sweep(**SWEEP, file=file))


def check_sweep(model, file, expected, before):
    """Continues the sweep of a killed engine: samples that it had reported are there."""
    while True:
        try:
            model.sweep(**SWEEP, file=file)
            break
        except midscope.Error as error:  # the sweep outlives its engine
            assert "another process is writing" in error.reason, error
            time.sleep(0.1)
    assert not Progress.done or Progress.done[0] >= before, (Progress.done, before)
    assert (midscope.open(file)["sweep"].answer_nll.values == expected).all()


def main():
    subprocess.Popen = Started
    midscope._model.Progress = Progress
    stages = ["load", "run", "what-if", "scan", "sweep"]
    counts = collections.Counter()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        model = load()
        prompt = model.task("list:lines=10", place=5, sample=3)
        finished = model.run(prompt, capture=["blocks.12.hook_resid_post"])
        model.sweep(**SWEEP, file=os.path.join(folder, "expected.h5"))
        expected = midscope.open(os.path.join(folder, "expected.h5"))["sweep"].answer_nll.values
        for kill in range(KILLS):
            stage = stages[kill % len(stages)]
            file = os.path.join(folder, f"{kill}.h5")
            if stage == "load":
                model.close()
            killer, noticed = kill_later(stage, with_children=kill % 2 == 0)
            try:
                killed_call(stage, model, prompt, file)
            except midscope.Error as error:
                assert "signal 9" in error.reason and error.remedy, (stage, error)
            noticed.set()
            killer.join()
            before = Progress.done[-1] if stage == "sweep" and Progress.done else 0
            model.close()
            model = load()
            again = model.run(model.task("list:lines=10", place=5, sample=3), capture=["blocks.12.hook_resid_post"])
            for point in finished:
                assert again[point].identical(finished[point])
            assert again.answer_nll == finished.answer_nll
            if stage == "sweep":
                check_sweep(model, file, expected, before)
            prompt = again.prompt
            counts[stage] += 1
        model.close()
    print(f"{sum(counts.values())} kills in {time.monotonic() - begin:.0f} s:", dict(counts))


if __name__ == "__main__":
    main()
