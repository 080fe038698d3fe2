# SPDX-License-Identifier: MIT
"""Two models on the same samples."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from midscope._sweep import command_arguments, run_program


def compare_models(before: str, after: str, tasks: str | Sequence[str] = "list:lines=20", *, places: str = "",
                   settings: Sequence[str] = ("none",), samples: int | None = None, seed: int = 1,
                   folder: str | os.PathLike[str] | None = None, **options: Any) -> list[dict[str, Any]]:
    """Runs ``midscope compare-models`` on this machine: the same samples on both models, and their differences.

    Args:
        before, after: models as in ``load``; ``"embedded@init"`` has random weights, ``"embedded adapter=FOLDER"`` an adapter.
        tasks: one task or several.
        places: such as ``"1,10,20"`` or ``"0%,50%,100%"``; "": the task's default.
        settings: each is run on both models.
        samples: how many; None: 40.
        folder: where the files of both models are kept; a comparison that is there is continued. None: they are not kept.
        options: other options of the command, with _ for -: ``head_samples=0``, ``dtype="bfloat16"``.

    Returns:
        One dict per task: ``rows`` (by setting and place; differences of answer_nll are after - before), ``heads``, ``verdicts``;
        with ``channel_prompts=8`` also ``channels``, which do not depend on the task.

    Raises:
        midscope.Error: a model or an option is wrong, or the task makes different texts for the two models.

    Example:
        >>> result = midscope.compare_models("embedded@init", "embedded", places="1,20", samples=2, score="likelihood")
        >>> result[0]["verdicts"]
    """
    arguments = ["compare-models", before, after, "--seed", str(seed)]
    for task in [tasks] if isinstance(tasks, str) else tasks:
        arguments += ["--task", task]
    for setting in settings:
        arguments += ["--with", setting]
    if places:
        arguments += ["--places", places]
    if samples is not None:
        arguments += ["--samples", str(samples)]
    if folder is not None:
        arguments += ["--out", os.fspath(folder), "--resume"]
    arguments += command_arguments(options)
    found = run_program(arguments)
    compared: list[dict[str, Any]] = [task | {"channels": found["channels"]} for task in found["tasks"]]
    return compared
