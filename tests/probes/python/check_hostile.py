# SPDX-License-Identifier: MIT
"""Mutated and truncated answers: each call of the Python client returns or raises midscope.Error, and never waits for more. An
engine's real answers are recorded once, then replayed with changes.

    check_hostile.py MIDSCOPE SOURCE_FOLDER [COUNT]
"""

import collections
import faulthandler
import io
import os
import pathlib
import random
import struct
import sys
import threading
import types

PROGRAM, SOURCES = sys.argv[1], pathlib.Path(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 2000
sys.path.insert(0, str(SOURCES / "probes" / "python"))
os.environ["MIDSCOPE_PROGRAM"] = PROGRAM

import msgpack  # noqa: E402

import midscope  # noqa: E402
from midscope._engine import FRAME_BYTES, Engine  # noqa: E402
from midscope._results import first_record  # noqa: E402


class Recorder:
    """Standard output of an engine, with what has been read from it."""

    def __init__(self, stream):
        self.stream = stream
        self.bytes = bytearray()

    def readinto(self, buffer):
        count = self.stream.readinto(buffer)
        self.bytes += buffer[:count]
        return count

    def close(self):
        self.stream.close()


class Sink:
    """Standard input of an engine that has ended."""

    def write(self, data):
        return len(data)


def frames_of(data):
    frames = []
    while data:
        (length,) = struct.unpack_from("<I", data)
        frames.append(bytes(data[4:4 + length]))
        data = data[4 + length:]
    return frames


def frame(message):
    packed = msgpack.packb(message)
    return struct.pack("<I", len(packed)) + packed


def record():
    """Returns a model whose engine has ended, and the calls with (last id before the call, frames of its answers)."""
    model = midscope.load("embedded", dtype="float32")
    engine = model._engine
    recorder = engine._process.stdout = Recorder(engine._process.stdout)
    prompt = model.task("list:lines=4", place=2)
    model._use(prompt)
    live = model.what_if(prompt)
    point = {"point": "blocks.3.attn.hook_z", "rows": "last"}

    def hooked():
        with model.hook("blocks.3.attn.hook_z", lambda activation, point: activation, rows="last"):
            model.run(prompt, logits=False, probes="position_awareness")

    calls = [lambda: model.run(prompt, capture=[point], logits=False, probes="position_awareness"), hooked,
             lambda: live("channel(100, factor=-1)", attention=False), lambda: model.generate(prompt, new_tokens=2),
             lambda: model.task("list:lines=4", place=2), lambda: model.run(prompt, "pii(2)"),
             lambda: model._request("describe", {})]
    answers = []
    for call in calls:
        before, last = len(recorder.bytes), engine._last_id
        try:
            call()
        except midscope.Error:
            pass
        answers.append((last, frames_of(recorder.bytes[before:])))
    # An array that comes in slices.
    array = {"name": "text", "dtype": "float32", "shape": [2, 3], "dims": ["a", "b"], "unit": "", "description": "", "bytes": 24,
             "handle": 1}
    result = {"records": [{"name": "scan", "axes": [], "arrays": [array], "attributes": {}, "signal": "text"}]}
    calls.append(lambda: first_record(model, model._request("scan", {})))
    answers.append((0, frames_of(b"".join(frame({"id": id_, "result": part}) for id_, part in
                                          [(1, result), (2, {"data": b"\0" * 24}), (3, {})]))))
    model.close()
    return model, list(zip(calls, answers))


def replay(model, last, data):
    """Gives the model an engine that writes `data` and ends."""
    engine = Engine.__new__(Engine)
    engine.__dict__.update(
        _command=[], _lock=threading.RLock(), _last_id=last, _buffer=bytearray(1 << 16), _filled=0, _frame_bytes=FRAME_BYTES,
        _stderr=collections.deque(), _stderr_reader=types.SimpleNamespace(join=lambda timeout: None),
        _process=types.SimpleNamespace(stdin=Sink(), stdout=io.BytesIO(data), poll=lambda: 1))
    model._engine = engine


def mutated(data, rng):
    if rng.random() < 0.005:
        return b"\x91" * 100000
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        if not data:
            break
        at = rng.randrange(len(data)) if rng.random() < 0.5 else rng.randrange(min(len(data), 300))
        kind = rng.randrange(6)
        if kind == 0:
            del data[at:]
        elif kind == 1:
            del data[at:at + rng.randrange(8)]
        elif kind == 2:
            data[at:at] = data[:rng.randrange(32)]
        elif kind == 3:
            data[at] = rng.randrange(0x80, 0x100)
        else:
            data[at] = rng.randrange(0x100)
    return bytes(data)


def main():
    model, calls = record()
    rng = random.Random(1)
    outcomes = collections.Counter()
    for number in range(COUNT):
        call, (last, frames) = rng.choice(calls)
        chosen = rng.choice([len(frames) - 1, rng.randrange(len(frames))])  # the others are mostly progress
        parts = []
        for i, one in enumerate(frames):
            body = mutated(one, rng) if i == chosen else one
            length = rng.randrange(1 << 32) if i == chosen and rng.random() < 0.05 else len(body)
            parts.append(struct.pack("<I", length) + body)
        data = b"".join(parts)
        if rng.random() < 0.1:
            data = data[:rng.randrange(len(data))]
        replay(model, last, data)
        faulthandler.dump_traceback_later(30, exit=True)
        try:
            call()
            outcomes["returned"] += 1
        except midscope.Error:
            outcomes["midscope.Error"] += 1
        except BaseException:
            print(f"answer {number}: {data[:400]!r}", file=sys.stderr)
            raise
        assert len(model._engine._buffer) <= 4 + FRAME_BYTES
    faulthandler.cancel_dump_traceback_later()
    print(dict(outcomes))
    assert outcomes["midscope.Error"] > COUNT / 4 and outcomes["returned"] > COUNT / 50


if __name__ == "__main__":
    main()
