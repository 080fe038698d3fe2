# SPDX-License-Identifier: MIT
"""Progress of long requests."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from midscope._engine import reading_answer


class Progress:
    """A progress bar by tqdm, if it is installed and standard error is a terminal or a notebook."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._note = ""
        self._make: Any = None
        try:
            from tqdm.auto import tqdm  # type: ignore[import-not-found,import-untyped,unused-ignore]
            self._make = tqdm
        except ImportError:
            pass

    def __enter__(self) -> "Progress":
        return self

    @reading_answer()
    def __call__(self, progress: dict[str, Any]) -> None:
        if not self._make:
            return
        if self._bar is None or self._bar.desc != progress["stage"]:
            if self._bar is not None:
                self._bar.close()
            self._bar = self._make(total=progress["total"] or None, desc=progress["stage"], unit=" " + progress["unit"],
                                   leave=False, disable=None if "ipykernel" not in sys.modules else False)
            self._bar.desc = progress["stage"]
            self._bar.set_postfix_str(self._note, refresh=False)
        self._bar.n = progress["done"]
        self._bar.refresh()

    @reading_answer()
    def name_leader(self, partial: dict[str, Any]) -> None:
        """Writes the first channel of a preliminary record channel_search behind the bar."""
        ranked = [array["data"] for record in partial["records"] if record["name"] == "channel_search"
                  for array in record["arrays"] if array["name"] == "ranked_channel" and "data" in array]
        if not ranked:
            return
        self._note = f"channel {np.frombuffer(ranked[0], dtype='<i8')[0]} leads"
        if self._bar is not None:
            self._bar.set_postfix_str(self._note)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()
