# SPDX-License-Identifier: MIT
"""Gradients by place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from midscope._sweep import command_arguments, run_program


def influence(model: str, task: str | None = None, *, places: str | Sequence[int] = "", samples: int | None = None,
              setting: str = "none", prompt: str | None = None, answer: str | None = None, gold: str | None = None,
              cotangents: int = 0, seed: int = 1, file: str | os.PathLike[str] | None = None, **options: Any) -> dict[str, Any]:
    """Runs ``midscope influence`` on this machine: how much the answer changes with each token, by place and layer.

    Args:
        model: as in ``load``; ``"embedded@init"`` has random weights.
        task: a task; None: ``prompt`` with its ``answer`` and ``gold`` passage.
        places: such as ``[1, 10, 20]`` or ``"0%,50%,100%"``; "": the first place.
        samples: how many; None: 1.
        setting: a position scheme that treats all heads and rows alike, such as ``"pi(2)"``.
        cotangents: also the gradient of the output as a whole, from this many random vectors.
        file: an HDF5 file to write. It also has the gradients by token, as record ``influence``.
        options: other options of the command, with _ for -: ``parts=20``, ``dtype="bfloat16"``, ``overwrite=True``.

    Returns:
        What the command prints: ``places``, ``rows`` (by place and layer; layer 0: embeddings), ``parts`` (by place, layer and part of
        the prompt), ``shares`` (by hundredths of the prompt) and ``heads`` (by place, layer and head), each a list of dicts; ``cesaro``,
        the closed form for even attention, or None.

    Raises:
        midscope.Error: an option is wrong, or the setting has no gradients.

    Example:
        >>> found = midscope.influence("embedded", "list:lines=4", places=[1, 4], samples=1)
        >>> found["rows"][0]["answer_gradient_gold"]
    """
    arguments = ["influence", model]
    for name, text in {"task": task, "prompt": prompt, "answer": answer}.items():
        if text is not None:
            arguments += ["--" + name, text]
    if gold is not None:
        arguments += ["--span", "gold=" + gold]
    if places:
        arguments += ["--places", places if isinstance(places, str) else ",".join(map(str, places))]
    if setting != "none":
        arguments += ["--with", setting]
    if task is not None:
        arguments += ["--seed", str(seed)]
    given = {"samples": samples, "cotangents": cotangents or None, "out": None if file is None else os.fspath(file)}
    return run_program(arguments + command_arguments(given | options))
