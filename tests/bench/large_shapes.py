# SPDX-License-Identifier: MIT
"""Shapes of large models whose weights are random: make_large_gguf.py makes their files, transformers_device.py the same models."""
from typing import NamedTuple

VOCABULARY, LAYERS, CONTEXT = 32000, 32, 4096


class Shape(NamedTuple):
    hidden: int
    heads: int
    key_value_heads: int
    feed_forward: int


SHAPES = {
    "7b": Shape(4096, 32, 32, 11008),  # Llama 2 7B
    "7b-64": Shape(4096, 64, 64, 11008),  # the same with heads of 64
    "8b": Shape(4096, 32, 8, 14336),  # Llama 3 8B, Mistral 7B
}
