# SPDX-License-Identifier: MIT
"""The program that starts where several packages contain one, and its environment. The commands midscope and midscope-gui run this file alone, as the
package imports numpy, which takes a second."""

from __future__ import annotations

import os
import pathlib
import sys
import sysconfig


def installed_program() -> str | None:
    """Returns the path of the program of midscope-cuda, else of this package; None if neither is installed."""
    package = pathlib.Path(__file__).parent
    for folder in (package.parent / "midscope_cuda", package):
        if (folder / "bin/midscope").is_file():
            return str(folder / "bin/midscope")
    return None


def program_environment(commands: str | None = None) -> dict[str, str]:
    """Returns the environment to start the program in: it names this interpreter, and PATH ends with the folder of commands (None:
    this interpreter's), where the program finds midscope-gui, which draws pictures, also if no virtual environment is active."""
    path = os.environ.get("PATH", os.defpath) + os.pathsep + (commands or sysconfig.get_path("scripts"))
    return {"MIDSCOPE_PYTHON": sys.executable, **os.environ, "PATH": path}
