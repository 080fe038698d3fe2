# SPDX-License-Identifier: MIT
"""What an engine returns, as xarray."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any, Iterator, Mapping

import numpy as np
import xarray as xr

from midscope._engine import reading_answer

if TYPE_CHECKING:
    from midscope._model import Model
    from midscope._prompt import Prompt

SLICE_BYTES = 32 << 20


def read_array(model: "Model", message: dict[str, Any]) -> np.ndarray[Any, Any]:
    """Returns the array of a message, fetching its bytes in slices if the message has a handle instead of data."""
    shape = tuple(message["shape"])
    if message["dtype"] == "str":
        return np.array(message["data"], dtype=object).reshape(shape)
    dtype = np.dtype(message["dtype"]).newbyteorder("<")
    if "data" in message:
        return np.frombuffer(message["data"], dtype=dtype).reshape(shape)
    # Into an array of numpy, whose large pages are faster to get than those of a new bytes object.
    array = np.empty(shape, dtype=dtype)
    target = array.reshape(-1).view(np.uint8).data
    try:
        for begin in range(0, message["bytes"], SLICE_BYTES):
            part = model._request("read_array", {"handle": message["handle"], "begin": begin, "count": SLICE_BYTES})["data"]
            target[begin:begin + len(part)] = part
    finally:
        model._request("release", {"handle": message["handle"]})
    return array


@reading_answer()
def read_record(model: "Model", message: dict[str, Any]) -> xr.Dataset:
    """Returns a record: its arrays as variables, labels or values of its axes as coordinates."""
    coordinates = {}
    for axis in message["axes"]:
        values = axis.get("labels", axis.get("values"))
        if values is None:
            continue
        values = np.asarray(values)
        if values.dtype.kind == "f" and np.all(values == np.round(values)):
            values = values.astype(np.int64)
        coordinates[axis["name"]] = values
    variables = {}
    for array in message["arrays"]:
        attributes = {key: array[key] for key in ("unit", "description") if array.get(key)}
        variables[array["name"]] = (tuple(array["dims"]), read_array(model, array), attributes)
    for name in set(coordinates) & set(variables):  # a data set's variable and coordinate share one namespace
        del coordinates[name]
    return xr.Dataset(variables, coords=coordinates, attrs=message["attributes"])


@reading_answer()
def read_records(model: "Model", result: dict[str, Any]) -> dict[str, xr.Dataset]:
    """Returns the records of a result by name."""
    return {message["name"]: read_record(model, message) for message in result["records"]}


@reading_answer()
def first_record(model: "Model", result: dict[str, Any]) -> xr.Dataset:
    """Returns the only record of a result."""
    return read_record(model, result["records"][0])


class Run(Mapping[str, xr.DataArray]):
    """A full run of a prompt. ``run[POINT]`` is the activation at a captured hook point, such as
    ``run["blocks.12.hook_resid_post"]`` with dims ('position', 'channel').

    Attributes:
        prompt, setting: what was run.
        records: the records of probes by name, as xarray.Dataset.
        failures: messages of probes that failed.
        seconds: duration of the run.

    Example:
        >>> run = model.run(prompt, capture=[{"point": "blocks.3.attn.hook_z", "rows": "last", "heads": [2]}])
        >>> run["blocks.3.attn.hook_z"].dims, run.answer_nll, run.correct
        >>> run.logits.argmax("vocabulary"), run.attention.shape, run.position_awareness.shape
    """

    @reading_answer()
    def __init__(self, model: "Model", prompt: "Prompt", setting: str, result: dict[str, Any]):
        self.prompt = prompt
        self.setting = setting
        self.records = read_records(model, result)
        self._captured: dict[str, xr.DataArray] = {message["name"]: read_record(model, message)[message["name"]] for message in result["captured"]}
        self.failures: list[str] = result["failures"]
        self.seconds: float = result["seconds"]

    def __getitem__(self, point: str) -> xr.DataArray:
        return self._captured[point]

    def __iter__(self) -> Iterator[str]:
        return iter(self._captured)

    def __len__(self) -> int:
        return len(self._captured)

    @property
    def attention(self) -> xr.DataArray:
        """Attention of the last prompt query, ('layer', 'head', 'key')."""
        return self.records["last_query_attention"]["last_query_attention"]

    @property
    def position_awareness(self) -> xr.DataArray:
        """Ms-PoE's position-awareness score (Eq. 1), ('layer', 'head')."""
        return self.records["position_awareness"]["position_awareness_score"]

    @property
    def logits(self) -> xr.DataArray:
        """Logits after the last prompt token, ('vocabulary',). Needs ``model.run(..., logits=True)``, the default."""
        return self.records["last_logits"]["last_logits"]

    @property
    def answer_nll(self) -> float | None:
        """Negative log-likelihood of the answer in nats, summed over its tokens; None if the prompt has no answer."""
        answer = self.records.get("answer")
        return None if answer is None else float(answer.attrs["answer_nll"])

    @property
    def correct(self) -> bool | None:
        """Whether the greedy continuation equals the answer; None if the prompt has no answer."""
        answer = self.records.get("answer")
        return None if answer is None else bool(answer.attrs["correct"])

    def __repr__(self) -> str:
        nll = "" if self.answer_nll is None else f", answer_nll {self.answer_nll:.4f} nats"
        return f"<midscope.Run of {len(self.prompt.tokens)} tokens, {self.setting}{nll}; records: {', '.join(self.records)}>"

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(repr(self))}</code>"


