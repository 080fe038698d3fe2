#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ids of 10,000 mixed lines for a small trained tokenizer of every kind, in every format that the kind has, and for every pre-tokenizer that
GGUF files name, against `tokenizers` and `sentencepiece`.

    compare_every_tokenizer.py TOKENIZE_LINES [--lines 10000] [--seed 1]

TOKENIZE_LINES is the built program tests/core/tokenize_lines. Nothing is fetched. Prints a line for each; exits with 1 where ids differ.
Needs: gguf, tokenizers, sentencepiece.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

from tokenizers import Regex, normalizers, pre_tokenizers

from make_tokenizers import GPT4O, QWEN2, byte_level, write_byte_level_gguf
from tokenizer_lines import LLAMA3

HERE = pathlib.Path(__file__).parent
SEED = QWEN2.replace(r"[^\s\p{L}\p{N}]+[\r\n]*|", r"[^\s\p{L}\p{N}\r\n]+|")
TEKKEN = GPT4O.replace(r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?", "").replace(r"\p{N}{1,3}", r"\p{N}")
DIGITS = dict(first=[pre_tokenizers.Digits(individual_digits=True)])
NFC = dict(normalizer=normalizers.NFC())

# What the tokenizer.json of a family says that llama.cpp's converter gives this name: pattern (None: GPT-2's) and what else there is.
DEEPSEEK = (r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
BY_THREES = dict(first=[pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"), pre_tokenizers.Split(Regex("[一-龥\u3040-ゟ゠-ヿ]+"), "isolated")])
BLOOM = r" ?[^(\s|[.,!?…。，、।۔،])]+"
NAMED = {
    "bloom": (BLOOM, {}), "gpt3-finnish": (BLOOM, {}), "deepseek-v3": (DEEPSEEK, BY_THREES), "hunyuan-dense": (DEEPSEEK, BY_THREES),
    "default": (None, {}), "gpt-2": (None, {}), "exaone4": (None, {}), "phi-2": (None, {}),
    "mpt": (None, NFC), "olmo": (None, NFC), "gpt-neox": (None, NFC),
    "smollm": (None, DIGITS), "starcoder": (None, DIGITS), "refact": (None, DIGITS), "command-r": (None, DIGITS | NFC),
    "llama-bpe": (LLAMA3, dict(ignore_merges=True)), "glm4": (LLAMA3, dict(ignore_merges=True)), "chatglm-bpe": (LLAMA3, {}), "dbrx": (LLAMA3, {}), "smaug-bpe": (LLAMA3, {}),
    "qwen2": (QWEN2, NFC), "deepseek-r1-qwen": (QWEN2, NFC), "megrez": (QWEN2, NFC), "stablelm2": (QWEN2, {}),
    "seed-coder": (SEED, {}), "gpt-4o": (GPT4O, {}), "llama4": (GPT4O, {}), "tekken": (TEKKEN, dict(ignore_merges=True)),
}


def make_named(folder):
    """[(name, model, reference)]"""
    made = []
    for name, (pattern, more) in NAMED.items():
        tokenizer = byte_level(pattern, 440, **more)
        path = folder / f"named-{name}"
        path.mkdir()
        (path / "tokenizer.json").write_text(tokenizer.to_str(pretty=False), encoding="utf-8")
        write_byte_level_gguf(folder / f"named-{name}.gguf", name, tokenizer)
        made.append((f"pre-tokenizer {name}", folder / f"named-{name}.gguf", path / "tokenizer.json"))
    return made


def make_kinds(folder):
    subprocess.run([sys.executable, HERE / "make_tokenizers.py", folder, "--all"], check=True, capture_output=True)
    made = []
    for path in sorted(folder.iterdir()):
        if path.suffix == ".gguf":
            own = folder / f"{path.stem}_model" / "tokenizer.model"
            made.append((path.name, path, own if own.exists() else folder / path.stem / "tokenizer.json"))
        elif path.is_dir():
            made.append((path.name, path, next(path.iterdir())))
    return made


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--lines", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, model, reference in make_kinds(folder) + make_named(folder):
            command = [sys.executable, HERE / "compare_tokenizer.py", args.program, model, "--reference", reference, "--lines", str(args.lines), "--seed", str(args.seed)]
            done = subprocess.run(command, capture_output=True, text=True)
            print(f"{name}: {done.stdout.strip() or done.stderr.strip()[-400:]}", flush=True)
            failed = failed or done.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
