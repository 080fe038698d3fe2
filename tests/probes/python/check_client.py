# SPDX-License-Identifier: MIT
"""The Python client against the program: every method once, numbers equal those of the command line, a hook that zeroes a head
equals `ablate`, a killed engine is an error that names it, Ctrl-C leaves the model usable; the page and the examples of docstrings
run, and signatures are those of the protocol.

    check_client.py MIDSCOPE SOURCE_FOLDER
"""

import doctest
import inspect
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
import types
import unittest
import unittest.mock
import warnings

PROGRAM, SOURCES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
sys.argv = sys.argv[:1]
sys.path.insert(0, str(SOURCES / "probes" / "python"))
os.environ["MIDSCOPE_PROGRAM"] = PROGRAM
os.environ["MPLBACKEND"] = "agg"

import numpy as np  # noqa: E402

import midscope  # noqa: E402

TASK = "list:lines=8"


PROTOCOL = (SOURCES / "probes" / "engine" / "PROTOCOL.md").read_text(encoding="utf-8")
PAGE = (SOURCES / "probes" / "python" / "README.md").read_text(encoding="utf-8")


def public_callables():
    """Yields name and object of the package's functions and classes, and of their methods and properties."""
    for name in midscope.__all__:
        thing = getattr(midscope, name)
        yield name, thing
        if inspect.isclass(thing) and not issubclass(thing, (str, Exception)):
            for member, value in vars(thing).items():
                if not member.startswith("_") and (callable(value) or isinstance(value, property)) or member == "__call__":
                    yield f"{name}.{member}", value


def block_of_page(beginning):
    """Returns the code of the page's block that contains the text."""
    return next(block for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL) if beginning in block)


def command(*arguments):
    out = subprocess.run([PROGRAM, *arguments], check=True, capture_output=True, text=True).stdout
    return json.loads(out)


