#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs seeded lines of mixed text through Midscope's tokenizer and through `tokenizers` or `sentencepiece`, and counts the lines whose
ids differ.

    compare_tokenizer.py TOKENIZE_LINES MODEL [--reference FILE] [--lines 12000] [--seed 1] [--every-character]

TOKENIZE_LINES is the built program tests/core/tokenize_lines; MODEL a .gguf file or a folder. FILE is the tokenizer.json or
tokenizer.model to hold it against: by default the folder's, or for byte-level GGUF a BPE built from the file's own vocabulary.
--every-character adds, for every code point, a line where it stands alone, after a space, and between letters. Lines that are the same
without characters of later Unicode versions (by Perl's tables) are counted apart. Exits with 1 where another line differs.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

from tokenizer_lines import build_tokenizer, make_lines


def encode_with_sentencepiece(processor, line):
    """Ids of the text between control tokens, with the tokens themselves where they are written out."""
    control = [processor.id_to_piece(i) for i in range(processor.get_piece_size()) if processor.is_control(i) or processor.is_unknown(i)]
    ids = []
    for part in re.split("(" + "|".join(map(re.escape, control)) + ")", line):
        ids += [processor.piece_to_id(part)] if part in control else processor.encode(part)
    return ids


def ties_of(reference):
    """Whether two lists of ids are the same text at the same score: cuts that are equally good, of which versions of `sentencepiece` take
    different ones."""
    if not str(reference).endswith(".model"):
        return lambda left, right: False
    from sentencepiece import SentencePieceProcessor
    processor = SentencePieceProcessor(model_file=str(reference))
    text = lambda ids: "".join(map(processor.id_to_piece, ids))
    score = lambda ids: sum(map(processor.get_score, ids))
    return lambda left, right: text(left) == text(right) and abs(score(left) - score(right)) < 1e-3


# Characters whose category changed after Unicode 8: marks or letters that were punctuation or marks.
CHANGED = "\u166d\u1cf2\u1cf3\U000111c9"


def without_new_characters(line):
    """The line without characters that Unicode 8 (2015) does not have or whose category changed since. Different tables know different ones
    of them: the Rust crates unicode_categories (punctuation, marks) those of Unicode 8, unicode-normalization-alignments those of 13, Rust's
    own functions and regex (digits, lower case, words) those of 16 or later; Midscope's PCRE2 those of 14, its utf8proc those of 15."""
    characters = sorted({c for c in line if ord(c) > 0x7f})
    done = subprocess.run(["perl", "-ne", r"chomp; print chr(hex($_)) =~ /\p{Present_In: 8.0}/ ? 1 : 0"],
                          input="".join(f"{ord(c):x}\n" for c in characters), capture_output=True, text=True, check=True)
    new = {c for c, old in zip(characters, done.stdout) if old == "0"} | set(CHANGED)
    return "".join(c for c in line if c not in new)


def make_reference(model, reference):
    """(ids of a line, texts of the special tokens)"""
    if reference is None and pathlib.Path(model).is_dir():
        reference = next(path for name in ("tokenizer.json", "tokenizer.model") if (path := pathlib.Path(model) / name).exists())
    if reference is None:
        tokenizer, special = build_tokenizer(model)
        return lambda line: tokenizer.encode(line).ids, special
    if str(reference).endswith(".model"):
        from sentencepiece import SentencePieceProcessor
        processor = SentencePieceProcessor(model_file=str(reference))
        return lambda line: encode_with_sentencepiece(processor, line), ["<s>", "</s>"]
    from tokenizers import Tokenizer
    tokenizer = Tokenizer.from_file(str(reference))
    special = [token.content for token in tokenizer.get_added_tokens_decoder().values()] or ["<unk>"]
    return lambda line: tokenizer.encode(line, add_special_tokens=False).ids, special


def ids_of(text):
    return [[int(i) for i in line.split()] for line in text.split("\n")[:-1]]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("model")
    parser.add_argument("--reference")
    parser.add_argument("--lines", type=int, default=12000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--every-character", action="store_true")
    args = parser.parse_args()
    encode, special = make_reference(args.model, args.reference)
    lines = make_lines(special, args.lines, args.seed)
    if args.every_character:
        codes = [c for c in range(0x110000) if not 0xD800 <= c < 0xE000]
        lines += [f"{chr(c)} {chr(c)}a{chr(c)}1{chr(c)}{chr(c)} .{chr(c)}" for c in codes]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    done = subprocess.run([args.program, args.model], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr)
    got = ids_of(done.stdout)
    assert len(got) == len(lines), (len(got), len(lines))
    differ = [i for i, line in enumerate(lines) if encode(line) != got[i]]
    equally_good = ties_of(args.reference or "")
    ties = [i for i in differ if equally_good(encode(lines[i]), got[i])]
    differ = [i for i in differ if i not in ties]
    known = [without_new_characters(lines[i]) for i in differ]
    done = subprocess.run([args.program, args.model], input="".join(json.dumps(line) + "\n" for line in known), capture_output=True, text=True)
    newer = [i for i, line, ids in zip(differ, known, ids_of(done.stdout)) if encode(line) == ids]
    differ = [i for i in differ if i not in newer]
    characters = sum(len(line) for line in lines)
    print(f"{len(lines)} lines, {characters} characters, {sum(map(len, got))} tokens: {len(differ)} lines differ" + (f", {len(ties)} are cut in another way that is as good" if ties else "") +
          (f", {len(newer)} by characters that came or changed after Unicode 8 alone" if newer else ""))
    for i in differ[:20]:
        print(f"  {lines[i]!r}\n    reference  {encode(lines[i])}\n    midscope   {got[i]}")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
