# SPDX-License-Identifier: MIT
"""Sweeps, which run as a process of their own on the engine's machine."""

from __future__ import annotations

import html
import json
import re
import subprocess
from typing import TYPE_CHECKING, Any, Callable

from midscope._engine import Cancelled, Error, find_program
from midscope._program import program_environment

if TYPE_CHECKING:
    from midscope._model import Model

INTERRUPTED = 130


def command_arguments(options: dict[str, Any]) -> list[str]:
    """Returns options of a command line: ``{"score": "both", "control": True}`` becomes ``--score both --control``."""
    arguments = []
    for name, value in options.items():
        flag = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(flag)
        elif isinstance(value, (list, tuple)):
            for one in value:
                arguments += [flag, str(one)]
        else:
            arguments += [flag, str(value)]
    return arguments


def run_command(model: "Model", arguments: list[str], on_progress: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    """Runs a command of the program with --json and returns what it printed. Raises Error if it fails."""
    answer = model._request("command", {"arguments": arguments}, on_progress=on_progress)
    if answer["status"] == 0:
        printed: dict[str, Any] = json.loads(answer["out"])
        return printed
    raise command_error(arguments[0], answer["status"], answer["err"])


def run_program(arguments: list[str]) -> dict[str, Any]:
    """Runs a command of the program on this machine with --json and returns what it printed. Raises Error if it fails."""
    done = subprocess.run([*find_program(), *arguments, "--json"], capture_output=True, text=True, check=False,
                          env=program_environment())
    if done.returncode != 0:
        raise command_error(arguments[0], done.returncode, done.stderr)
    printed: dict[str, Any] = json.loads(done.stdout)
    return printed


def command_error(command: str, status: int, err: str) -> Error:
    """Returns the error of a command of the program that ended with `status` after writing `err`."""
    last = [line for line in err.splitlines() if line.startswith("midscope: ")]
    text = last[-1][len("midscope: "):] if last else f"it ended with status {status}"
    text = re.sub(r"(?:option )?--([a-z][a-z-]*)", lambda option: option[1].replace("-", "_"), text)  # as arguments are named
    if status == INTERRUPTED:
        return Cancelled("midscope " + command, text)
    thing, _, rest = text.partition(": ")
    reason, _, remedy = rest.partition(". ")
    return Error(thing if rest else "midscope " + command, reason or text, remedy, usage=status == 2)


class Sweep:
    """The outcome by place of the gold passage, for each setting.

    Attributes:
        rows: a dict per setting and place, as in ``midscope sweep --json``.
        json: everything that the command printed.
        file: the HDF5 file on the engine's machine, or None.
    """

    def __init__(self, printed: dict[str, Any], file: str | None):
        self.json = printed
        self.rows: list[dict[str, Any]] = printed["rows"]
        self.file = file

    def to_pandas(self) -> Any:
        """Returns the rows as a pandas.DataFrame: setting, place, samples, accuracy, answer_nll (nats), ...

        Raises:
            ImportError: pandas is not installed.

        Example:
            >>> table = model.sweep("list:lines=5", places=[1, 5], samples=2, score="likelihood")
            >>> table.to_pandas()[["place", "answer_nll"]]
        """
        import pandas as pd  # type: ignore[import-not-found,import-untyped,unused-ignore]

        return pd.DataFrame(self.rows)

    def plot(self, measure: str | None = None, ax: Any = None) -> Any:
        """Draws the measure by place, a line per setting, with 95 % intervals where the sweep has them.

        Args:
            measure: a column such as ``"answer_nll"`` or ``"accuracy"``; default: the first that the rows have.
            ax: matplotlib axes; None: new ones.

        Returns:
            The axes.

        Raises:
            ImportError: matplotlib is not installed.

        Example:
            >>> table = model.sweep("list:lines=5", places=[1, 5], samples=2, score="likelihood")
            >>> table.plot("answer_nll").get_ylabel()
        """
        import matplotlib.pyplot as plt  # type: ignore[import-not-found,unused-ignore]

        ax = ax or plt.subplots()[1]
        measure = measure or next(name for name in ("generation_score", "answer_nll", "accuracy") if name in self.rows[0])
        settings = list(dict.fromkeys(row["setting"] for row in self.rows))
        places = list(dict.fromkeys(row["place"] for row in self.rows))
        width = 0.02 * (max(places) - min(places))  # lines are this far apart, so that no interval hides another
        for i, setting in enumerate(settings):
            rows = [row for row in self.rows if row["setting"] == setting]
            at = [row["place"] + width * (i - (len(settings) - 1) / 2) for row in rows]
            means = [row[measure] for row in rows]
            low, high = f"{measure}_low", f"{measure}_high"
            bars = None
            if all(row.get(low) is not None and row.get(high) is not None for row in rows):
                bars = [[mean - row[low] for mean, row in zip(means, rows)], [row[high] - mean for mean, row in zip(means, rows)]]
            ax.errorbar(at, means, yerr=bars, marker="o", capsize=3, label=setting)
        depths = {row["place"]: row.get("place_share") for row in self.rows}
        in_percent = all(share is not None and place == 1 + round(100 * share) for place, share in depths.items())
        ax.set_xticks(places, [f"{place - 1} %" for place in places] if in_percent else None)
        ax.set_xlabel("depth of the gold passage" if in_percent else "place of the gold passage")
        ax.set_ylabel(measure + (" (nats)" if measure.startswith("answer_nll") else ""))
        ax.legend()
        return ax

    def __repr__(self) -> str:
        settings = list(dict.fromkeys(row["setting"] for row in self.rows))
        samples = self.rows[0]["samples"] if self.rows else 0
        return f"<midscope.Sweep of {samples} samples, {len(settings)} settings{', ' + self.file if self.file else ''}>"

    def _repr_html_(self) -> str:
        try:
            return str(self.to_pandas().to_html(index=False))
        except ImportError:
            return f"<code>{html.escape(repr(self))}</code>"
