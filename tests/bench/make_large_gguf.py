#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A GGUF file with the shape of a large model (large_shapes.py) and random weights of one block type, to time loading and prefill with.

    make_large_gguf.py OUT.gguf [TYPE [LAYERS [SHAPE]]]        (needs gguf, numpy)

TYPE: Q4_0, Q8_0, Q4_K, Q5_K, Q6_K, IQ4_NL, IQ4_XS. SHAPE: 7b, 7b-64, 8b. A file of 7b with Q4_0 and 32 layers has 3.8 GB. Blocks are random bytes under scales that keep activations ordinary, so the model
says nothing, at the speed of one that does. The vocabulary is 256 byte tokens and fillers.
"""
import sys

import gguf
import numpy

from large_shapes import CONTEXT, LAYERS, SHAPES, VOCABULARY

# Where a block's binary16 scales lie, and about how large the rest of a weight is.
SCALES = {
    "Q4_0": ([0], 4.6), "Q8_0": ([0], 74), "IQ4_NL": ([0], 70), "Q4_K": ([0, 2], 300), "Q5_K": ([0, 2], 600),
    "Q6_K": ([208], 1300), "IQ4_XS": ([0], 1300),
}
DEVIATION = 0.02  # of weights, as in trained models of this width


def blocks(kind, rows, columns, random):
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    count = rows * columns // elements
    data = random.integers(0, 256, (count, size), dtype=numpy.uint8)
    places, spread = SCALES[kind.name]
    for place in places:
        scale = (DEVIATION / spread * random.uniform(0.5, 1.5, count)).astype(numpy.float16)
        data[:, place:place + 2] = scale.view(numpy.uint8).reshape(count, 2)
    return data.reshape(rows, columns // elements * size)


def byte_character(byte):
    """As byte-level tokenizers write a byte."""
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    return chr(byte) if byte in printable else chr(256 + [b for b in range(256) if b not in printable].index(byte))


def write_metadata(writer, layers, shape):
    writer.add_name("random")
    writer.add_block_count(layers)
    writer.add_context_length(CONTEXT)
    writer.add_embedding_length(shape.hidden)
    writer.add_feed_forward_length(shape.feed_forward)
    writer.add_head_count(shape.heads)
    writer.add_head_count_kv(shape.key_value_heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(shape.hidden // shape.heads)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(VOCABULARY)
    tokens = [byte_character(byte) for byte in range(256)] + ["ab", "<|end|>"]
    types = [gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL]
    types += [gguf.TokenType.UNUSED] * (VOCABULARY - len(tokens))
    tokens += [f"[PAD{i}]" for i in range(len(tokens), VOCABULARY)]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(257)
    writer.add_add_bos_token(False)


def main():
    path = sys.argv[1]
    kind = gguf.GGMLQuantizationType[sys.argv[2] if len(sys.argv) > 2 else "Q4_0"]
    layers = int(sys.argv[3]) if len(sys.argv) > 3 else LAYERS
    shape = SHAPES[sys.argv[4] if len(sys.argv) > 4 else "7b"]
    keys = shape.hidden // shape.heads * shape.key_value_heads
    random = numpy.random.default_rng(1)
    writer = gguf.GGUFWriter(path, "llama", use_temp_file=False)
    write_metadata(writer, layers, shape)
    made = {}

    def add(name, rows, columns, of=None):
        # The same numbers in every layer: making them anew would take longer than all else.
        key = of or name
        if key not in made:
            made[key] = blocks(kind, rows, columns, random)
        writer.add_tensor(name, made[key], raw_dtype=kind)

    add("token_embd.weight", VOCABULARY, shape.hidden)
    add("output.weight", VOCABULARY, shape.hidden)
    ones = numpy.ones(shape.hidden, dtype=numpy.float32)
    writer.add_tensor("output_norm.weight", ones)
    for layer in range(layers):
        block = f"blk.{layer}."
        for part in ("attn_q", "attn_output"):
            add(f"{block}{part}.weight", shape.hidden, shape.hidden, part)
        for part in ("attn_k", "attn_v"):
            add(f"{block}{part}.weight", keys, shape.hidden, part)
        for part in ("ffn_gate", "ffn_up"):
            add(f"{block}{part}.weight", shape.feed_forward, shape.hidden, part)
        add(f"{block}ffn_down.weight", shape.hidden, shape.feed_forward, "ffn_down")
        writer.add_tensor(f"{block}attn_norm.weight", ones)
        writer.add_tensor(f"{block}ffn_norm.weight", ones)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
