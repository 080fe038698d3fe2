#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Comments and messages are plain English.

    check_words.py ROOT

Prints each comment that does not begin with its subject, each that lets data act (a row does not lie, a kernel is not told), and each
message that says "is no", and exits with 1.
"""
import pathlib
import re
import sys

ROOMS = ["kernels", "core", "data", "probes", "gui", "tests"]
COMMENT = re.compile(r"^\s*//\s?(.*)|(?:^|\s)//\s(.*)")
BEGINNING = re.compile(r"(Of|What(?!-if)|The same of|But for|As of)\b(?!.*\?$)")
WORDS = re.compile(r"\b(tells|told|asks|asked|wants|lies|stands|knows|nobody)\b(?![^\"]*\"[^\"]*$)", re.IGNORECASE)
MESSAGE = re.compile(r'"[^"]*\b(is no|are no|is in no) (?!longer)[^"]*"')


def comment_of(line):
    found = COMMENT.search(re.sub(r'"(\\.|[^"\\])*"', '""', line))
    return (found.group(1) if found.group(1) is not None else found.group(2)) if found else None


def faults(path, has_messages):
    before = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        comment = comment_of(line)
        starts = comment is not None and (before is None or not line.lstrip().startswith("//") or re.search(r"[.:;]$|^$", before))
        if starts and BEGINNING.match(comment):
            yield number, f"a comment begins with '{BEGINNING.match(comment).group(1)}'"
        if comment is not None and (word := WORDS.search(comment)):
            yield number, f"'{word.group(0)}' in a comment"
        if has_messages and comment is None and MESSAGE.search(line):
            yield number, "a message with 'is no'"
        before = comment if line.lstrip().startswith("//") else None


def main():
    root = pathlib.Path(sys.argv[1])
    count = 0
    for room in ROOMS:
        for path in sorted((root / room).rglob("*")):
            if path.suffix not in (".h", ".cpp", ".cu", ".cuh"):
                continue
            for number, fault in faults(path, room != "tests"):
                print(f"{path.relative_to(root)}:{number}: {fault}")
                count += 1
    print(f"{count} places")
    sys.exit(1 if count else 0)


main()
