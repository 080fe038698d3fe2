# SPDX-License-Identifier: MIT
"""Jacobian lenses."""

from __future__ import annotations

import os
from typing import Any

from midscope._sweep import command_arguments, run_program


def fit_lens(model: str, file: str | os.PathLike[str], data: str | os.PathLike[str] | None = None, *, task: str | None = None,
             samples: int = 100, tokens: int = 128, **options: Any) -> dict[str, Any]:
    """Runs ``midscope lens`` on this machine: fits a Jacobian lens, which the probe ``jacobian_lens`` reads.

    A prompt takes as many backward passes as the model is wide: minutes on a CPU for a small model. The file is rewritten after
    each prompt; ``resume=True`` continues it.

    Args:
        model: as in ``load``.
        file: the safetensors file to write.
        data: text: a file .txt or .jsonl, or a folder of these.
        task: instead of text: a task, whose prompts are taken.
        samples: number of prompts.
        tokens: the most tokens of a prompt.
        options: other options of the command, with _ for -: ``resume=True``, ``dtype="bfloat16"``, ``overwrite=True``.

    Returns:
        What the command prints: ``file``, ``prompts``, ``layers``, ``hidden``, ``seconds``.

    Raises:
        midscope.Error: an option is wrong, or the model has no gradients.

    Example:
        >>> tiny = midscope.make_tiny_model("tiny")
        >>> lens = midscope.fit_lens(tiny, "lens.safetensors", task="passkey:tokens=480", samples=1, tokens=40, overwrite=True)
        >>> with midscope.load(tiny) as other:
        ...     found = other.probe("passkey:tokens=480", samples=1, probes="jacobian_lens", lens_file=lens["file"])
        >>> found["jacobian_lens_by_place"].mean_answer_rank.dims
    """
    arguments = ["lens", model]
    if task is not None:
        arguments += ["--task", task]
    given = {"data": None if data is None else os.fspath(data), "samples": samples, "tokens": tokens, "out": os.fspath(file)}
    return run_program(arguments + command_arguments(given | options))
