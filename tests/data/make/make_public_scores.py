#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes public_scores.jsonl: synthetic predictions with the scores that the benchmarks' own public code gives them, run from
checkouts beside this one. Nothing of that code is copied here.

    LongBench           THUDM/LongBench at 2e00731: scorer() of LongBench/eval.py, the means over a data set, and their mean,
                        without the three sets that are scored over segmented Chinese words
    RULER               NVIDIA/RULER at c3f5e3b: metric_fn of scripts/eval/synthetic/constants.py
    NoLiMa              adobe-research/NoLiMa at 7532e4e: _evaluate_response of evaluation/async_evaluate.py
    lost-in-the-middle  nelson-liu/lost-in-the-middle at 29b8a6d: best_subspan_em

    pip install rouge==1.0.1 fuzzywuzzy==0.18.0 numpy regex
    python3 make_public_scores.py CHECKOUTS tests/data/golden/public_scores.jsonl   # CHECKOUTS/LongBench, CHECKOUTS/RULER ...

LongBench's code similarity is fuzzywuzzy without python-Levenshtein, as its requirements.txt has it.
"""
import ast
import importlib.util
import json
import logging
import pathlib
import random
import sys
import types

WORDS = "the a cat Sat, river (north) of Paris 1847 it's Beatles U.S. an old green stop. house\u2019s caf\u00e9 Born".split()
CHINESE = "\u5357\u4eac\u5e02\u957f\u6c5f\u5927\u6865\u5efa\u6210\u901a\u8f66\uff0c\u4f1a\u8bae\u8bb0\u5f55\u3002\u5317\u4eac\u5927\u5b66 3.5 A-b"
CODE = ["for i in range(n):", "    return x + 1  # done", "x = foo(bar, 2)", "`python`", "// note", "int y = x;", "y = foo(bar)"]
SEGMENTED = ("multifieldqa_zh", "dureader", "vcsum")  # drawn, so that the draws of the other rows stay, and left out
CLASSES = ["Location", "Location city", "Human", "Human group", "Number", "Date"]
PREFIXES = ["", "\n", "\n\n", " ", "The answer is ", "\nNo.\n"]


def module(path, name):
    spec = importlib.util.spec_from_file_location(name, path)
    loaded = importlib.util.module_from_spec(spec)
    sys.modules[name] = loaded
    spec.loader.exec_module(loaded)
    return loaded


def sentence(rng, words=WORDS):
    return " ".join(rng.choice(words) for _ in range(rng.randint(1, 12)))


def changed(rng, text):
    parts = text.split(" ")
    for _ in range(rng.randint(0, 3)):
        parts[rng.randrange(len(parts))] = rng.choice(WORDS)
    return " ".join(parts)


def example(rng, dataset):
    """A prediction with its answers and classes."""
    classes = None
    if dataset in ("trec", "lsht"):
        classes = CLASSES
        answers = [rng.choice(CLASSES)]
        text = rng.choice(CLASSES) + rng.choice(["", " or " + rng.choice(CLASSES)])
    elif dataset.startswith("passage_retrieval"):
        word = "Paragraph " if dataset.endswith("en") else "\u6bb5\u843d"
        answers = [word + str(rng.randint(1, 4))]
        text = " ".join(word + str(rng.randint(1, 4)) for _ in range(rng.randint(0, 3)))
    elif dataset == "passage_count":
        answers = [str(rng.randint(1, 4))]
        text = " and ".join(str(rng.randint(1, 4)) for _ in range(rng.randint(0, 3)))
    elif dataset in ("lcc", "repobench-p"):
        answers = [rng.choice(CODE)]
        text = "\n".join(rng.choice(CODE) for _ in range(rng.randint(1, 3)))
    elif dataset in SEGMENTED:
        answers = ["".join(rng.choice(CHINESE) for _ in range(rng.randint(1, 15))) for _ in range(rng.randint(1, 2))]
        begin = rng.randrange(len(answers[0]))
        text = answers[0][begin:] + "".join(rng.choice(CHINESE) for _ in range(rng.randint(0, 6)))
    else:
        answers = [sentence(rng) for _ in range(rng.randint(1, 3))]
        text = changed(rng, rng.choice(answers))
    return rng.choice(PREFIXES) + text + rng.choice(["", "\nMore of it.", "."]), answers, classes


def nolima_rule(path):
    """The method alone: its class needs a server."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == "_evaluate_response":
            scope = {}
            exec(compile(ast.Module([node], []), str(path), "exec"), scope)
            return scope["_evaluate_response"]
    raise SystemExit(f"{path}: no _evaluate_response")


def longbench(rng, root):
    sys.path.insert(0, str(root))
    sys.modules["jieba"] = types.ModuleType("jieba")  # which metrics.py imports for the sets that are left out
    evaluation = module(root / "eval.py", "longbench_eval")
    scores = {}
    for dataset in evaluation.dataset2metric:
        rows = [example(rng, dataset) for _ in range(12)]
        if dataset in SEGMENTED:
            continue
        predictions, answers, classes = zip(*rows)
        scores[dataset] = evaluation.scorer(dataset, predictions, answers, classes[0])
        yield {"source": "longbench", "dataset": dataset, "predictions": predictions, "answers": answers,
               "classes": classes[0] or [], "score": scores[dataset]}
    yield {"source": "longbench-average", "score": sum(scores.values()) / len(scores)}


def main():
    checkouts, out = pathlib.Path(sys.argv[1]), sys.argv[2]
    logging.disable(logging.WARNING)
    rng = random.Random(5)
    rows = list(longbench(rng, checkouts / "LongBench/LongBench"))
    ruler = module(checkouts / "RULER/scripts/eval/synthetic/constants.py", "ruler_constants").TASKS
    for task, entry in ruler.items():
        pairs = []
        for _ in range(12):
            answers = [rng.choice(WORDS) for _ in range(rng.randint(1, 4))]
            pairs.append((sentence(rng).upper() if rng.random() < 0.5 else sentence(rng), answers))
        predictions, answers = zip(*pairs)
        rows.append({"source": "ruler", "dataset": task, "predictions": predictions, "answers": answers,
                     "score": entry["metric_fn"](predictions, answers)})
    rule = nolima_rule(checkouts / "NoLiMa/evaluation/async_evaluate.py")
    lost = module(checkouts / "lost-in-the-middle/src/lost_in_the_middle/metrics.py", "lost_metrics")
    for _ in range(40):
        answers = [sentence(rng) if rng.random() < 0.3 else rng.choice(WORDS) for _ in range(rng.randint(1, 3))]
        prediction = rng.choice(PREFIXES) + changed(rng, sentence(rng))
        contains = rule(types.SimpleNamespace(metric="contains", gold_answers=answers), prediction)
        rows.append({"source": "nolima", "predictions": [prediction], "answers": [answers], "score": 100 * contains})
        rows.append({"source": "lost-in-the-middle", "predictions": [prediction], "answers": [answers],
                     "score": 100 * lost.best_subspan_em(prediction, answers)})
    with open(out, "w", encoding="utf-8") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


main()