class WhatIfResult:
    """The outcome of a prompt under one setting.

    Attributes:
        outcome: answer_nll and correct, ('setting', 'place'), with one setting.
        records: all records by name, among them last_query_attention of the prompt's place.
        cost: what was run again: seconds, share of a full run, first layer and row.

    Example:
        >>> result = model.what_if(prompt)("pi(2)")
        >>> result.answer_nll, result.correct, result.attention.dims, result.cost["share"]
    """

    @reading_answer()
    def __init__(self, model: "Model", prompt: "Prompt", setting: str, result: dict[str, Any]):
        self.prompt = prompt
        self.setting = setting
        self.records = read_records(model, result)
        self.outcome = self.records["outcome"]
        self.cost: dict[str, Any] = result["cost"]

    @property
    def answer_nll(self) -> float:
        """Negative log-likelihood of the answer at the prompt's place, in nats; NaN without an answer."""
        return float(self.outcome["answer_nll"][0, self.prompt.place_index])

    @property
    def correct(self) -> bool:
        """Whether the greedy continuation equals the answer."""
        return bool(self.outcome["correct"][0, self.prompt.place_index])

    @property
    def attention(self) -> xr.DataArray:
        """Attention of the last prompt query, ('layer', 'head', 'key')."""
        return self.records["last_query_attention"]["last_query_attention"]

    def __repr__(self) -> str:
        return (f"<midscope.WhatIfResult {self.setting}: answer_nll {self.answer_nll:.4f} nats; "
                f"{self.cost['share']:.3f} of a full run, {1e3 * self.cost['seconds']:.1f} ms>")


class WhatIf:
    """Runs settings of one prompt from cached activations: ``live = model.what_if(prompt); live("pi(2)").answer_nll``."""

    def __init__(self, model: "Model", prompt: "Prompt"):
        self._model = model
        self._prompt = prompt

    def __call__(self, setting: str = "none", *, attention: bool = True, channels: list[int] | None = None) -> WhatIfResult:
        """Runs a setting.

        Args:
            setting: what to change, such as ``"channel(100, factor=-1, layers=8-25)"``.
            attention: whether to return last-query attention.
            channels: hidden channels whose values are returned, in record ``hidden_channels`` ('layer', 'channel', 'position').

        Raises:
            midscope.Error: the setting does not fit the model.

        Example:
            >>> live = model.what_if(prompt)
            >>> live("pi(2)", attention=False).answer_nll
        """
        self._model._use(self._prompt)
        result = self._model._request("what_if", {"setting": setting, "place": self._prompt.place_index,
                                                  "attention": attention, "channels": list(channels or [])})
        return WhatIfResult(self._model, self._prompt, setting, result)


class Generation:
    """Generated text.

    Attributes:
        text: the text.
        record: new_token_ids, new_token_text, new_token_probability ('new_token',).

    Example:
        >>> model.generate(prompt, new_tokens=2).record["new_token_probability"]
    """

    @reading_answer()
    def __init__(self, record: xr.Dataset):
        self.record = record
        self.text: str = record.attrs.get("text", "".join(record["new_token_text"].values.tolist()))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"<midscope.Generation {self.text!r}>"


def open(file: str) -> Any:  # noqa: A001 - the name of the public function
    """Opens a results file (HDF5) of this machine as a lazy xarray.DataTree: ``midscope.open("run.h5")["sweep"].answer_nll``.

    Its nodes are the records of the file, under their names; data/SCHEMA.md describes them.

    Raises:
        OSError: the file does not exist, or is not a file of results (HDF5).

    Example:
        >>> sweep = model.sweep("list:lines=5", places=[1, 5], samples=2, score="likelihood", file="run.h5")
        >>> midscope.open("run.h5")["sweep"].answer_nll.dims
    """
    try:
        tree = xr.open_datatree(file, engine="h5netcdf", phony_dims="access", group="/entry")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise OSError(f"{file}: it is not a file of results (HDF5), such as model.sweep(file='run.h5') writes, or it is damaged: "
                      f"{error}") from error
    # The file's group of a record that has an array of its own name ends in _record.
    nodes = {"/" + name.removesuffix("_record"): node for name, node in tree.children.items()}
    return xr.DataTree.from_dict({"/": tree.dataset, **nodes})
