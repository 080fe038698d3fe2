#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that probes/GLOSSARY.md explains every column head of the program's tables and the words listed below.

Usage: check_glossary.py ROOT

Heads are the string literals of TextTable headers under probes/cli; "[95 %]" and units in brackets do not count. The page
has one line per word, which begins with the word in bold.
"""
import re
import sys
from pathlib import Path

WORDS = ["gold", "place", "gap", "setting", "answer rows", "row", "piece", "trial", "preset", "verdict", "chance",
         "sample", "task", "measure", "layer", "head", "channel", "position", "prompt", "seed", "Holm"]
CONSTANTS = {"kAnswerNll": "answer_nll"}
BRACED = re.compile(r"(?:TextTable \w+\(\s*\{|\bheader\w* = \{|\bheader\.insert\(header\.end\(\), \{)(.*?)\}", re.S)
PUSHED = re.compile(r"\bheader\.(?:push_back|emplace_back)\(([^;]*)\);")
LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"|\b(k[A-Z]\w+)\b')


def heads_of(text):
    """Returns the literals of headers in one source; a head made of several, such as "place " + text, is its first."""
    heads = set()
    for match in list(BRACED.finditer(text)) + list(PUSHED.finditer(text)):
        for literal, constant in LITERAL.findall(match.group(1)):
            head = CONSTANTS.get(constant, "") if constant else literal
            head = re.sub(r"\s*\[[^]]*\]|\{[^}]*\}", "", head).strip()
            if re.search(r"[A-Za-z]", head):
                heads.add(head)
    return heads


def main():
    root = Path(sys.argv[1])
    page = (root / "probes/GLOSSARY.md").read_text()
    explained = set()
    for line in page.split("\n"):
        begin = re.match(r"- (\*\*[^:]*\*\*)[:,]? ", line)
        if begin:
            explained.update(re.findall(r"\*\*([^*]+)\*\*", begin.group(1)))
    failures = []
    for source in sorted((root / "probes/cli").rglob("*.cpp")):
        text = source.read_text()
        if "TextTable" not in text or source.name == "text_table.cpp":
            continue
        failures += [f"{source.relative_to(root)}: column '{head}'" for head in sorted(heads_of(text) - explained)]
    failures += [f"word '{word}'" for word in WORDS if word not in explained]
    for failure in failures:
        print(f"{failure} is not in probes/GLOSSARY.md: add a line '- **WORD**: ...'")
    for page_name in ("README.md", "probes/COMMANDS.md"):
        if "GLOSSARY.md" not in (root / page_name).read_text():
            failures.append(page_name)
            print(f"{page_name} does not link probes/GLOSSARY.md")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
