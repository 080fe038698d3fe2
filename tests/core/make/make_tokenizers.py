#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Trains a small tokenizer of each kind and writes it in every format that the kind has, with the ids that `tokenizers` and
`sentencepiece` give for some seeded lines.

    make_tokenizers.py FOLDER [--all] [--full-normalisation]

Writes FOLDER/KIND/tokenizer.json, FOLDER/KIND_model/tokenizer.model, FOLDER/KIND.gguf and
FOLDER/golden.jsonl, a line {"kind": KIND, "text": TEXT, "ids": [ID, ...]} each; kinds that end in _model are of `sentencepiece`.
--all: also the kinds that are not committed (they share their parts with others), and more lines. --full-normalisation: SentencePiece's nmt_nfkc rules (240 kB) instead of some dozen of them. Needs: gguf, tokenizers, sentencepiece.
"""
import argparse
import collections
import json
import pathlib
import re
import shutil

import gguf
import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from compare_tokenizer import encode_with_sentencepiece
from tokenizer_lines import LLAMA3, make_lines

QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")
GPT4O = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GOLDEN_LINES, GOLDEN_SEED, CORPUS_LINES, CORPUS_SEED = 20, 7, 3000, 100
ONLY_WITH_ALL = ["gpt2", "gpt2.gguf", "smollm", "smollm.gguf", "gpt4o", "gpt4o.gguf", "gemma.gguf", "llama3.gguf", "unigram_bytes_model"]
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
RULES = [("ﬁ", "fi"), ("ſ", "s"), ("①", "1"), ("½", "1⁄2"), ("Ⅻ", "XII"), ("²", "2"), ("™", "TM"), ("㉈", "10"), ("\u3000", " "),
         ("\u00a0", " "), ("\u2003", " "), ("\u200b", " "), ("\t", " "), ("e\u0301", "é"), ("o\u0308\u0304", "ȫ"), ("𝒳", "X"), ("𝟙", "1"),
         ("ǅ", "Dž"), ("\ufeff", " ")]


def corpus():
    return make_lines([" "], CORPUS_LINES, CORPUS_SEED)


def byte_level(pattern, vocabulary, normalizer=None, first=(), ignore_merges=False, special=SPECIAL):
    tokenizer = Tokenizer(models.BPE(ignore_merges=ignore_merges))
    if normalizer:
        tokenizer.normalizer = normalizer
    if pattern is None:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([*first, pre_tokenizers.ByteLevel(add_prefix_space=False)])
    else:
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
            *first, pre_tokenizers.Split(Regex(pattern), "isolated"), pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(vocab_size=vocabulary, special_tokens=special, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(corpus(), trainer)
    return tokenizer


def flagged(tokenizer):
    """Added tokens with each of the flags."""
    tokenizer.add_tokens([AddedToken("<left>", lstrip=True, normalized=False), AddedToken("<right>", rstrip=True, normalized=False),
                          AddedToken("word", single_word=True, normalized=False), AddedToken("caf\u0065\u0301", normalized=True),
                          AddedToken("<both>", lstrip=True, rstrip=True, normalized=True)])
    return tokenizer


def train_pieces(folder, kind, model_type, vocabulary, **more):
    """The bytes of a tokenizer.model."""
    text = folder / "corpus.txt"
    counts = collections.Counter(character for line in corpus() for character in line)
    # The characters that come up by chance would fill the vocabulary; they are to be unknown ones.
    kept = {character for character, _ in counts.most_common(180)} - set("\n\0")
    text.write_text("\n".join("".join(c for c in line if c in kept) for line in corpus()), encoding="utf-8")
    sentencepiece.SentencePieceTrainer.train(
        input=str(text), model_prefix=str(folder / "trained"), model_type=model_type, vocab_size=vocabulary, character_coverage=1.0,
        num_threads=1, minloglevel=2, hard_vocab_limit=False, **more)
    model = (folder / "trained.model").read_bytes()
    for leftover in ("corpus.txt", "trained.model", "trained.vocab"):
        (folder / leftover).unlink()
    (folder / f"{kind}_model").mkdir(exist_ok=True)
    (folder / f"{kind}_model" / "tokenizer.model").write_bytes(model)
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def pieces_of(processor):
    return [(processor.id_to_piece(i), processor.get_score(i)) for i in range(processor.get_piece_size())]


def merges_of(processor):
    """As transformers' convert_slow_tokenizer finds them: every cut of a piece into two pieces, by the piece's score."""
    pieces = dict(pieces_of(processor))
    ids = {piece: i for i, piece in enumerate(pieces)}
    merges = []
    for piece, score in pieces.items():
        own = [(piece[:i], piece[i:], score) for i in range(1, len(piece)) if piece[:i] in pieces and piece[i:] in pieces]
        merges += sorted(own, key=lambda merge: (ids[merge[0]], ids[merge[1]]))
    return [(left, right) for left, right, _ in sorted(merges, key=lambda merge: merge[2], reverse=True)]


def character_pairs(processor, normalizer, pre_tokenizer):
    tokenizer = Tokenizer(models.BPE({piece: i for i, (piece, _) in enumerate(pieces_of(processor))}, merges_of(processor),
                                     unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizer
    if pre_tokenizer:
        tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()])
    tokenizer.add_special_tokens([AddedToken(piece, normalized=False, special=True) for piece in ("<unk>", "<s>", "</s>")])
    tokenizer.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 1)])
    return tokenizer


def write_gguf(path, model, tokens, types, pre=None, scores=None, merges=None, **more):
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_tokenizer_model(model)
    if pre:
        writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    if scores:
        writer.add_token_scores(scores)
    if merges:
        writer.add_token_merges(merges)
    for key, value in more.items():
        getattr(writer, "add_" + key)(value)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def write_byte_level_gguf(path, pre, tokenizer):
    described = json.loads(tokenizer.to_str())
    tokens = sorted(tokenizer.get_vocab(with_added_tokens=True).items(), key=lambda item: item[1])
    kinds = {added["id"]: 3 if added["special"] else 4 for added in described["added_tokens"]}
    merges = [" ".join(merge) for merge in described["model"]["merges"]]
    write_gguf(path, "gpt2", [text for text, _ in tokens], [kinds.get(i, 1) for _, i in tokens], pre, merges=merges)


def write_pieces_gguf(path, model, processor, charsmap=None, space_prefix=True, remove_spaces=False):
    kinds = [2 if processor.is_unknown(i) else 3 if processor.is_control(i) else 6 if processor.is_byte(i) else 5 if processor.is_unused(i)
             else 4 if processor.id_to_piece(i).startswith("<user") else 1 for i in range(processor.get_piece_size())]
    pieces = pieces_of(processor)
    more = {"precompiled_charsmap": charsmap} if charsmap else {}
    write_gguf(path, model, [piece for piece, _ in pieces], kinds, scores=[score for _, score in pieces], add_space_prefix=space_prefix,
               remove_extra_whitespaces=remove_spaces, bos_token_id=1, eos_token_id=2, **more)


def fields_of(message):
    """(number of the field, its bytes) of a protocol buffer's fields of bytes."""
    def varint():
        nonlocal at
        number = shift = 0
        while True:
            byte = message[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number
    at = 0
    while at < len(message):
        tag = varint()
        if tag & 7 == 2:
            length = varint()
            yield tag >> 3, message[at:at + length]
            at += length
        elif tag & 7 == 0:
            varint()
        else:
            at += {1: 8, 5: 4}[tag & 7]


def normalisation_of(model):
    """The compiled rules (normalizer_spec.precompiled_charsmap) of a tokenizer.model."""
    normalizer, = [value for field, value in fields_of(model) if field == 3]
    rules, = [value for field, value in fields_of(normalizer) if field == 2]
    return rules


def make_byte_level(folder):
    made = {
        "gpt2": byte_level(None, 420),
        "smollm": byte_level(None, 400, first=[pre_tokenizers.Digits(individual_digits=True)]),
        "llama3": byte_level(LLAMA3, 480, ignore_merges=True),
        "qwen2": byte_level(QWEN2, 420, normalizer=normalizers.NFC()),
        "gpt4o": byte_level(GPT4O, 420),
    }
    for kind, pre in [("gpt2", "gpt-2"), ("smollm", "smollm"), ("llama3", "llama-bpe"), ("qwen2", "qwen2"), ("gpt4o", "gpt-4o")]:
        write_byte_level_gguf(folder / f"{kind}.gguf", pre, made[kind])
    made["flags"] = flagged(byte_level(None, 400, normalizer=normalizers.NFC()))
    return made


def make_pieces(folder, full):
    made = {}
    pairs = train_pieces(folder, "llama2", "bpe", 600, byte_fallback=True, normalization_rule_name="identity", split_digits=True,
                         remove_extra_whitespaces=False, allow_whitespace_only_pieces=True)
    made["llama2"] = character_pairs(pairs, normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]), None)
    made["llama2_first"] = character_pairs(pairs, None, pre_tokenizers.Metaspace(prepend_scheme="first", split=False))
    write_pieces_gguf(folder / "llama2.gguf", "llama", pairs)

    gemma = train_pieces(folder, "gemma", "bpe", 600, byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=False,
                         remove_extra_whitespaces=False, allow_whitespace_only_pieces=True, user_defined_symbols=["<user_turn>", "<user_end>"])
    made["gemma"] = character_pairs(gemma, normalizers.Replace(" ", "▁"), pre_tokenizers.Split(" ", "merged_with_previous"))
    made["gemma"].add_tokens([AddedToken("<user_turn>", normalized=False), AddedToken("<user_end>", normalized=False)])
    write_pieces_gguf(folder / "gemma.gguf", "llama", gemma, space_prefix=False)

    rules = folder / "rules.tsv"
    if full:
        unigram = train_pieces(folder, "unigram", "unigram", 700, normalization_rule_name="nmt_nfkc")
    else:
        rules.write_text("".join("\t".join(" ".join(f"{ord(c):X}" for c in side) for side in rule) + "\n" for rule in RULES))
        unigram = train_pieces(folder, "unigram", "unigram", 700, normalization_rule_tsv=str(rules))
        rules.unlink()
    charsmap = normalisation_of(unigram.serialized_model_proto())
    tokenizer = Tokenizer(models.Unigram(pieces_of(unigram), 0, False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Precompiled(charsmap), normalizers.Strip(left=False, right=True),
                                                 normalizers.Replace(Regex(" {2,}"), "▁")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.add_special_tokens(["<unk>", "<s>", "</s>"])
    made["unigram"] = tokenizer
    write_pieces_gguf(folder / "unigram.gguf", "t5", unigram, charsmap=charsmap, remove_spaces=True)

    fallback = train_pieces(folder, "unigram_bytes", "unigram", 800, byte_fallback=True, normalization_rule_name="identity",
                            remove_extra_whitespaces=False)
    tokenizer = Tokenizer(models.Unigram(pieces_of(fallback), 0, True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True),
                                                       pre_tokenizers.Punctuation("merged_with_next"), pre_tokenizers.Metaspace()])
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase(), normalizers.Strip()])
    made["unigram_bytes"] = tokenizer
    return made


