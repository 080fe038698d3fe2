#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs seeded lines of mixed text through Midscope's tokenizer and through `tokenizers`, and counts the lines whose ids differ.

    compare_tokenizer.py TOKENIZE_LINES MODEL.gguf [--lines 12000] [--seed 1] [--every-character]

TOKENIZE_LINES is the built program tests/core/tokenize_lines. --every-character adds, for every code point, a line where it stands
alone, after a space, and between letters. Exits with 1 where a line differs.
"""
import argparse
import json
import subprocess
import sys

from tokenizer_lines import build_tokenizer, make_lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--lines", type=int, default=12000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every-character", action="store_true")
    args = parser.parse_args()
    tokenizer, special = build_tokenizer(args.model)
    lines = make_lines(special, args.lines, args.seed)
    if args.every_character:
        codes = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
        lines += [f"{chr(c)} {chr(c)}a{chr(c)}1{chr(c)}{chr(c)} .{chr(c)}" for c in codes]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([args.program, args.model], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    got = [[int(i) for i in line.split()] for line in done.stdout.split("\n")[:-1]]
    assert len(got) == len(lines), (len(got), len(lines))
    differ = [i for i, line in enumerate(lines) if tokenizer.encode(line).ids != got[i]]
    characters = sum(len(line) for line in lines)
    print(f"{len(lines)} lines, {characters} characters, {sum(map(len, got))} tokens: {len(differ)} lines differ")
    for i in differ[:20]:
        print(f"  {lines[i]!r}\n    tokenizers {tokenizer.encode(lines[i]).ids}\n    midscope   {got[i]}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
