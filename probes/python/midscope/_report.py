# SPDX-License-Identifier: MIT
"""Results files as one page."""

from __future__ import annotations

import os

from midscope._sweep import run_program


def report(*files: str | os.PathLike[str], out: str | os.PathLike[str] | None = None, overwrite: bool = False) -> str:
    """Writes results files of this machine as one HTML page (``midscope report``) and returns its path.

    Args:
        files: HDF5 files of sweeps, scans, probes, channel searches or curves; several sweeps are compared.
        out: the page; None: the first file's name with .html.
        overwrite: whether to replace a page that exists.

    Raises:
        midscope.Error: a file is missing or damaged, or the page exists.

    Example:
        >>> sweep = model.sweep("list:lines=5", places=[1, 5], samples=2, score="likelihood", file="shown.h5")
        >>> midscope.report("shown.h5")
    """
    arguments = ["report", *[os.fspath(file) for file in files]]
    if out is not None:
        arguments += ["--out", os.fspath(out)]
    if overwrite:
        arguments.append("--overwrite")
    page: str = run_program(arguments)["file"]
    return page
