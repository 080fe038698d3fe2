# SPDX-License-Identifier: MIT
"""The program that starts where several packages contain one. The commands midscope and midscope-gui run this file alone, as the
package imports numpy, which takes a second."""

from __future__ import annotations

import pathlib


def installed_program() -> str | None:
    """Returns the path of the program of midscope-cuda, else of this package; None if neither is installed."""
    package = pathlib.Path(__file__).parent
    for folder in (package.parent / "midscope_cuda", package):
        if (folder / "bin/midscope").is_file():
            return str(folder / "bin/midscope")
    return None
