# SPDX-License-Identifier: MIT
"""Seeded lines of mixed text, and the `tokenizers` BPE to hold Midscope's tokenizer against.

The BPE is built from the GGUF file's own vocabulary and merges, with the pre-tokenizer that the file names (for `smollm`: digits one by
one, then byte-level). Needs: gguf, tokenizers.
"""
import random

from gguf import GGUFReader
from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel, Digits, Sequence, Split

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+"
          r"|\s+(?!\S)|\s+")

WORDS = """the of and position attention middle Hello world capital France I'm don't we've they'll she'd it's CAN'T naïve café
Straße Ελλάδα мир здравствуй שלום עולם مرحبا بالعالم नमस्ते สวัสดี 안녕하세요 こんにちは 世界 中文 日本語 ﬁne ſhe's ǅ""".split()
CODE = ["def f(x):\n\treturn x**2 + 1", "for (int i = 0; i < n; ++i) {", "    if (a && b) return nullptr;", "}\n\n\n", "#include <vector>",
        "SELECT * FROM t WHERE a != 'b';", "x = [1, 2.5e-3, 0xFF];  // note", "<div class=\"a\">&amp;</div>", "$ ls -la | grep '.md'",
        "{\"key\": [null, true, -1.0]}", "\\frac{a}{b}_{i}^{2}", "https://example.org/a?b=c&d=%20e#f", "a_b-c.d/e\\f|g~h`i"]
EMOJI = ["😀", "👩‍👩‍👧‍👦", "🏳️‍🌈", "👍🏽", "🇫🇷", "❤️", "☎", "𝒳", "𐍈", "🫠", "©", "™", "1️⃣"]
COMBINING = ["e\u0301", "a\u0300\u0323", "Z\u0351\u036b\u0343a\u0334l\u0317g\u0353o", "क्षि", "ำ", "\u0301", "o\u0308\u0304", "ﷺ", "각"]
NUMBERS = ["0", "12", "123", "1234567890", "3.14", "½", "①", "Ⅻ", "٣٤٥", "۴۵", "१२३", "²", "१", "〇", "一二", "𝟙𝟚", "1,000", "v2.0", "٪", "㉈"]
SPACES = [" ", "  ", "   ", " " * 7, " " * 17, "\t", "\t\t\t", " \t ", "\u00a0", "\u2003", "\u3000", "\u200b", "\u180e", "\u2028", "\u0085", "\v",
          "\f", "\u202f", "\ufeff"]
NEWLINES = ["\n", "\r\n", "\r", "\n\n", " \n", "\n ", "\n\t", "\r\n\r\n", "\u2029"]
RIGHT_TO_LEFT = ["\u200f", "\u202e", "\u2067אבג\u2069", "שָׁלוֹם", "السَّلام", "\u061c"]
SPECIAL_NEAR = ["<|im_start", "|im_end|>", "<|IM_START|>", "<|endoftext |>", "<<|im_end|>>", "<repo_name", "<|im_start|><|im_end|>", "<", "<|"]


def character(rng):
    """Any assigned or unassigned code point but the surrogates, most often from the lower planes."""
    while True:
        code = rng.randrange(rng.choice([0x80, 0x250, 0x3000, 0x10000, 0x20000, 0x110000]))
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def make_line(rng, special):
    sources = [lambda: rng.choice(WORDS), lambda: rng.choice(CODE), lambda: rng.choice(EMOJI), lambda: rng.choice(COMBINING),
               lambda: rng.choice(NUMBERS), lambda: rng.choice(SPACES), lambda: rng.choice(NEWLINES), lambda: rng.choice(RIGHT_TO_LEFT),
               lambda: rng.choice(special), lambda: rng.choice(SPECIAL_NEAR), lambda: chr(rng.randrange(0x20)), lambda: " ",
               lambda: " " + rng.choice(WORDS), lambda: "".join(character(rng) for _ in range(rng.randint(1, 6))),
               lambda: " " + rng.choice(NUMBERS), lambda: chr(rng.randrange(33, 127)) * rng.randint(1, 9)]
    # A line has a theme or none, so that both pure and mixed runs come up.
    few = rng.sample(sources, rng.randint(1, 4)) if rng.random() < 0.5 else sources
    return "".join(rng.choice(few)() for _ in range(rng.randint(1, 24)))


def make_lines(special, count, seed):
    rng = random.Random(seed)
    return [make_line(rng, special) for _ in range(count)]


def build_tokenizer(path):
    """(the BPE, texts of the special tokens)"""
    fields = GGUFReader(path).fields
    tokens = fields["tokenizer.ggml.tokens"].contents()
    types = fields["tokenizer.ggml.token_type"].contents()
    merges = [tuple(merge.split(" ")) for merge in fields["tokenizer.ggml.merges"].contents()]
    pre = fields["tokenizer.ggml.pre"].contents()
    llama3 = pre in ("llama-bpe", "llama3")
    tokenizer = Tokenizer(BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges, ignore_merges=llama3))
    if pre == "smollm":
        tokenizer.pre_tokenizer = Sequence([Digits(individual_digits=True), ByteLevel(add_prefix_space=False)])
    elif llama3:
        tokenizer.pre_tokenizer = Sequence([Split(Regex(LLAMA3), "isolated"), ByteLevel(add_prefix_space=False, use_regex=False)])
    elif pre in ("default", "gpt-2", "gpt2"):
        tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    else:
        raise SystemExit(f"unknown pre-tokenizer {pre}")
    special = [token for token, kind in zip(tokens, types) if kind in (2, 3, 4)]
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in special])
    return tokenizer, special
