# SPDX-License-Identifier: MIT
"""`midscope` at a terminal: help fits it; of `whatif` lines are edited, the last one comes back with the arrow, and the history outlasts the call.

    python3 check_whatif_terminal.py MIDSCOPE      (a POSIX system with pseudo-terminals)
"""

import fcntl
import os
import pty
import select
import struct
import sys
import tempfile
import termios
import time

UP, BACKSPACE, ENTER, END = b"\x1b[A", b"\x7f", b"\r", b"\x04"


class Terminal:
    def __init__(self, program, state):
        self.process, self.descriptor = pty.fork()
        if self.process == 0:
            os.environ.update(TERM="xterm", XDG_STATE_HOME=state, OMP_NUM_THREADS="1")
            os.execv(program, [program, "whatif", "embedded", "--prompt", "The capital of France is"])
        self.seen = b""

    def read_until(self, text, seconds=30):
        """What comes up to `text`; what is behind it stays for the next call."""
        end = time.time() + seconds
        while text not in self.seen:
            ready, _, _ = select.select([self.descriptor], [], [], max(0, end - time.time()))
            assert ready, f"no {text!r} within {seconds} s, but {self.seen!r}"
            try:
                self.seen += os.read(self.descriptor, 4096)
            except OSError:
                raise AssertionError(f"the program ended without {text!r}: {self.seen!r}")
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, keys):
        os.write(self.descriptor, keys)

    def end(self):
        self.type(END)
        _, status = os.waitpid(self.process, 0)
        assert os.waitstatus_to_exitcode(status) == 0, status


def check_width(program, columns):
    """Help fits a terminal of so many columns; its examples, which one copies, stay as they are."""
    process, descriptor = pty.fork()
    if process == 0:
        fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        os.execv(program, [program, "probe", "--help"])
    seen = b""
    try:
        while more := os.read(descriptor, 4096):
            seen += more
    except OSError:  # the program has ended
        pass
    os.waitpid(process, 0)
    lines = seen.decode().split("Examples:")[0].splitlines()
    assert len(lines) > 50, lines
    wide = [line for line in lines if len(line) > columns]
    assert not wide, wide


def main():
    check_width(sys.argv[1], 70)
    with tempfile.TemporaryDirectory() as state:
        terminal = Terminal(sys.argv[1], state)
        terminal.read_until(b"full run; kept")
        terminal.type(b"pi(1.6)" + BACKSPACE + BACKSPACE + b"5)" + ENTER)
        terminal.read_until(b"pi(1.5)\r\n  next:")
        terminal.read_until(b"> ")
        terminal.type(UP + ENTER)
        terminal.read_until(b"pi(1.5)\r\n  next:")
        terminal.read_until(b"nothing was run")
        terminal.end()
        again = Terminal(sys.argv[1], state)
        again.read_until(b"full run; kept")
        again.read_until(b"> ")
        again.type(UP + ENTER)
        again.read_until(b"pi(1.5)\r\n  next:")
        again.end()


main()
