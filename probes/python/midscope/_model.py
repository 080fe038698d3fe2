# SPDX-License-Identifier: MIT
"""A model in an engine process."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import pathlib
from typing import Any, Callable, Iterator, Sequence

import numpy as np
import xarray as xr

from midscope._engine import Engine, Error, check_texts, reading_answer
from midscope._progress import Progress
from midscope._prompt import Prompt, prompt_format
from midscope._results import Generation, Run, WhatIf, first_record, read_records
from midscope._sweep import Sweep, command_arguments, run_command


class HookPoint(str):
    """The name of a hook point, with what an activation covers.

    Attributes:
        first_row: absolute number of the activation's first row; long prompts come in several parts.
        dims: names of the activation's axes.
    """

    first_row: int = 0
    dims: tuple[str, ...] = ()


class Model:
    """A model in an engine process. Made by midscope.load.

    Attributes:
        config: architecture, layers, heads, key_value_heads, head_dim, hidden, vocabulary, trained_context, dtype, device, ...
    """

    def __init__(self, engine: Engine, name: str, options: dict[str, Any], is_remote: bool = False):
        self._engine = engine
        self._is_remote = is_remote
        self._name = name
        self._options = options
        self._current: Prompt | None = None
        self._hooks: list[tuple[dict[str, Any], Callable[..., Any]]] = []
        self._sent: dict[bytes, str] = {}  # paths on the engine's machine of files that were sent, by content
        self.config: dict[str, Any] = self._request("open", {"model": name, **options})

    # --- prompts

    def prompt(self, text: str, *, gold: str | tuple[int, int] | None = None, answer: str = "", question: str = "",
               spans: dict[str, str | tuple[int, int]] | None = None, pieces: Sequence[tuple[int, int]] = (),
               place: int | str | None = None, chat: bool | str = False, system: str = "", bos: str = "auto") -> Prompt:
        """Makes a prompt from text, which is sent unchanged unless ``chat`` is given.

        Args:
            text: the prompt.
            gold: the gold passage, a text that occurs once, or its bytes (begin, end).
            answer: the answer whose likelihood is scored, with its leading space.
            question: appended as the task jsonl does.
            spans: other passages by name.
            pieces: bytes (begin, end) of exchangeable pieces; the one with the gold passage moves to ``place`` among them.
            place: rank of the gold piece from 1 on, or a share such as ``"50%"``; None: the first. Needs pieces.
            chat: True for the model's own chat template, or the name of a template.
            system: system message of the chat.
            bos: auto, template, on or off: whether the prompt begins with the begin-of-text token.

        Raises:
            midscope.Error: a passage does not occur, or occurs more than once.

        Example:
            >>> own = model.prompt("Frank bought: a kite. Frank bought:", gold="a kite", answer=" a kite")
            >>> own.tokens, own.spans["gold"]
        """
        check_texts(text=text, answer=answer, question=question, system=system, bos=bos)
        params: dict[str, Any] = {"text": text, "answer": answer, "question": question, "format": prompt_format(chat, system, bos)}
        if gold is not None:
            params["gold"] = gold if isinstance(gold, str) else list(gold)
        if spans:
            params["spans"] = {name: span if isinstance(span, str) else list(span) for name, span in spans.items()}
        if pieces:
            params["pieces"] = [list(piece) for piece in pieces]
        if place is not None:
            params["places"] = str(place)
        return Prompt(self, params)

    def task(self, task: str, *, place: int | str | None = None, sample: int = 0, seed: int = 1, chat: bool | str = False,
             system: str = "", bos: str = "auto") -> Prompt:
        """Makes the prompt of a task's sample.

        Args:
            task: such as ``"list:lines=20"`` (``midscope help tasks``).
            place: rank of the gold piece from 1 on, or a share such as ``"50%"``; None: the first.
            sample, seed: which sample.
            chat, system, bos: as for prompt.

        Raises:
            midscope.Error: the task, one of its parameters, or the place does not exist.

        Example:
            >>> prompt = model.task("list:lines=10", place=5, sample=3)
            >>> prompt.text, prompt.answer
        """
        check_texts(task=task, system=system, bos=bos)
        params = {"task": self._task_there(task), "sample": sample, "seed": seed, "format": prompt_format(chat, system, bos)}
        if place is not None:
            params["places"] = str(place)
        return Prompt(self, params)

    # --- measuring

    def run(self, prompt: Prompt | str, setting: str = "none", capture: str | Sequence[str | dict[str, Any]] = (), *,
            probes: str | Sequence[str] | None = None, channels: Sequence[int] = (), logits: bool = True, **options: Any) -> Run:
        """Runs a prompt in full.

        Args:
            prompt: of this model, or text: ``model.run("The mill is")``.
            setting: what to change, such as ``"ms-poe(min=1.2, max=1.8)"``.
            capture: hook points (TransformerLens' names) whose activations are returned: names, or
                ``{"point": NAME, "rows": "all" | "last" | "answer" | [row, ...], "heads": [...]}``.
            probes: names of probes as in ``midscope probe --probes``, such as ``"default,logit_lens"``, or a list of names.
            channels: hidden channels to return in record ``hidden_channels``.
            logits: whether to return the logits after the last prompt token.
            options: options of probes as in ``midscope probe``, with _ for -.

        Returns:
            Run: attention ('layer', 'head', 'key'), logits ('vocabulary',), answer_nll in nats, and what was captured. A capture
            has the axes of the hook point without the batch: ('position', 'channel'), ('position', 'head', 'dimension'), for
            patterns and scores ('head', 'query', 'key').

        Raises:
            midscope.Error: the setting or a hook point does not fit the model. An exception of a hook is raised unchanged.

        Example:
            >>> run = model.run(prompt, "pi(1.5)", capture=["blocks.12.hook_resid_post"])
            >>> run.attention.sel(layer=12, head=3)
            >>> run["blocks.12.hook_resid_post"].shape
        """
        check_texts(setting=setting)
        prompt = self._use(prompt)
        given = {name.replace("_", "-"): value for name, value in options.items()}
        if probes is not None:
            given["probes"] = _joined("probes", probes)
        params = {"place": prompt.place_index, "setting": setting, "options": given, "channels": list(channels),
                  "logits": logits,
                  "capture": [_capture(part) for part in ([capture] if isinstance(capture, (str, dict)) else capture)],
                  "hooks": [part for part, _ in self._hooks]}
        return Run(self, prompt, setting, self._request("run", params, on_question=self._answer_hook))

    def what_if(self, prompt: Prompt | str) -> WhatIf:
        """Returns a function that runs settings of the prompt from cached activations, which takes milliseconds.

        Example:
            >>> live = model.what_if(prompt)
            >>> live("channel(100, factor=-1, layers=8-25)").answer_nll
        """
        return WhatIf(self, self._use(prompt))

    def generate(self, prompt: Prompt | str, setting: str = "none", *, new_tokens: int = 32) -> Generation:
        """Continues a prompt with the likeliest tokens (greedy decoding).

        Args:
            prompt, setting: as for run.
            new_tokens: how many at most; fewer if the model ends the text.

        Raises:
            midscope.Error: the setting does not fit the model, or the text would exceed its context.

        Example:
            >>> model.generate("The capital of France is", new_tokens=3).text
        """
        check_texts(setting=setting)
        prompt = self._use(prompt)
        result = self._request("generate", {"place": prompt.place_index, "setting": setting, "new_tokens": new_tokens})
        return Generation(first_record(self, result))

    def scan(self, task: str = "list:lines=20", *, over: str = "heads", term: str = "", base: str = "none",
             places: str | Sequence[int] = "", samples: int = 5, seed: int = 1, **restrict: Any) -> xr.Dataset:
        """Applies a term to every head, layer, channel or passage, one at a time, and returns the effects on the answer.

        Args:
            task, samples, seed, places: on what, as for sweep.
            over: heads, layers, channels, ... (``midscope help scan``).
            term: with a placeholder, such as ``"ablate({head})"``; "": that of ``over``.
            base: the setting under which all items run; effects are differences from it.
            restrict: layers, channels, pairs or span, as texts.

        Returns:
            The record ``scan``, with an axis such as ('head',) or ('layer',): mean effects on the answer's negative log-likelihood in
            nats, with intervals.

        Raises:
            midscope.Error: the task or the term does not exist, or the model lacks the items.

        Example:
            >>> scan = model.scan("list:lines=5", over="layers", places=[2], samples=1, layers="0-3")
            >>> list(scan.data_vars)
        """
        self._current = None
        self._request("set_prompt", {"task": self._task_there(task), "seed": seed, "places": _places(places)})
        with Progress() as progress:
            result = self._request("scan", {"over": over, "term": term, "base": base, "samples": samples, "range": restrict},
                                   on_progress=progress)
        return first_record(self, result)

    def probe(self, task: str = "list:lines=20", setting: str = "none", *, places: str | Sequence[int | str] = "",
              samples: int = 20, seed: int = 1, **options: Any) -> dict[str, xr.Dataset]:
        """Runs probes on samples of a task and summarises them by place, as ``midscope probe --samples`` does.

        Args:
            task, samples, seed, places: on what, as for sweep.
            setting: what to change.
            options: of the probes (``midscope help probes``), with _ for -; ``probes`` names them.

        Returns:
            Records by name; by default gold_following (attention on the gold and on every passage),
            position_awareness_by_place and answer_attribution_by_place, with arrays ('place', 'layer', 'head').

        Raises:
            midscope.Error: the task or an option does not exist, or a probe does not fit the model.

        Example:
            >>> means = model.probe("list:lines=5", places=[1, 3], samples=2)
            >>> means["gold_following"].mean_gold_attention.sel(place=3).max()
        """
        self._current = None
        self._request("set_prompt", {"task": self._task_there(task), "seed": seed, "places": _places(places)})
        params: dict[str, Any] = {"setting": setting, "samples": samples}
        if options:
            params["options"] = {name.replace("_", "-"): value for name, value in options.items()}
        with Progress() as progress:
            result = self._request("probe_samples", params, on_progress=progress)
        return read_records(self, result)

    def channels(self, **options: Any) -> dict[str, xr.Dataset]:
        """Searches the model for positional channels; options as of ``midscope channels``, with _ for -.

        Returns:
            Records channel_search and, with a validation, channel_validation.

        Raises:
            midscope.Error: an option does not exist or does not fit the model.

        Example:
            >>> found = model.channels(prompts=1, tokens=400, validate="none")
            >>> found["channel_search"]
        """
        given = {name.replace("_", "-"): value for name, value in options.items()}
        with Progress() as progress:
            result = self._request("channels", {"options": given}, on_progress=progress, on_partial=progress.name_leader)
        return read_records(self, result)

    def sweep(self, task: str = "list:lines=20", places: str | Sequence[int | str] = "", settings: str | Sequence[str] = ("none",),
              samples: int | None = None, seed: int = 1, file: str | None = None, **options: Any) -> Sweep:
        """Runs ``midscope sweep`` as a process of its own on the engine's machine and returns its table.

        Args:
            task: such as ``"list:lines=20"``, or a JSONL file of your own; one of this machine is sent to a remote engine.
            places: ranks of the gold piece, or shares such as ``["0%", "50%", "100%"]``; "": the task's default.
            settings: differences are from the first.
            samples: how many; None: 40, or those of the file.
            seed: of samples, bootstrap and permutations.
            file: the HDF5 file to write, on the engine's machine. A sweep that is there is continued.
            options: other options of the command, with _ for -: ``score="likelihood"``, ``control=True``.

        Returns:
            Sweep: accuracy as a share and answer_nll in nats by setting and place, with 95 % intervals and differences from the
            first setting over the same samples.

        Raises:
            midscope.Error: an option is wrong, or the file has another sweep.
            midscope.Cancelled: the sweep was interrupted; call again with the same file to continue it.

        Example:
            >>> table = model.sweep("list:lines=5", places=[1, 5], settings=["none", "pi(1.5)"], samples=2, score="likelihood")
            >>> table.to_pandas()
        """
        arguments = ["sweep", self._name, "--task", self._task_there(task), "--seed", str(seed), "--json"]
        if _places(places):
            arguments += ["--places", _places(places)]
        settings = [settings] if isinstance(settings, str) else list(settings)
        _joined("settings", settings)
        for setting in settings:
            arguments += ["--with", setting]
        if samples is not None:
            arguments += ["--samples", str(samples)]
        if file:
            # The engine keeps the working folder in which it was started.
            file = os.fspath(file) if self._is_remote else os.path.abspath(file)
            arguments += ["--out", file, "--resume"]
        arguments += command_arguments({**self._command_options(), **options})
        with Progress() as progress:
            return Sweep(run_command(self, arguments, progress), file)

    # --- hooks

    @contextlib.contextmanager
    def hook(self, point: str, fn: Callable[[np.ndarray, HookPoint], np.ndarray | None], *,
             rows: str | Sequence[int] | None = None, heads: Sequence[int] | None = None) -> Iterator[None]:
        """Calls ``fn(activation, point)`` at a hook point in every ``run`` inside the ``with`` block.

        Args:
            point: TransformerLens' name, such as ``"blocks.12.attn.hook_z"``.
            fn: gets a writable float32 array, [row, head, ...] or for patterns [head, query, key], and returns None or an array
                of that shape, which replaces it. Long prompts come in several parts: ``point.first_row`` tells where one begins.
            rows: "all" (default), "last", "answer" or row numbers.
            heads: numbers of heads; default all.

        Raises:
            ValueError: at the run, if fn returns another shape, or other values than numbers. Other exceptions of fn are raised
                there, too, and cancel the run.
            midscope.Error: at the run, if the model has no such point or head, or the prompt no such row, or if fn uses the model.

        Example:
            >>> def zero(activation, point):
            ...     return np.zeros_like(activation)
            >>> with model.hook("blocks.12.attn.hook_z", zero, rows="last", heads=[3]):
            ...     run = model.run(prompt)
        """
        part = _capture({"point": point, "rows": rows if rows is None or isinstance(rows, str) else list(rows),
                         "heads": None if heads is None else list(heads)})
        entry = (part, fn)
        self._hooks.append(entry)
        try:
            yield
        finally:
            self._hooks.remove(entry)

    def _answer_hook(self, question: dict[str, Any]) -> dict[str, Any] | None:
        with reading_answer():
            message = question["array"]
            point = HookPoint(question["point"])
            point.first_row = question["first_row"]
            point.dims = tuple(message["dims"])
            activation = np.frombuffer(message["data"], dtype="<f4").reshape(message["shape"]).copy()
            fn = self._hooks[question["hook"]][1]
        had_nan = np.isnan(activation).any()
        changed = fn(activation, point)
        if changed is None:
            return None
        if np.iscomplexobj(changed):
            raise ValueError(f"the hook at {point} returned complex numbers")
        try:
            changed = np.ascontiguousarray(changed, dtype="<f4")
        except (TypeError, ValueError) as error:
            raise ValueError(f"the hook at {point} returned a {type(changed).__name__}, not an array of numbers") from error
        if np.isnan(changed).any() and not had_nan:
            raise ValueError(f"the hook at {point} returned NaN")
        if changed.shape != activation.shape:
            raise ValueError(f"the hook at {point} returned shape {changed.shape} for {activation.shape}")
        return {"dtype": "float32", "shape": list(changed.shape), "data": changed.tobytes()}

    # --- settings from arrays

    def ratios(self, ratios: np.ndarray | Sequence[Sequence[float]]) -> str:
        """Returns the setting that divides the positions of each head by its ratio.

        Args:
            ratios: ('layer', 'head'), from 0.01 to 1000; 1 leaves a head as it is.

        Raises:
            midscope.Error: the shape differs from the model's layers and heads.

        Example:
            >>> setting = model.ratios(np.full((30, 9), 1.5))
            >>> model.run(prompt, setting).answer_nll   # equals "pi(1.5)"
        """
        try:
            table = np.asarray(ratios, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise Error("ratios", "they are not an array of numbers", "Give [layer, head]", usage=True) from error
        expected = (self.config["layers"], self.config["heads"])
        if table.shape != expected:
            raise Error("ratios", f"their shape is {table.shape}, the model has {expected}", "Give [layer, head]", usage=True)
        for layer, head in np.argwhere(~((table >= 0.01) & (table <= 1000)))[:1].tolist():
            raise Error("ratios", f"that of L{layer}H{head} is {table[layer, head]:g}", "Give 0.01 to 1000", usage=True)
        text = io.StringIO()
        writer = csv.writer(text)
        writer.writerow(["layer", "head", "ratio"])
        for layer, row in enumerate(table):
            writer.writerows([layer, head, repr(float(ratio))] for head, ratio in enumerate(row))
        return f"ratios({self.put(text.getvalue().encode(), '.csv')})"

    def put(self, data: bytes, suffix: str = "") -> str:
        """Writes a file on the engine's machine and returns its path, for settings and tasks that read files.

        The same data have the same path in every session. The file is removed 90 days after it was last written.

        Args:
            data: at most 16 MB.
            suffix: end of the file's name, such as ``".csv"``.

        Raises:
            midscope.Error: the data are too large or cannot be written.

        Example:
            >>> line = b'{"documents": ["The inn is red.", "The mill is old."], "gold": 0, "question": "How is the inn?", "answer": "red"}'
            >>> model.task(f"jsonl:file={model.put(line, '.jsonl')}", place=2).text
        """
        return str(self._request("write_file", {"data": data, "suffix": suffix})["path"])

    def _task_there(self, task: str) -> str:
        """Returns the task with the path on a remote engine's machine of its file, which is sent if it exists here."""
        name = task.rpartition("file=")[2]
        if not self._is_remote or not os.path.isfile(name):
            return task
        data = pathlib.Path(name).read_bytes()
        if data not in self._sent:
            self._sent[data] = self.put(data, "".join(pathlib.Path(name).suffixes[-2:]))
        return task[:len(task) - len(name)] + self._sent[data]

    # --- process

    def close(self) -> None:
        """Ends the engine process; so does the end of a ``with midscope.load(...) as model`` block."""
        self._engine.close()

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        config = self.config
        return (f"<midscope.Model {self._name}: {config['architecture']}, {config['layers']} layers, {config['heads']} heads, "
                f"{config['dtype']} on {config['device']}>")

    def _command_options(self) -> dict[str, Any]:
        names = {"dtype", "products", "threads", "weights", "device", "beyond_context"}
        return {name: value for name, value in self._options.items() if name in names and value not in (None, False)}

    def _request(self, method: str, params: dict[str, Any], **callbacks: Any) -> Any:
        return self._engine.request(method, params, **callbacks)

    def _use(self, prompt: Prompt | str) -> Prompt:
        """Makes the prompt, or one of this text, the engine's current one, and returns it."""
        if isinstance(prompt, str):
            prompt = self.prompt(prompt)
        if not isinstance(prompt, Prompt):
            raise Error("prompt", f"it must be text, or a prompt of model.prompt or model.task, not {type(prompt).__name__}",
                        usage=True)
        if self._current is not prompt:
            self._current = None
            self._request("set_prompt", prompt._params)
            self._current = prompt
        return prompt


def _capture(part: str | dict[str, Any]) -> dict[str, Any]:
    if isinstance(part, str):
        return {"point": part}
    return {key: value for key, value in part.items() if value is not None}


def _joined(name: str, values: str | Sequence[int | str]) -> str:
    """Returns values as a command takes them, "1,5". Raises Error if there are none."""
    try:
        text = values if isinstance(values, str) else ",".join(str(value) for value in values)
    except TypeError as error:
        raise Error(name, f"it must be a text or a list, not {type(values).__name__}", usage=True) from error
    if not text:
        raise Error(name, "it is empty", "Give at least one, or leave it out", usage=True)
    check_texts(**{name: text})
    return text


def _places(places: str | Sequence[int | str]) -> str:
    return "" if isinstance(places, str) and not places else _joined("places", places)


def load(model: str = "embedded", remote: str | None = None, *, adapter: str | None = None, dtype: str = "auto",
         products: str = "float", threads: int = 0, weights: str = "auto", device: str = "cpu", sliding_window: bool = True,
         beyond_context: bool = False) -> Model:
    """Starts an engine process and opens a model in it.

    Args:
        model: ``"embedded"``, a .gguf file, a Hugging Face folder or ORG/NAME, on the engine's machine; with
            ``@init`` or ``@init:SEED`` after it, random weights.
        remote: None for this machine; ``"user@host"`` or ``"user@host:PROGRAM"`` for an engine over ssh; or a command of several
            words that passes standard input and output on, such as ``"srun -p gpu midscope"``.
        adapter: a LoRA adapter, ``"FOLDER"`` or ``"FOLDER:SCALE"``: a folder in PEFT's format or a .gguf file.
        dtype: auto, float32, bfloat16 or float16.
        products: float, int16 or int8.
        threads: 0: all.
        weights: auto, stored or expanded.
        device: cpu, cuda:0, ...
        beyond_context: allows prompts that are longer than the model's context.

    Raises:
        midscope.Error: the program is not found, the engine does not start, or the model cannot be opened.

    Example:
        >>> with midscope.load("embedded", threads=1) as small:
        ...     small.config["layers"], small.config["heads"]
    """
    name = os.fspath(model) + (f" adapter={os.fspath(adapter)}" if adapter else "")
    engine = Engine(remote)
    try:
        return Model(engine, name, {"dtype": dtype, "products": products, "threads": threads, "weights": weights,
                                    "device": device, "sliding_window": sliding_window,
                                    "beyond_context": beyond_context}, is_remote=remote is not None)
    except BaseException:
        engine.close()
        raise
