#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes scores.jsonl: 200 random pairs of texts with what the packages rouge 1.0.1, rouge-score 0.1.2 and Python's difflib
and re make of them. Needs the two packages; its output does not change from run to run."""
import collections
import difflib
import json
import pathlib
import random
import re
import string

from rouge import Rouge
from rouge_score import rouge_scorer

WORDS = (
    "the a an cat Cat dog sat ran mat U.S.A state-of-the-art it's co-op 3.5 2024 green sky, blue; (red) \u201cquoted\u201d "
    "caf\u00e9 na\u00efve Stra\u00dfe \u00c9cole \u4e2d\u6587 x_y THE An end. stop. yes! no? a-the the-a_an \u2019the "
    "theatre banana A.B"
).split()
SPACES = [" ", " ", " ", " ", "  ", "\n", "\t", ". ", "\u00a0"]


def text(rng, words):
    return "".join(rng.choice(WORDS) + rng.choice(SPACES) for _ in range(words)).strip(" ")


def changed(rng, original):
    """The text with words taken out, put in or swapped, so that pairs share long and short runs."""
    parts = re.split(r"(\s+)", original)
    for _ in range(rng.randint(0, 6)):
        at = rng.randrange(len(parts))
        kind = rng.randrange(3)
        if kind == 0:
            parts[at] = rng.choice(WORDS)
        elif kind == 1 and len(parts) > 2:
            del parts[at]
        else:
            other = rng.randrange(len(parts))
            parts[at], parts[other] = parts[other], parts[at]
    return "".join(parts)


def normalise(answer):
    kept = "".join(c for c in answer.lower() if c not in string.punctuation)
    return " ".join(re.sub(r"\b(?:an?|the)\b", " ", kept).split())


def f1(prediction, reference):
    predicted, wanted = normalise(prediction).split(), normalise(reference).split()
    same = sum((collections.Counter(predicted) & collections.Counter(wanted)).values())
    return 2 * same / (len(predicted) + len(wanted)) if same else 0.0


def main():
    rng = random.Random(20231120)
    sets = Rouge()
    counts = rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    lines = []
    for index in range(200):
        reference = text(rng, 60 if index % 20 == 0 else rng.randint(1, 14))
        prediction = changed(rng, reference) if index % 3 else text(rng, rng.randint(1, 14))
        try:
            of_sets = [sets.get_scores(prediction, reference)[0][f"rouge-{kind}"]["f"] for kind in "12l"]
        except ValueError:  # a text without a sentence; LongBench notes 0
            of_sets = [0.0, 0.0, 0.0]
        of_counts = counts.score(reference, prediction)
        lines.append({
            "prediction": prediction,
            "reference": reference,
            "normalised": normalise(prediction),
            "subspan": float(normalise(reference) in normalise(prediction)),
            "f1": f1(prediction, reference),
            "rouge": of_sets,
            "rouge_score": [of_counts[kind].fmeasure for kind in ("rouge1", "rouge2", "rougeL")],
            "ratio": difflib.SequenceMatcher(None, prediction, reference).ratio(),
        })
    path = pathlib.Path(__file__).parents[1] / "golden" / "scores.jsonl"
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
