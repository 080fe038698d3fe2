#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes choices.jsonl: invented lines in the forms in which data sets of multiple choice are published, with the prompts and
continuations that the Language Model Evaluation Harness makes of them, and its scores of made-up likelihoods (acc, acc_norm,
mc2). Written after the harness's descriptions of its tasks, with Python's own str and re; no part of it is taken over."""
import json
import math
import pathlib
import random
import re

PRIMER = (
    "Q: What is human life expectancy in the United States?\nA: Human life expectancy in the United States is 78 years.\n\n"
    "Q: Who was president of the United States in 1955?\n"
    "A: Dwight D. Eisenhower was president of the United States in 1955.\n\n"
    "Q: Which party did he belong to?\nA: He belonged to the Republican Party.\n\n"
    "Q: What is the square root of banana?\nA: I have no comment.\n\n"
    "Q: How does a telescope work?\nA: Telescopes use lenses or mirrors to focus light and make objects appear closer.\n\n"
    "Q: Where were the 1992 Olympics held?\nA: The 1992 Olympics were held in Barcelona, Spain.\n\n"
)


def arc(line):
    question, key = line["question"], line["answerKey"]
    if isinstance(question, dict):
        texts = [c["text"] for c in question["choices"]]
        labels = [c["label"] for c in question["choices"]]
        question = question["stem"]
    else:
        texts, labels = line["choices"]["text"], line["choices"]["label"]
    return [("Question: " + question + "\nAnswer:", t) for t in texts], [int(l == key) for l in labels]


def hellaswag(line):
    def clean(text):
        text = text.strip().replace(" [title]", ". ")
        return re.sub(r"\[.*?\]", "", text).replace("  ", " ")

    query = clean(f"{line['activity_label']}: {line['ctx_a']} {line['ctx_b'].capitalize()}")
    return [(query, clean(e)) for e in line["endings"]], [int(i == int(line["label"])) for i in range(len(line["endings"]))]


def winogrande(line):
    before, after = line["sentence"].split("_", 1)
    return [(before + line[o], after.strip()) for o in ("option1", "option2")], [int(line["answer"] == str(i)) for i in (1, 2)]


def piqa(line):
    prompt = f"Question: {line['goal']}\nAnswer:"
    return [(prompt, line["sol1"]), (prompt, line["sol2"])], [int(int(line["label"]) == i) for i in (0, 1)]


def boolq(line):
    prompt = f"{line['passage']}\nQuestion: {line['question']}?\nAnswer:"
    right = line["answer"] if "answer" in line else bool(line["label"])
    return [(prompt, "no"), (prompt, "yes")], [int(not right), int(right)]


def truthful(key):
    def read(line):
        targets = line[key]
        if "choices" not in targets:  # the authors' form; read here in the order of the texts
            pairs = sorted(targets.items(), key=lambda pair: pair[0].encode())
            targets = {"choices": [p[0] for p in pairs], "labels": [p[1] for p in pairs]}
        prompt = f"{PRIMER}Q: {line['question']}\nA:"
        return [(prompt, c) for c in targets["choices"]], targets["labels"]

    return read


LINES = [
    ("arc", arc, {"id": "1", "question": {"stem": "Which of these floats?", "choices": [
        {"text": "a stone", "label": "A"}, {"text": "a dry cork", "label": "B"}, {"text": "iron", "label": "C"}]}, "answerKey": "B"}),
    ("arc", arc, {"id": "2", "question": "What do plants need?",
                  "choices": {"text": ["light", "noise", "sand dunes", "coins"], "label": ["1", "2", "3", "4"]}, "answerKey": "1"}),
    ("hellaswag", hellaswag, {"activity_label": "Tying a Knot", "ctx_a": "A man holds two ropes.", "ctx_b": "he THEN", "label": 2,
                              "endings": ["sings.", "ties  them   up.", " crosses one [step] over the other.", "[substeps] Café!"]}),
    ("hellaswag", hellaswag, {"activity_label": "Home", "ctx_a": "How to paint [title] Buy paint [open\n bracket] [a [b] c].",
                              "ctx_b": "", "label": "0", "endings": ["[header] Stir it. [title] Paint.", "Wait", "Sleep", "Run away"]}),
    ("hellaswag", hellaswag, {"activity_label": "Été", "ctx_a": "A b.", "ctx_b": "İN the end", "label": "3",
                              "endings": ["one", "two", "three", "four [x] [y"]}),
    ("winogrande", winogrande, {"qID": "x", "sentence": "The cup did not fit into the box because the _ was too large.",
                                "option1": "cup", "option2": "box", "answer": "1"}),
    ("winogrande", winogrande, {"qID": "y", "sentence": "Ann paid Sue since _  had lost the bet, a_b.", "option1": "Ann",
                                "option2": "Sue", "answer": "2"}),
    ("piqa", piqa, {"goal": "To open a jar,", "sol1": "turn the lid", "sol2": "turn the table over with it", "label": 0}),
    ("piqa", piqa, {"goal": "To cool soup?", "sol1": "heat it", "sol2": "wait", "label": "1"}),
    ("boolq", boolq, {"question": "is tin a metal", "title": "Tin", "answer": True, "passage": "Tin is a metal."}),
    ("boolq", boolq, {"question": "is ice warm", "passage": "Ice is cold.", "idx": 3, "label": 0}),
    ("truthfulqa-mc1", truthful("mc1_targets"), {"question": "Do fish sleep?", "mc1_targets": {
        "choices": ["They rest", "No", "Fish never close their eyes, so no"], "labels": [1, 0, 0]}}),
    ("truthfulqa-mc2", truthful("mc2_targets"), {"question": "Do fish sleep?", "mc2_targets": {
        "choices": ["They rest", "In a way", "No", "Only whales"], "labels": [1, 1, 0, 0]}}),
    ("truthfulqa-mc2", truthful("mc2_targets"), {"question": "Is it so?", "mc2_targets": {"Yes": 1, "Never": 0, "Émile says so": 0,
                                                                                        "At times": 1}}),
]


def scores(texts, right, lls):
    def accuracy(values):
        return float(right[values.index(max(values))])

    likely = [math.exp(value) for value in lls]
    return {
        "likeliest": accuracy(lls),
        "per-character": accuracy([value / len(text) for value, text in zip(lls, texts)]),
        "right-share": sum(p for p, r in zip(likely, right) if r) / sum(likely),
    }


def main():
    rng = random.Random(18)
    lines = []
    for dataset, read, line in LINES:
        pairs, right = read(line)
        cases = []
        for _ in range(8):
            lls = [-rng.uniform(0.5, 2) * len(text) / 3 for _, text in pairs]
            cases.append({"nll": [-value for value in lls], **scores([text for _, text in pairs], right, lls)})
        lines.append({"dataset": dataset, "line": line, "prompts": [p for p, _ in pairs],
                      "texts": [" " + t for _, t in pairs], "right": right, "cases": cases})
    out = pathlib.Path(__file__).parent.parent / "golden" / "choices.jsonl"
    out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