def make_mixed():
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Whitespace(), pre_tokenizers.Punctuation("contiguous"), pre_tokenizers.Digits(),
        pre_tokenizers.Split(Regex(r"[aeiou]+"), "merged_with_next"), pre_tokenizers.CharDelimiterSplit("x")])
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(vocab_size=500, limit_alphabet=80, special_tokens=["<unk>"],
                                                                show_progress=False))
    return {"mixed": tokenizer}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--full-normalisation", action="store_true")
    args = parser.parse_args()
    args.folder.mkdir(parents=True, exist_ok=True)
    made = make_byte_level(args.folder) | make_pieces(args.folder, args.full_normalisation) | make_mixed()
    golden = []
    lines = GOLDEN_LINES * (10 if args.all else 1)
    for number, (kind, tokenizer) in enumerate(made.items()):
        if kind in ONLY_WITH_ALL and not args.all:
            continue
        (args.folder / kind).mkdir(exist_ok=True)
        (args.folder / kind / "tokenizer.json").write_text(tokenizer.to_str(pretty=False), encoding="utf-8")
        special = [token.content for token in tokenizer.get_added_tokens_decoder().values()] or ["<unk>"]
        for line in make_lines(special, lines, GOLDEN_SEED + number):
            golden.append({"kind": kind, "text": line, "ids": tokenizer.encode(line, add_special_tokens=False).ids})
    for kind in ("llama2", "gemma", "unigram"):
        processor = sentencepiece.SentencePieceProcessor(model_file=str(args.folder / f"{kind}_model" / "tokenizer.model"))
        for line in make_lines(["<s>", "</s>"], lines, GOLDEN_SEED + 100):
            # Versions of the library break ties between equally probable cuts (of runs of one character) in different ways.
            if kind == "unigram" and re.search(r"(.)\1\1", line):
                continue
            golden.append({"kind": f"{kind}_model", "text": line, "ids": encode_with_sentencepiece(processor, line)})
    for name in ([] if args.all else ONLY_WITH_ALL):
        path = args.folder / name
        if path.is_dir():
            shutil.rmtree(path)
        elif path.exists():
            path.unlink()
    with open(args.folder / "golden.jsonl", "w", encoding="utf-8") as file:
        for entry in golden:
            file.write(json.dumps(entry, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
