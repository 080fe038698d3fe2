#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes leval.jsonl: predictions and references with what L-Eval's description of its exam scores makes of them, written
anew with Python's re and str."""
import json
import pathlib
import random
import re

PARTS = ["A", "B", "C", "D", "AB", "BD", "CA", "A.", "B)", " C ", "The answer is", "Answer", "Dear", "and", "\n", ".", ")", " ",
         "(D)", "Question", "E.", "none", "a", "b", "Both A and C.", "B. Cats", "é"]
NUMBERS = ["The answer is 12.", "The answer is $1,234.50", "The answer is  7", "The answer is x", "so 3 + 4 = 7", "12 apples", "no number",
           "total 0042.\n\nThe next 5", "42", "7", "The answer is 12", "1234", "word. 8 ", "costs .5", "\n\n9", "3.9 and none", ""]
TOPICS = ["The history of coffee", "\nthe History  of Coffee, and tea", "A\nart", "I\n\nThe role of art in society.", "coffee",
          "the role of art\nin society", "", "\n"]


def letters(response, several):
    if response in "ABCD":
        return response
    if not several:
        for char in response:
            if char in "ABCD":
                return char
    found = re.match(r"[A-D]*", response).group()
    if len(found) > 1:
        return "".join(sorted(set(found)))
    rest = response[len(found):].split("Question")[0]
    found += re.sub("[^A-D]", "", "".join(re.findall(r"\s*[A-Z](?=[\s.)])", rest)))
    return "".join(sorted(set(found))) or "A"


def number(text):
    marked = re.search(r"The answer is (\S+)", text)
    if marked:
        word = marked.group(1)
    else:
        words = text.split("\n\n")[0].split(" ")
        word = next((w for w in reversed(words) if re.search("[0-9]", w)), "")
    return re.sub("[^0-9]", "", word.split(".")[0])


def letter_score(predicted, right):
    return 1 if predicted == right else 0.25 if set(predicted) <= set(right) else 0


def number_score(predicted, right):
    return int(float(predicted) == float(right)) if predicted and right else 0


def line_score(prediction, right):
    line = next((l for l in prediction.split("\n") if len(l) > 1), prediction)
    return int(right.lower().replace(" ", "") in line.lower().replace(" ", ""))


def main():
    rng = random.Random(5)
    lines = []
    for _ in range(150):
        prediction = "".join(rng.choice(PARTS) + rng.choice(["", " "]) for _ in range(rng.randint(0, 5)))
        right = rng.choice(["A", "B", "C. because", "AB", "ACD", "D)"])
        wanted = re.sub("[^A-D]", "", right.split()[0])
        lines.append({"kind": "leval-letter", "prediction": prediction, "reference": right,
                      "score": letter_score(letters(prediction, False), wanted)})
        lines.append({"kind": "leval-letters", "prediction": prediction, "reference": right,
                      "score": letter_score(letters(prediction, True), wanted)})
    for prediction in NUMBERS:
        for right in ["The answer is 12.", "7", "1234", "42", "5", "8", "9"]:
            lines.append({"kind": "leval-number", "prediction": prediction, "reference": right,
                          "score": number_score(number(prediction), number(right))})
    for prediction in TOPICS:
        for right in ["The history of coffee", "The role of art in society", "art"]:
            lines.append({"kind": "leval-line", "prediction": prediction, "reference": right,
                          "score": line_score(prediction, right)})
    out = pathlib.Path(__file__).parent.parent / "golden" / "leval.jsonl"
    out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")


if __name__ == "__main__":
    main()
