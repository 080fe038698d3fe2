# SPDX-License-Identifier: MIT
"""A tiny model with a token per byte, to be trained from scratch in minutes, and texts from which it learns to copy."""

from __future__ import annotations

import json
import os
import pathlib
import random
import struct
from typing import Any

PRINTED = [*range(33, 127), *range(161, 173), *range(174, 256)]  # bytes that GPT-2's byte-level vocabulary writes as themselves


def make_tiny_model(folder: str | os.PathLike[str], *, layers: int = 2, hidden: int = 64, heads: int = 4, context: int = 512) -> str:
    """Writes the folder of a llama whose tokens are bytes. All its weights are zeros: train it from ``FOLDER@init:SEED``.

    Args:
        folder: made if it does not exist; files of the same names are replaced.
        layers, hidden, heads: the model's size; the MLP has twice the hidden width.
        context: ``max_position_embeddings``, the tokens that it is said to be trained for.

    Returns:
        FOLDER@init, a name for ``tune`` and ``load``.

    Raises:
        ValueError: hidden is not a multiple of 2 heads, which rotary positions need.

    Example:
        >>> model = midscope.make_tiny_model("tiny")
        >>> run = midscope.tune(model, "trained", "full", tokens=512, factor=1, task="passkey:tokens=480", steps=1)
    """
    if hidden % (2 * heads):
        raise ValueError(f"hidden: {hidden} must be a multiple of 2 heads, which is {2 * heads}")
    others = iter(range(256, 512))
    letters = [chr(byte if byte in PRINTED else next(others)) for byte in range(256)]
    vocabulary = {"<s>": 0} | {letter: byte + 1 for byte, letter in enumerate(letters)}
    config = {"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": hidden, "intermediate_size": 2 * hidden,
              "num_hidden_layers": layers, "num_attention_heads": heads, "num_key_value_heads": heads, "head_dim": hidden // heads,
              "vocab_size": len(vocabulary), "max_position_embeddings": context, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
              "hidden_act": "silu", "tie_word_embeddings": False, "bos_token_id": 0, "eos_token_id": 0, "initializer_range": 0.1}
    special = {"id": 0, "content": "<s>", "single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer = {"version": "1.0", "added_tokens": [special], "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None,
                 "decoder": byte_level, "model": {"type": "BPE", "vocab": vocabulary, "merges": []}}
    where = pathlib.Path(folder)
    where.mkdir(parents=True, exist_ok=True)
    for name, value in {"config.json": config, "tokenizer.json": tokenizer,
                        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "eos_token": "<s>"}}.items():
        (where / name).write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")
    _write_zeros(where / "model.safetensors", layers, hidden, len(vocabulary))
    return f"{os.fspath(folder)}@init"


def _write_zeros(path: pathlib.Path, layers: int, hidden: int, vocabulary: int) -> None:
    shapes = {"model.embed_tokens.weight": [vocabulary, hidden], "lm_head.weight": [vocabulary, hidden], "model.norm.weight": [hidden]}
    for layer in range(layers):
        in_layer = {f"self_attn.{letter}_proj.weight": [hidden, hidden] for letter in "qkvo"}
        in_layer |= {"input_layernorm.weight": [hidden], "post_attention_layernorm.weight": [hidden],
                     "mlp.gate_proj.weight": [2 * hidden, hidden], "mlp.up_proj.weight": [2 * hidden, hidden],
                     "mlp.down_proj.weight": [hidden, 2 * hidden]}
        shapes |= {f"model.layers.{layer}.{name}": shape for name, shape in in_layer.items()}
    header: dict[str, Any] = {}
    end = 0
    for name, shape in shapes.items():
        begin, end = end, end + 4 * (shape[0] * shape[1] if len(shape) == 2 else shape[0])
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        file.truncate(8 + len(text) + end)


def write_repeated_texts(path: str | os.PathLike[str], documents: int, *, tokens: int = 128, longest_gap: int = 0,
                         seed: int = 1) -> None:
    """Writes documents in which a random string repeats: from them a model learns to find what stood after the same letters
    before (an induction head), which retrieving from a context is built on.

    Args:
        path: a .jsonl file; each line has the field ``text``, of ``tokens`` letters of ASCII.
        documents: their number. tokens: letters of each. seed: equal seeds give equal files.
        longest_gap: 0: a string of 8 to 60 letters follows itself. Otherwise one of 8 to 40 letters, with runs of one letter of
            up to this length between, so that the model learns to find over distances.

    Example:
        >>> midscope.write_repeated_texts("repeated.jsonl", 100)
    """
    draw = random.Random(seed)
    letters = [chr(byte) for byte in range(33, 127) if byte != ord("<")]  # so that no text has the token <s>
    with open(path, "w", encoding="utf-8") as file:
        for _ in range(documents):
            word = "".join(draw.choices(letters, k=draw.randint(8, 40 if longest_gap else 60)))
            longest = int(longest_gap * draw.choice([0.05, 0.15, 0.5, 1]))  # in this document
            text = word[draw.randrange(len(word)):]
            while len(text) < tokens:
                text += draw.choice(letters) * draw.randint(0, longest) + word
            file.write(json.dumps({"text": text[:tokens]}) + "\n")
