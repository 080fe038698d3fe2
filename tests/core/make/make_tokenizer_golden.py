#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tokenizer_golden.jsonl, a line {"text": TEXT, "ids": [ID, ...]} for each of some hundred seeded lines of mixed text.

    make_tokenizer_golden.py MODEL.gguf > tokenizer_golden.jsonl
"""
import json
import sys

from tokenizer_lines import build_tokenizer, make_lines

COUNT, SEED = 300, 7


def main():
    tokenizer, special = build_tokenizer(sys.argv[1])
    for line in make_lines(special, COUNT, SEED):
        print(json.dumps({"text": line, "ids": tokenizer.encode(line).ids}, separators=(",", ":")))


if __name__ == "__main__":
    main()
