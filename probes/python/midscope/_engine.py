# SPDX-License-Identifier: MIT
"""The engine process and the protocol spoken with it (probes/engine/PROTOCOL.md)."""

from __future__ import annotations

import collections
import contextlib
import os
import pathlib
import shlex
import shutil
import struct
import subprocess
import sys
import threading
import warnings
from typing import Any, Callable, Iterator

import msgpack  # type: ignore[import-not-found,import-untyped,unused-ignore]

from midscope._program import installed_program, program_environment

PROTOCOL = 1
FIRST_LINE = b"midscope-engine "
GREETING_BYTES = 65536  # a login shell or a batch system may print so much before the engine's first line
STDERR_LINES = 200
BUFFER_BYTES = 1 << 20  # at first; it grows to the largest frame
FRAME_BYTES = 64 << 20
NOT_FOUND = 127  # exit status of shells, which ssh passes on
NOTES = ("note: ", "warning: ")


class Error(Exception):
    """A request that failed.

    Attributes:
        thing: what is wrong, such as ``"setting 'pi('"``.
        reason: why.
        remedy: what to do about it; may be empty.
        usage: whether the request cannot be understood (otherwise it failed).
    """

    def __init__(self, thing: str, reason: str, remedy: str = "", usage: bool = False):
        super().__init__(f"{thing}: {reason}" + (f". {remedy}" if remedy else ""))
        self.thing = thing
        self.reason = reason
        self.remedy = remedy
        self.usage = usage


class Cancelled(Error):
    """A request that was cancelled, or superseded by a newer one."""


@contextlib.contextmanager
def reading_answer() -> Iterator[None]:
    """Turns what an answer of an unexpected form raises into an Error. Also a decorator."""
    try:
        yield
    except Error:
        raise
    except Exception as error:
        raise Error("engine", f"its answer is damaged ({type(error).__name__}: {error})", "Load the model again") from error


def check_texts(**texts: Any) -> None:
    """Raises Error (usage) for the first argument that is not text, or that has half of a surrogate pair."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise Error(name, f"it must be text (str), not {type(text).__name__}", usage=True)
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise Error(name, f"character {error.start} is half of a surrogate pair, which is not Unicode text",
                        "Decode its file with errors='replace'", usage=True) from error


def plain_value(value: Any) -> Any:
    """Returns numpy's numbers and arrays, and paths, as the values of Python that a request is made of."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"a value of type {type(value).__name__}")


def show_note(text: str) -> None:
    """Shows a note of the engine as a warning at the caller's line, once."""
    inside = (os.path.dirname(__file__), contextlib.__file__)  # contextlib: reading_answer
    level = 1
    frame = sys._getframe()
    while frame.f_back and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def find_program() -> list[str]:
    """Returns the command of the program: ``MIDSCOPE_PROGRAM``, beside the package (that of midscope-cuda first), on ``PATH``, or
    the script ``./midscope`` of the checkout above the working directory. Raises Error."""
    given = os.environ.get("MIDSCOPE_PROGRAM")
    if given:
        return [given]
    found = installed_program() or shutil.which("midscope")
    if found:
        return [found]
    here = pathlib.Path.cwd()
    for folder in [here, *here.parents]:
        if (folder / "midscope").is_file() and (folder / "CMakeLists.txt").is_file():
            return [str(folder / "midscope")]
    raise Error("midscope", "the program is not found",
                "Set MIDSCOPE_PROGRAM, put it beside the package or on PATH, or start Python inside a checkout with ./midscope. "
                "Where models run on another machine, give remote='user@host'")


def command_line(remote: str | None) -> list[str]:
    """Returns the command that starts the engine: here (None), on ``user@host[:PROGRAM]`` by ssh, or by a command of several
    words that passes standard input and output on, such as ``srun -p gpu midscope``."""
    if remote is None:
        return [*find_program(), "serve", "--stdio"]
    words = shlex.split(remote)
    if len(words) > 1:
        return [*words, "serve", "--stdio"]
    host, _, program = remote.partition(":")
    if host.startswith("-") or "/" in host:
        raise Error(f"remote '{remote}'", "it is neither a host nor a command",
                    "Give user@host, user@host:PROGRAM, or a command of several words; a program of this machine: 'env PROGRAM'",
                    usage=True)
    return ["ssh", "-T", host, program or "midscope", "serve", "--stdio"]