class Client(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.model = midscope.load("embedded", dtype="float32")
        cls.prompt = cls.model.task(TASK, place=3, sample=2)

    @classmethod
    def tearDownClass(cls):
        cls.model.close()

    def test_a_run_has_the_numbers_of_the_command(self):
        setting = "ms-poe(min=1.2, max=1.8)"
        run = self.model.run(self.prompt, setting, capture=["blocks.12.hook_resid_post"])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "run.h5")
            printed = command("probe", "embedded", "--dtype", "float32", "--task", TASK, "--place", "3", "--sample", "2", "--with",
                              setting, "--out", file, "--json")
            top = printed["top"][0]
            tree = midscope.open(file)
            stored = tree["last_query_attention"]["last_query_attention"].values
        self.assertEqual(run.attention.dims, ("layer", "head", "key"))
        np.testing.assert_array_equal(run.attention.values, stored)
        self.assertEqual(int(np.argmax(run.logits.values)), top["id"])
        self.assertAlmostEqual(float(run.logits.max()), top["logit"], places=4)
        residual = run["blocks.12.hook_resid_post"]
        self.assertEqual(residual.dims, ("position", "channel"))
        self.assertEqual(residual.shape, (len(self.prompt.tokens), 576))
        self.assertIn("gold", self.prompt.spans)
        self.assertGreater(run.answer_nll, 0)

    def test_captures_take_rows_and_heads(self):
        points = [{"point": "blocks.3.attn.hook_z", "rows": "last", "heads": [2]},
                  {"point": "blocks.3.attn.hook_pattern", "rows": [0, 5]}, "blocks.3.attn.hook_k", "hook_embed"]
        run = self.model.run(self.prompt, capture=points)
        tokens = len(self.prompt.tokens)
        self.assertEqual(run["blocks.3.attn.hook_z"].shape, (1, 1, 64))
        self.assertEqual(run["blocks.3.attn.hook_z"].position.values.tolist(), [tokens - 1])
        pattern = run["blocks.3.attn.hook_pattern"]
        self.assertEqual(pattern.dims, ("head", "query", "key"))
        np.testing.assert_allclose(pattern.sum("key").values, 1, atol=1e-5)
        self.assertEqual(float(pattern.sel(query=0)[:, 1:].max()), 0)
        # Grouped heads: keys have three heads, queries nine.
        self.assertEqual(run["blocks.3.attn.hook_k"].sizes["head"], self.model.config["key_value_heads"])
        with self.assertRaisesRegex(midscope.Error, "30 layers"):
            self.model.run(self.prompt, capture=["blocks.30.hook_resid_post"])
        with self.assertRaisesRegex(midscope.Error, "unknown"):
            self.model.run(self.prompt, capture=["blocks.3.hook_residpost"])

    def test_the_probe_of_the_page_measures_the_entropy_of_attention(self):
        names = {"model": self.model, "prompt": self.prompt, "np": np}
        exec(block_of_page("def attention_entropy"), names)
        for setting in ["none", "pi(1.5)"]:
            entropy = names["attention_entropy"](self.model, self.prompt, setting)
            weights = self.model.run(self.prompt, setting).attention.values.astype(np.float64)
            expected = [[sum(-w * np.log(w) for w in head if w > 0) for head in layer] for layer in weights]
            self.assertEqual(entropy.dims, ("layer", "head"))
            np.testing.assert_allclose(entropy.values, expected, rtol=0, atol=1e-12)

    def test_a_hook_that_zeroes_a_head_equals_ablate(self):
        shapes = []

        def zero(activation, point):
            shapes.append((point, activation.shape))
            return np.zeros_like(activation)

        with self.model.hook("blocks.12.attn.hook_z", zero, rows="last", heads=[3]):
            hooked = self.model.run(self.prompt)
        ablated = self.model.run(self.prompt, "ablate(L12H3, rows=last)")
        plain = self.model.run(self.prompt)
        np.testing.assert_allclose(hooked.logits.values, ablated.logits.values, atol=1e-5)
        self.assertGreater(float(abs(hooked.logits - plain.logits).max()), 1e-3)
        self.assertEqual(shapes, [("blocks.12.attn.hook_z", (1, 1, 64))])

    def test_an_exception_in_a_hook_is_raised_and_the_model_stays_usable(self):
        def fail(activation, point):
            raise ZeroDivisionError("mine")

        with self.model.hook("blocks.0.hook_resid_pre", fail):
            with self.assertRaisesRegex(ZeroDivisionError, "mine"):
                self.model.run(self.prompt)
        self.assertGreater(self.model.run(self.prompt).answer_nll, 0)

    def test_a_hook_may_not_use_the_model_and_returns_numbers_of_rows_that_exist(self):
        def run_with(fn, **where):
            with self.model.hook("blocks.0.hook_resid_pre", fn, **where):
                self.model.run(self.prompt)

        with self.assertRaisesRegex(midscope.Error, "may not use the model"):
            run_with(lambda activation, point: self.model.run(self.prompt))
        with self.assertRaisesRegex(midscope.Error, "may not use the model"):
            run_with(lambda activation, point: self.model.prompt("x"))
        with self.assertRaisesRegex(midscope.Error, "row 9999 is not in the prompt"):
            run_with(lambda activation, point: None, rows=[0, 9999])
        with self.assertRaisesRegex(midscope.Error, "row 9999 is not in the prompt"):
            self.model.run(self.prompt, capture=[{"point": "hook_embed", "rows": [9999]}])
        for returned, reason in [("x", "a str"), (1j, "complex"), (float("nan"), "NaN"), ([1, 2], "shape")]:
            with self.assertRaisesRegex(ValueError, "blocks.0.hook_resid_pre returned " + reason):
                run_with(lambda activation, point, returned=returned: np.array(returned) * np.ones_like(activation)
                         if isinstance(returned, (complex, float)) else returned)
        self.assertGreater(self.model.run(self.prompt).answer_nll, 0)

    def test_arguments_of_the_wrong_kind_are_named(self):
        model = self.model
        for work, message in [
                (lambda: model.prompt(5), r"^text: it must be text \(str\), not int"),
                (lambda: model.prompt(b"x"), "^text: it must be text"),
                (lambda: model.prompt("x \ud800"), "^text: character 2 is half"),
                (lambda: model.prompt("x", answer=" \udfff"), "^answer: character 1"),
                (lambda: model.prompt("x", spans={"gold": ("a", object())}), "^request: an argument cannot be sent"),
                (lambda: model.task(None), "^task: it must be text"),
                (lambda: model.run(None), "^prompt: it must be text, or a prompt"),
                (lambda: model.run(self.prompt, 5), "^setting: it must be text"),
                (lambda: model.run(self.prompt, probes=[]), "^probes: it is empty"),
                (lambda: model.sweep(TASK, places=[]), "^places: it is empty"),
                (lambda: model.sweep(TASK, places=3), "^places: it must be a text or a list, not int"),
                (lambda: model.sweep(TASK, settings=[]), "^settings: it is empty"),
                (lambda: model.sweep(TASK, score="x"), "^score: 'x' is not one of its choices"),
                (lambda: model.scan(TASK, places=[]), "^places: it is empty"),
                (lambda: model.ratios("x"), "^ratios: they are not an array of numbers"),
                (lambda: model.ratios(np.full((30, 9), np.nan)), "^ratios: that of L0H0 is nan"),
                (lambda: model.ratios(np.eye(30, 9)), "^ratios: that of L0H1 is 0")]:
            with self.assertRaisesRegex(midscope.Error, message):
                work()
        with tempfile.TemporaryDirectory() as folder:
            text = pathlib.Path(folder) / "q.jsonl"
            text.write_text("{}")
            with self.assertRaisesRegex(OSError, "q.jsonl: it is not a file of results"):
                midscope.open(text)
        self.assertEqual(model.task(TASK, sample=np.int64(2), place=3).text, self.prompt.text)

    def test_a_text_is_a_prompt(self):
        made = self.model.prompt("The capital of France is")
        run = self.model.run("The capital of France is", capture="hook_embed")
        np.testing.assert_array_equal(run.logits.values, self.model.run(made).logits.values)
        self.assertEqual(run["hook_embed"].sizes["position"], len(made.tokens))
        self.assertEqual(self.model.what_if("The capital of France is")("none").prompt.text, made.text)

    def test_what_ifs_equal_full_runs(self):
        live = self.model.what_if(self.prompt)
        for setting in ["none", "channel(100, factor=-1, layers=8-25)", "pi(1.5)"]:
            self.assertAlmostEqual(live(setting).answer_nll, self.model.run(self.prompt, setting).answer_nll, places=4)
        self.assertLess(live("channel(100, factor=0, layers=8-25)").cost["share"], 0.5)

    def test_own_text_and_ratios_from_an_array(self):
        prompt = self.model.prompt("Frank bought: a kite. Frank bought:", gold="a kite", answer=" a kite")
        config = self.model.config
        ratios = self.model.ratios(np.full((config["layers"], config["heads"]), 1.5))
        self.assertAlmostEqual(self.model.run(prompt, ratios).answer_nll, self.model.run(prompt, "pi(1.5)").answer_nll, places=4)
        self.assertEqual("".join(self.model.prompt("The capital").tokens), "The capital")
        with self.assertRaises(midscope.Error) as caught:
            self.model.run(prompt, "pii(2)")
        self.assertTrue(caught.exception.usage)
        self.assertIn("pi", caught.exception.remedy)

    def test_a_sweep_is_that_of_the_command_and_resumes(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "run.h5")
            arguments = dict(places=[1, 8], settings=["none", "pi(1.5)"], score="likelihood", file=file)
            self.model.sweep(TASK, samples=2, **arguments)
            sweep = self.model.sweep(TASK, samples=3, **arguments)
            self.assertEqual(len(self.model.sweep(TASK, places=[1], settings="none", samples=1, score="likelihood").rows), 1)
            rows = command("sweep", "embedded", "--dtype", "float32", "--task", TASK, "--places", "1,8", "--with", "none", "--with",
                           "pi(1.5)", "--samples", "3", "--score", "likelihood", "--json")["rows"]
            self.assertEqual(sweep.rows, rows)
            frame = sweep.to_pandas()
            self.assertEqual(frame["place"].tolist(), [1, 8, 1, 8])
            self.assertEqual(midscope.open(file)["sweep"].answer_nll.shape, (3, 2, 2))
        with self.assertRaises(midscope.Error) as caught:
            self.model.sweep("list:lnes=8")
        self.assertTrue(caught.exception.usage)

    def test_notes_of_the_engine_are_warnings_at_the_callers_line(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "log.jsonl"
            log.write_text('{"user_input": "Who?", "documents": ["Ann is here.", "No."], "gold": "No.", "answer": "Ann"}\n')
            for call in [lambda: self.model.run(self.model.task(str(log), place=1)),
                         lambda: self.model.sweep(str(log), places=[1], score="likelihood")]:
                with warnings.catch_warnings(record=True) as shown:
                    warnings.simplefilter("always")
                    call()
                texts = [str(warning.message) for warning in shown]
                self.assertTrue(any("read 'user_input' as question" in text for text in texts), texts)
                self.assertTrue(any("no answer occurs" in text for text in texts), texts)
                self.assertEqual({warning.filename for warning in shown}, {__file__})

    def test_a_plot_names_depths_in_percent(self):
        def axis(places, shares):
            rows = [{"setting": "none", "place": place, "place_share": share, "answer_nll": 1.0} for place, share in zip(places, shares)]
            drawn = midscope.Sweep({"rows": rows}, None).plot("answer_nll")
            return drawn.get_xlabel(), [tick.get_text() for tick in drawn.get_xticklabels()]

        self.assertEqual(axis([11, 51], [0.1, 0.5]), ("depth of the gold passage", ["10 %", "50 %"]))
        self.assertEqual(axis([1, 20], [0.0, 1.0]), ("place of the gold passage", ["1", "20"]))

    def test_scan_and_generate(self):
        scan = self.model.scan(TASK, over="layers", samples=1, places=[2])
        self.assertIn("layer", scan.sizes)
        text = self.model.generate(self.model.prompt("The capital of France is"), new_tokens=3)
        self.assertIn("Paris", str(text))

    def test_ctrl_c_cancels_the_call_alone(self):
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            self.model.scan("list:lines=20", over="heads", samples=40)
        self.assertGreater(self.model.run(self.prompt).answer_nll, 0)

    def test_probes_over_samples_equal_the_program(self):
        means = self.model.probe(TASK, places=[1, 3], samples=2)
        self.assertEqual(set(means), {"gold_following", "position_awareness_by_place", "answer_attribution_by_place"})
        gold = means["gold_following"]
        self.assertEqual(gold.attrs["samples"], 2)
        runs = [self.model.run(self.model.task(TASK, place=3, sample=sample), probes="span_attention")
                for sample in (0, 1)]
        expected = np.mean([run.records["span_attention"].gold_attention.values for run in runs], axis=0)
        np.testing.assert_allclose(gold.mean_gold_attention.sel(place=3).values, expected, rtol=1e-6)
        np.testing.assert_allclose(gold.mean_passage_attention.sel(place=3).values[..., 2], expected, rtol=1e-6)

    def test_the_bar_of_a_search_names_the_channel_that_leads(self):
        written = []

        class Bar:
            def __init__(self, **given):
                self.desc = given["desc"]

            def set_postfix_str(self, text, refresh=True):
                written.append(text)

            def refresh(self):
                pass

            def close(self):
                pass

        tqdm = types.SimpleNamespace(tqdm=Bar)
        with unittest.mock.patch.dict(sys.modules, {"tqdm": types.SimpleNamespace(auto=tqdm), "tqdm.auto": tqdm}):
            found = self.model.channels(prompts=2, tokens=400, validate="none")
        first = int(found["channel_search"]["ranked_channel"][0])
        self.assertEqual(written[-1], f"channel {first} leads")

    def test_signatures_are_those_of_the_protocol(self):
        sections = re.findall(r"^### `(\w+)`\n(.*?)(?=^##|\Z)", PROTOCOL, re.DOTALL | re.MULTILINE)
        protocol = {name: set(re.findall(r"^\| `(\w+)`", text, re.MULTILINE)) for name, text in sections}
        model = midscope.Model
        # By method: the functions, their parameters under other names, and parameters that are no argument.
        doors = {"open": ([midscope.load], {"remote": None}, set()),
                 "set_prompt": ([model.prompt, model.task], {"chat": "format", "system": "format", "bos": "format",
                                                             "place": "places"}, {"sources", "given", "kept_limit"}),
                 "run": ([model.run], {"prompt": "place", "probes": "options"}, {"hooks"}),
                 "what_if": ([midscope.WhatIf.__call__], {}, {"place", "partial"}),
                 "scan": ([model.scan], {"task": None, "seed": None, "restrict": "range"}, {"first"}),
                 "probe_samples": ([model.probe], {"task": None, "seed": None, "places": None}, set()),
                 "channels": ([model.channels], {}, set()),
                 "generate": ([model.generate], {"prompt": "place"}, set()),
                 "command": ([], {}, {"arguments"}),
                 "write_file": ([model.put], {}, set())}
        of_others = {"hello", "describe", "preview", "compare", "prompt_channels", "learned_positions", "list_folder", "open_file",
                     "read_record", "close_file", "read_array", "release", "view_file", "view_sample", "curves", "devices", "receive",
                     "write_results"}
        self.assertEqual(set(protocol), set(doors) | of_others)
        for method, (functions, renamed, hidden) in doors.items():
            given = {renamed.get(name, name) for function in functions for name in inspect.signature(function).parameters}
            self.assertEqual((given - {"self", None}) | hidden, protocol[method], method)

    def test_pieces_of_own_text_take_their_places(self):
        text = "A is 1. B is 2. C is 3. B is"
        pieces = [(0, 8), (8, 16), (16, 24)]
        prompt = self.model.prompt(text, gold=(8, 15), answer=" 2", pieces=pieces, place=3)
        self.assertEqual(prompt.text, "A is 1. C is 3. B is 2. B is")

    def test_the_page_runs(self):
        names = {}
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            for block in re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL):
                exec(block.replace("samples=40", "samples=1"), names)
            names["model"].close()
        self.assertEqual(len(names["table"].rows), 6)

    def test_everything_public_has_a_docstring_whose_example_runs(self):
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            for name, thing in public_callables():
                with self.subTest(name):
                    text = inspect.getdoc(thing) or ""
                    self.assertRegex(text, r"[.)]")
                    function = inspect.isfunction(thing) and set(inspect.signature(thing).parameters) - {"self"}
                    examples = doctest.DocTestParser().get_examples(text)
                    self.assertTrue(examples or not function, "no example")
                    self.assertEqual("Example:" in text, bool(examples))
                    names = {"midscope": midscope, "np": np, "model": self.model, "prompt": self.prompt}
                    for example in examples:
                        exec(compile(example.source, name, "exec"), names)

    def test_two_engines_and_a_killed_one(self):
        with midscope.load("embedded", dtype="float32") as other:
            prompt = other.task(TASK, place=3, sample=2)
            self.assertEqual(other.run(prompt).answer_nll, self.model.run(self.prompt).answer_nll)
            os.kill(other._engine.pid, signal.SIGKILL)
            with self.assertRaisesRegex(midscope.Error, "signal 9"):
                other.run(prompt)
        self.assertGreater(self.model.run(self.prompt).answer_nll, 0)

    def test_greetings_are_skipped_and_other_programs_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            wrapper = pathlib.Path(folder) / "wrapper"
            wrapper.write_text(f'#!/bin/sh\necho "Welcome to node 7"\nexec "{PROGRAM}" "$@"\n')
            wrapper.chmod(0o755)
            log = pathlib.Path(folder) / "log.jsonl"
            log.write_text('{"question": "Who?", "documents": ["No.", "Ann."], "gold": "Ann.", "answer": "Ann"}\n')
            with midscope.load("embedded", remote=f"nice {wrapper}") as model:
                self.assertEqual(model.config["layers"], 30)
                sent = model._task_there(f"jsonl:file={log}")
                self.assertNotIn(folder, sent)
                self.assertEqual(sent, model._task_there(f"jsonl:file={log}"))
                self.assertEqual(model.task(str(log), place=1).text, model.task(sent, place=1).text)
            with self.assertRaisesRegex(midscope.Error, "(?s)No such host"):
                midscope.load("embedded", remote="sh -c 'echo No such host; exit 3'")
            ssh = pathlib.Path(folder) / "ssh"
            ssh.write_text('#!/bin/sh\necho "$3: not found" >&2\nexit 127\n')
            ssh.chmod(0o755)
            with unittest.mock.patch.dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"):
                with self.assertRaisesRegex(midscope.Error, "(?s)neither a host nor a command.*'env PROGRAM'"):
                    midscope.load("embedded", remote="/opt/midscope")
                with self.assertRaisesRegex(midscope.Error, "(?s)midscope: not found.*remote='me@far:FOLDER/bin/midscope'"):
                    midscope.load("embedded", remote="me@far")

    def test_the_module_starts_the_program_which_finds_the_other_commands(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = pathlib.Path(folder) / "fake"
            fake.write_text('#!/bin/sh\necho "$PATH|$MIDSCOPE_PYTHON|$*"\nexit 7\n')
            fake.chmod(0o755)
            environment = {"PATH": "/usr/bin:/bin", "MIDSCOPE_PROGRAM": str(fake), "PYTHONPATH": str(SOURCES / "probes/python")}
            ended = subprocess.run([sys.executable, "-m", "midscope", "probe", "a b"], env=environment, capture_output=True, text=True)
            shown = f"/usr/bin:/bin:{sysconfig.get_path('scripts')}|{sys.executable}|probe a b\n"
            self.assertEqual((ended.stdout, ended.returncode), (shown, 7), ended.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
