# SPDX-License-Identifier: MIT
"""Tuning for longer contexts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from midscope._sweep import command_arguments, run_program


def tune(model: str, folder: str | os.PathLike[str], recipe: str = "cream", *, tokens: int, factor: float | None = None,
         data: str | Sequence[str] = (), task: str | Sequence[str] = (), lora: int | None = None, steps: int | None = None,
         batch: int | None = None, rate: float | None = None, seed: int = 1, resume: bool = False, **options: Any) -> dict[str, Any]:
    """Runs ``midscope tune`` on this machine: tunes a model, or a LoRA adapter of it, for a longer context.

    Args:
        model: as in ``load``.
        folder: where the tuned model or the adapter, its recipe and its losses are written.
        recipe: which position ids samples get: cream, pose, randpos, full; or pos2distill, which needs a task.
        tokens, factor: tokens of a sample, and the context as a multiple of them (None: the command's default).
        data: text files, .jsonl files or folders; task: generated samples of a task instead.
        lora: rank of an adapter; None: all weights, of a Hugging Face folder alone.
        steps, batch, rate: None: the command's default.
        resume: continues a run that was interrupted.
        options: other options of the command, with _ for -: ``held_out=8``, ``interpolation="yarn"``, ``device="cuda:0"``.

    Returns:
        What the command prints: steps, tokens, tokens_per_second, first_loss, last_loss (nats per token), setting, folder, file.

    Raises:
        midscope.Error: an option is wrong, the data end early, or the loss is not a number; the last checkpoint stays.

    Example:
        >>> run = midscope.tune("embedded", "short", tokens=64, factor=2, task="list:lines=4", steps=1, lora=2)
        >>> tuned = midscope.load("embedded", adapter="short")
    """
    arguments = ["tune", model, "--recipe", recipe, "--out", os.fspath(folder)]
    for name, values in {"data": data, "task": task}.items():
        for value in [values] if isinstance(values, str) else values:
            arguments += ["--" + name, value]
    given = {"tokens": tokens, "factor": factor, "lora": lora, "steps": steps, "batch": batch, "rate": rate, "seed": seed,
             "resume": resume}
    return run_program(arguments + command_arguments(given | options))
