# SPDX-License-Identifier: MIT
"""Prompts of a model."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from midscope._engine import reading_answer
from midscope._results import read_record

if TYPE_CHECKING:
    from midscope._model import Model


class Prompt:
    """A prompt of a model. Made by Model.prompt and Model.task.

    Attributes:
        text: what is sent, with the chat template if there is one.
        tokens: the text of each token, with ``\\n`` for a line break.
        token_ids: ('token',) int64.
        spans: passages by name as (first token, one past the last token).
        answer: the answer that is scored; may be empty.
        place: rank of the gold piece, or None.
    """

    @reading_answer()
    def __init__(self, model: Model, params: dict[str, Any], place_index: int = 0):
        self._params = params
        self.place_index = place_index
        records = model._request("preview", params)["records"]
        record = read_record(model, records[place_index])
        self.record = record
        self.text: str = record.attrs["text"]
        self.answer: str = record.attrs["answer"]
        self.tokens: list[str] = record["token_text"].values.tolist()
        self.token_ids: np.ndarray = record["token_ids"].values
        self.spans = {str(name): (int(begin), int(end)) for name, begin, end in
                      zip(record["span_name"].values, record["span_token_begin"].values, record["span_token_end"].values)}
        self.place: int | None = int(record.attrs["place"]) or None

    def __repr__(self) -> str:
        return f"<midscope.Prompt of {len(self.tokens)} tokens, answer {self.answer!r}>"

    def _repr_html_(self) -> str:
        data = self.text.encode()
        begins = [*self.record["token_begin"].values.tolist(), len(data)]
        begin, end = (begins[token] for token in self.spans.get("gold", (0, 0)))
        before, gold, after = (html.escape(part.decode("utf-8", "replace")) for part in (data[:begin], data[begin:end], data[end:]))
        marked = f"<mark>{gold}</mark>" if gold else ""
        return f"<pre style='white-space: pre-wrap'>{before}{marked}{after}<b>{html.escape(self.answer)}</b></pre>"


def prompt_format(chat: bool | str, system: str, bos: str) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if chat:
        made["chat_template"] = "model" if chat is True else chat
    if system:
        made["system"] = system
    if bos != "auto":
        made["bos"] = bos
    return made
