# SPDX-License-Identifier: MIT
"""``python -m midscope COMMAND ...``: the program, also where the command midscope is not on PATH."""

import os
import sys

from midscope._engine import Error, find_program
from midscope._program import program_environment

try:
    program = find_program()
except Error as error:
    sys.exit(f"midscope: {error}")
os.execve(program[0], [*program, *sys.argv[1:]], program_environment())