class Engine:
    """One engine process. Requests run one at a time; Ctrl-C cancels the running one and leaves the engine usable."""

    _calls_back = False  # whether a hook or a progress function runs

    def __init__(self, remote: str | None = None):
        self._command = command_line(remote)
        self._lock = threading.RLock()
        self._last_id = 0
        self._buffer = bytearray(BUFFER_BYTES)
        self._filled = 0  # bytes of the buffer that have come
        self._frame_bytes = FRAME_BYTES  # that the engine takes
        self._stderr: collections.deque[str] = collections.deque(maxlen=STDERR_LINES)
        try:
            # Any: its pipes are optional for type checkers.
            self._process: Any = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                             stderr=subprocess.PIPE, start_new_session=True, bufsize=0,
                                             env=program_environment())
        except OSError as error:
            raise Error(shlex.join(self._command), error.strerror or str(error), "Check the program's path") from error
        self._stderr_reader = threading.Thread(target=self._follow_stderr, daemon=True)
        self._stderr_reader.start()
        try:
            self._skip_greeting()
            with reading_answer():
                self.hello: dict[str, Any] = self.request("hello")
                self._frame_bytes = int(self.hello["frame_bytes"])
                if self.hello["protocol"] != PROTOCOL:
                    raise Error("engine", f"it speaks protocol {self.hello['protocol']}, this package {PROTOCOL}",
                                "Install the program and the package of one version")
        except BaseException:
            self._process.kill()
            self.close()
            raise

    def request(self, method: str, params: dict[str, Any] | None = None, *,
                on_progress: Callable[[dict[str, Any]], None] | None = None,
                on_partial: Callable[[dict[str, Any]], None] | None = None,
                on_question: Callable[[dict[str, Any]], Any] | None = None) -> Any:
        """Sends a request and returns its result.

        Raises Error if the engine answers with an error or has ended, KeyboardInterrupt after Ctrl-C, when the request has been
        cancelled. ``on_question`` answers the questions of hooks; an exception that it raises cancels the request and is raised
        here.
        """
        with self._lock:
            if self._calls_back:  # of the same thread: others wait for the lock
                raise Error("hook", f"it may not use the model ({method}): the run that called it has not ended",
                            "Store in the hook what you need, and use the model after the run", usage=True)
            self._last_id += 1
            number = self._last_id
            raised: BaseException | None = None
            self._send({"id": number, "method": method, "params": params or {}})
            while True:
                try:
                    message = self._receive()
                except KeyboardInterrupt as interrupt:  # the bytes that have come stay in the buffer
                    raised = raised or interrupt
                    self._send({"cancel": number})
                    continue
                if message.get("id") not in (number, None):
                    continue
                if "result" in message or "error" in message:
                    if raised:
                        raise raised
                    if "error" in message:
                        raise self._error(message["error"])
                    return message["result"]
                if "question" in message:
                    reply: dict[str, Any] = {"reply": message["question"], "value": None}
                    try:
                        if on_question and not raised:
                            with self._calling_back():
                                reply["value"] = on_question(message.get("about", {}))
                    except BaseException as error:
                        raised = error
                        reply["error"] = str(error) or type(error).__name__
                    self._send(reply)
                    continue
                if raised:
                    continue
                try:
                    if "progress" in message and on_progress:
                        with self._calling_back():
                            on_progress(message["progress"])
                    elif "partial" in message and on_partial:
                        with self._calling_back():
                            on_partial(message["partial"])
                    elif "log" in message:
                        note = str(message["log"]).removeprefix("midscope: ")  # commands begin their lines so
                        if message.get("warning") or note.startswith(NOTES):
                            show_note(note)
                except BaseException as error:
                    raised = error
                    self._send({"cancel": number})

    @contextlib.contextmanager
    def _calling_back(self) -> Iterator[None]:
        self._calls_back = True
        try:
            yield
        finally:
            self._calls_back = False

    def close(self) -> None:
        """Ends the process; running work is cancelled."""
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._stderr_reader.join(timeout=1)
        self._process.stdout.close()
        self._process.stderr.close()

    @property
    def is_alive(self) -> bool:
        """Whether the process runs."""
        return bool(self._process.poll() is None)

    @property
    def pid(self) -> int:
        """The process id of the engine, or of the command that reaches it on another machine."""
        return int(self._process.pid)

    def stderr(self) -> str:
        """The last lines that the process wrote to standard error."""
        return "\n".join(self._stderr)

    @staticmethod
    @reading_answer()
    def _error(error: dict[str, Any]) -> Error:
        kind = Cancelled if error.get("cancelled") else Error
        return kind(error.get("thing", ""), error.get("reason", ""), error.get("remedy", ""), bool(error.get("usage")))

    def _ended(self) -> Error:
        status = self._process.poll()
        if status is None:
            try:
                status = self._process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                status = None
        self._stderr_reader.join(timeout=1)
        if status is not None and status < 0:
            why = f"it was ended by signal {-status}"
        else:
            why = f"it ended with status {status}"
        last = self.stderr()
        return Error("engine", why + (f"; its last words:\n{last}" if last else ""), "Load the model again")

    def _send(self, message: dict[str, Any]) -> None:
        try:
            frame = msgpack.packb(message, use_bin_type=True, default=plain_value)
        except (TypeError, ValueError, OverflowError) as error:
            raise Error("request", f"an argument cannot be sent: {error}", "Give text, numbers and lists of these",
                        usage=True) from error
        if len(frame) > self._frame_bytes:
            raise Error("request", f"it has {len(frame)} bytes, more than a frame takes", "Send less at once", usage=True)
        data = memoryview(struct.pack("<I", len(frame)) + frame)
        try:
            while data:
                data = data[self._process.stdin.write(data):]
        except (OSError, ValueError) as error:
            raise self._ended() from error

    def _read(self) -> int:
        """Reads what there is, as far as the buffer has space, and returns the number of bytes; 0 at the end. Bytes that have come
        stay in the buffer if Ctrl-C interrupts the wait for more."""
        with memoryview(self._buffer) as buffer:
            count: int = self._process.stdout.readinto(buffer[self._filled:])
        self._filled += count
        return count

    def _fill(self, size: int) -> None:
        if len(self._buffer) < size:
            larger = bytearray(size)
            larger[:self._filled] = self._buffer[:self._filled]
            self._buffer = larger
        while self._filled < size:
            if not self._read():
                raise self._ended()

    def _drop(self, size: int) -> None:
        """Removes the first bytes of the buffer."""
        left = self._filled - size
        self._buffer[:left] = self._buffer[size:self._filled]
        self._filled = left

    @reading_answer()
    def _receive(self) -> dict[str, Any]:
        self._fill(4)
        (length,) = struct.unpack_from("<I", self._buffer)
        if length > FRAME_BYTES:
            raise ValueError(f"a frame of {length} bytes")
        self._fill(4 + length)
        try:
            with memoryview(self._buffer) as buffer:
                message = msgpack.unpackb(buffer[4:4 + length], raw=False, strict_map_key=True)
        except Exception:
            self._drop(4 + length)
            raise
        self._drop(4 + length)
        if not isinstance(message, dict):
            raise TypeError("it is not a map")
        return message

    def _skip_greeting(self) -> None:
        while True:
            at = self._buffer.find(FIRST_LINE, 0, self._filled)
            if at >= 0 and (at == 0 or self._buffer[at - 1:at] == b"\n"):
                end = self._buffer.find(b"\n", at, self._filled)
                if end >= 0:
                    self._drop(end + 1)
                    return
            if self._filled > GREETING_BYTES:
                shown = bytes(self._buffer[:2000]).decode("utf-8", "replace")
                self._process.kill()
                raise Error("engine", f"it does not begin as one; it wrote:\n{shown}", "Check the command that starts it")
            if not self._read():
                error = self._ended()
                shown = bytes(self._buffer[:self._filled]).decode("utf-8", "replace").strip()
                remedy = f"Try it in a terminal: {shlex.join(self._command)}"
                if self._process.poll() == NOT_FOUND and self._command[0] == "ssh":
                    remedy = (f"Name the program there: remote='{self._command[2]}:FOLDER/bin/midscope'; "
                              "a virtual environment is not active over ssh")
                raise Error("engine", error.reason + (f"; it wrote:\n{shown}" if shown else ""), remedy)

    def _follow_stderr(self) -> None:
        try:
            for line in self._process.stderr:
                self._stderr.append(line.decode("utf-8", "replace").rstrip("\n"))
        except ValueError:
            pass  # closed
