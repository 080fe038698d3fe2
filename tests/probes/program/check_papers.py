#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs every plan of data/papers with one sample, and compares it where its comment says so.

Usage: check_papers.py PROGRAM ROOT [--only NAME] [--keep FOLDER]

The data files are small ones in the published formats, and the models are random: a small one, and one with many layers
and channels for plans that name these. Sweeps are scored by likelihood, at one place; lists of sizes are shortened. Ends with 1 if a plan fails, if nothing of it is compared with the table that its comment names, or if
probes/PAPERS.md does not list it.
"""
import argparse
import array
import concurrent.futures
import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

# Sizes that replace those of a plan, by the beginning of its task.
SIZES = {"passkey": "300", "needle": "1000,1200", "lines": "4,6", "kv": "25,50", "text": "1024"}
# Data sets of the folders that tasks read: a sample of each.
FOLDERS = {"zeroscrolls": "7", "longbench": "3", "mmlu": "2"}
ALL_PLACES = {"poshidden-t3"}  # its table has means over places
RECIPES = {
    "cream-t1": {"method": "cream", "interpolation": "yarn", "context": 32768},
    "cream-t2": {"method": "cream", "interpolation": "linear", "context": 32768},
    "cream-t3": {"method": "cream", "interpolation": "yarn", "context": 32768},
    "cream-t5": {"method": "cream", "interpolation": "yarn", "context": 196608},
}
WORDS = "river stone lamp window garden copper winter letter harbour silver morning paper engine valley bridge".split()


def text(words, seed):
    pick = random.Random(seed)
    return " ".join(pick.choice(WORDS) for _ in range(words)) + "."


def write_lines(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    contents = "".join(json.dumps(line) + "\n" for line in lines).encode()
    path.write_bytes(gzip.compress(contents) if path.suffix == ".gz" else contents)


def write_sets(sets):
    for documents in (10, 20):
        contexts = [{"title": f"T{i}", "text": text(1, i), "isgold": i == 0, "hasanswer": i == 0} for i in range(documents)]
        question = {"question": "what is it", "answers": ["a lamp"], "ctxs": contexts, "nq_annotated_gold": {}}
        write_lines(sets / f"nq-open-{documents}_total_documents_gold_at_0.jsonl.gz", [question])
    for keys in (75, 140, 300):
        records = [[f"k{i}", f"v{i}"] for i in range(keys)]
        write_lines(sets / f"kv-retrieval-{keys}_keys.jsonl.gz", [{"ordered_kv_records": records, "key": "k2", "value": "v2"}])
    for name in "gov_report summ_screen_fd qmsum squality qasper narrative_qa book_sum_sort".split():
        start, document, query = "Read this.\n", text(30, name), "\n\nAnswer:"
        write_lines(sets / "zeroscrolls" / name / "validation.jsonl", [{
            "id": "1", "pid": "1_0", "input": start + document + query, "output": "1, 2" if name == "book_sum_sort" else "a lamp",
            "document_start_index": len(start), "document_end_index": len(start + document),
            "query_start_index": len(start + document), "query_end_index": len(start + document + query),
            "truncation_seperator": "... [The rest is omitted]\n"}])
    for name in ("narrativeqa", "qasper", "multifieldqa_en"):  # a group of three, which has a column
        write_lines(sets / "longbench" / f"{name}.jsonl", [{
            "input": "What is it?", "context": text(20, name), "answers": ["a lamp"], "length": 20, "dataset": name,
            "language": "en", "all_classes": None, "_id": "1"}])
    for part, rows in (("test", 2), ("dev", 5)):
        folder = sets / "mmlu" / part
        folder.mkdir(parents=True)
        for subject in ("astronomy", "anatomy"):
            (folder / f"{subject}_{part}.csv").write_text("".join(f"Which {i}?,one,two,three,four,B\n" for i in range(rows)))
    order = {"Q": "Reorder the timeline of below events:\nI. A.\nII. B.", "A": "II,I", "S": []}
    write_lines(sets / "longdep_qa.jsonl", [{"input": text(30, 1), "title": "T", "output": "none", "qa_pairs": [order]}])
    write_lines(sets / "coursera.jsonl", [{"instructions": ["Which is it?\nA. one\nB. two"], "outputs": ["B"], "input": text(20, 2),
                                           "source": "coursera", "evaluation": "exam"}])
    write_lines(sets / "gov_report.jsonl", [{"id": str(i), "report": text(20, i), "summary": "short"} for i in range(50)])
    write_lines(sets / "proof_pile.jsonl", [{"text": text(20, i), "meta": "m"} for i in range(50)])
    for i in range(20):
        (sets / "pg19").mkdir(exist_ok=True)
        (sets / "pg19" / f"{i:02}.txt").write_text(text(700, i))
    (sets / "essays").mkdir()
    (sets / "essays" / "one.txt").write_text(text(400, 3))
    (sets / "book.txt").write_text(text(2600, 4))
    choices = {
        "winogrande": {"qID": "1", "sentence": "The cup did not fit as the _ was large.", "option1": "cup", "option2": "box",
                       "answer": "1"},
        "truthfulqa": {"question": "Do fish sleep?", "mc2_targets": {"choices": ["They rest", "No"], "labels": [1, 0]}},
        "piqa": {"goal": "To open a jar,", "sol1": "turn the lid", "sol2": "wait", "label": 0},
        "boolq": {"question": "is tin a metal", "title": "Tin", "answer": True, "passage": "Tin is a metal."},
        "arc_challenge": {"id": "1", "question": {"stem": "Which floats?", "choices": [
            {"text": "a stone", "label": "A"}, {"text": "a cork", "label": "B"}]}, "answerKey": "B"},
        "hellaswag": {"activity_label": "Rope", "ctx_a": "A man holds it.", "ctx_b": "he", "label": 1, "endings": ["sings.", "ties it."]},
    }
    for name, line in choices.items():
        write_lines(sets / f"{name}.jsonl", [line])
        write_lines(sets / f"{name}_train.jsonl", [line] * 25)


def write_model(folder, root, hidden, layers):
    """A Llama with two heads of 8 and random weights in bfloat16, and the bytes' tokenizer of the tiny models."""
    folder.mkdir()
    golden = root / "tests" / "core" / "golden" / "tiny_models" / "llama"
    shutil.copyfile(golden / "tokenizer.json", folder / "tokenizer.json")
    (folder / "tokenizer_config.json").write_text(json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "chat_template": "{% for message in messages %}[{{ message['role'] }}] {{ message['content'] }}\n{% endfor %}"}))
    width, mlp, vocabulary = 16, 16, 264
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "intermediate_size": mlp,
              "num_attention_heads": 2, "num_key_value_heads": 2, "head_dim": 8, "num_hidden_layers": layers,
              "vocab_size": vocabulary, "max_position_embeddings": 65536, "rms_norm_eps": 1e-6, "rope_theta": 10000.0,
              "hidden_act": "silu", "bos_token_id": 257, "eos_token_id": 258, "tie_word_embeddings": False,
              "torch_dtype": "bfloat16"}
    (folder / "config.json").write_text(json.dumps(config))
    shapes = {"model.embed_tokens.weight": [vocabulary, hidden], "model.norm.weight": [hidden], "lm_head.weight": [vocabulary, hidden]}
    for layer in range(layers):
        begin = f"model.layers.{layer}."
        shapes |= {begin + f"self_attn.{name}_proj.weight": [width, hidden] for name in "qkv"}
        shapes |= {begin + "self_attn.o_proj.weight": [hidden, width], begin + "mlp.down_proj.weight": [hidden, mlp],
                   begin + "mlp.gate_proj.weight": [mlp, hidden], begin + "mlp.up_proj.weight": [mlp, hidden],
                   begin + "input_layernorm.weight": [hidden], begin + "post_attention_layernorm.weight": [hidden]}
    pick = random.Random(1)
    block = array.array("f", (pick.gauss(0, 0.05) for _ in range(1 << 16))).tobytes()
    # The upper halves of the float32 numbers; a model's tensors repeat them.
    halves = bytearray(len(block) // 2)
    halves[0::2], halves[1::2] = block[2::4], block[3::4]
    header, data = {}, bytearray()
    for name, shape in shapes.items():
        count = shape[0] * (shape[1] if len(shape) > 1 else 1)
        begin = len(data)
        if len(shape) == 1:
            data += b"\x80\x3f" * count
        else:
            start = 2 * pick.randrange(1 << 15)
            repeated = bytes(halves) * (2 + 2 * count // len(halves))
            data += repeated[start:start + 2 * count]
        header[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [begin, len(data)]}
    text_of = json.dumps(header).encode()
    text_of += b" " * (-len(text_of) % 8)
    (folder / "model.safetensors").write_bytes(len(text_of).to_bytes(8, "little") + text_of + data)


def write_models(work, root):
    write_model(work / "small", root, 32, 3)
    write_model(work / "wide", root, 2400, 26)
    for name, recipe in RECIPES.items():
        shutil.copytree(work / "small", work / name)
        (work / name / "midscope_recipe.json").write_text(json.dumps(recipe))


class Checks:
    def __init__(self, program, work):
        self.program, self.work = program, work
        self.plans = self.cells = self.compared = self.failures = 0

    def run(self, *arguments):
        return subprocess.run([self.program, *map(str, arguments)], cwd=self.work, capture_output=True, text=True,
                              env=dict(os.environ, OMP_NUM_THREADS="1"))

    def fail(self, plan, why):
        self.failures += 1
        print(f"FAILED {plan.name}: {why}")

    def shortened(self, plan, tasks):
        """Returns a copy of the plan with other sizes; `probe` has no option for them."""
        sizes = SIZES.get(tasks[0].split(":")[0] if tasks else "", "")
        copy = self.work / plan.name
        copy.write_text(re.sub(r"(?m)^size = .*$", f"size = [{sizes}]", plan.read_text()))
        return copy

    def check(self, plan, page):
        begin = time.monotonic()
        self.plans += 1
        contents = tomllib.loads(plan.read_text())
        comment = " ".join(line[1:].strip() for line in plan.read_text().split("\n") if line.startswith("#"))
        command = re.search(r"midscope (sweep|probe) MODEL --plan data/papers/(\S+) .*?--out (\S+)", comment)
        if not command or command.group(2) != plan.name:
            return self.fail(plan, "its comment has no command that runs it")
        if f"`{plan.stem}`" not in page:
            self.fail(plan, "probes/PAPERS.md does not list it")
        out = self.work / command.group(3)
        tasks = contents.get("task", [])
        tasks = [tasks] if isinstance(tasks, str) else tasks
        base = next((name for name in RECIPES if plan.stem.startswith(name)), None)
        scales = "channel" in plan.read_text() or "layers=" in plan.read_text() or "key-layers" in contents
        arguments = [command.group(1), base or ("wide" if scales else "small"), "--plan", self.shortened(plan, tasks), "--out", out,
                     "--quiet"]
        if "place" not in contents and tasks:
            arguments += ["--samples", FOLDERS.get(tasks[0].split(":")[0], "1")]
        places = contents.get("places", [])
        if places and plan.stem not in ALL_PLACES:
            arguments += ["--places", str(places[0])]
        if command.group(1) == "sweep":
            arguments += ["--score", "likelihood"]  # generation takes seconds
        done = self.run(*arguments)
        if done.returncode != 0:
            return self.fail(plan, done.stderr.strip() or done.stdout.strip())
        files = sorted(out.glob("*.h5")) if out.is_dir() else [out]
        self.cells += len(files)
        compare = re.search(r"midscope compare \S+ --published (\S+)(?: --published-model '([^']+)')?", comment)
        if compare:
            self.compare(plan, files, *compare.groups())
        print(f"{plan.stem}: {len(files)} files, {time.monotonic() - begin:.1f} s", flush=True)

    def compare(self, plan, files, table, model):
        arguments = ["compare", *files, "--published", table] + (["--published-model", model] if model else [])
        done = self.run(*arguments, "--json")
        if done.returncode != 0:
            return self.fail(plan, done.stderr)
        numbers = 0
        for part in json.loads(done.stdout)["published"]:
            numbers += len(part["numbers"])
            numbers += sum(one["match"] in ("same", "method alone") for row in part["rows"] for one in row["yours"])
        if numbers == 0:
            return self.fail(plan, f"nothing of it is compared with {table}\n{self.run(*arguments).stdout}")
        self.compared += 1

    def check_mixed_scores(self):
        """In a folder with sets that are scored by ROUGE and by F1, each set's mean is that of its own score."""
        two = self.work / "two"
        for name, score in (("gov_report", "a b"), ("qasper", "c")):
            write_lines(two / f"{name}.jsonl", [{"id": "1", "input": "Say it.", "output": score}])
        done = self.run("sweep", "small", "--task", f"zeroscrolls:file={two}", "--samples", 2, "--score", "generation", "--json", "--quiet")
        groups = json.loads(done.stdout)["sweeps"][0].get("groups", []) if done.returncode == 0 else []
        if [one["group"] for one in groups][:3] != ["ZeroSCROLLS", "ZeroSCROLLS/gov_report", "ZeroSCROLLS/qasper"]:
            self.fail(two, f"no groups: {done.stderr}{done.stdout[:500]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("root", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.keep or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        (work / "sets").mkdir()
        write_sets(work / "sets")
        write_models(work, options.root)
        checks = Checks(str(Path(options.program).resolve()), work)
        page = (options.root / "probes" / "PAPERS.md").read_text()
        plans = [one for one in sorted((options.root / "data" / "papers").resolve().glob("*.toml")) if options.only in one.stem]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            running = [pool.submit(checks.check, plan, page) for plan in plans]
            if not options.only:
                running.append(pool.submit(checks.check_mixed_scores))
            for one in running:
                one.result()
        print(f"{checks.plans} plans, {checks.cells} cells, {checks.compared} compared, {checks.failures} failures")
        return 1 if checks.failures or checks.plans == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
