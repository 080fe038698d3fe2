# SPDX-License-Identifier: MIT
"""GPT-2, GPTBigCode, BLOOM and Falcon of transformers as GGUF files, as llama.cpp's converter writes their architectures."""

import re

import gguf
import numpy
import torch

from tiny_gguf import write_tokenizer

ARCHITECTURES = {"GPT2LMHeadModel": "gpt2", "GPTBigCodeForCausalLM": "starcoder", "BloomForCausalLM": "bloom", "FalconForCausalLM": "falcon"}


def write_metadata(writer, config, architecture):
    writer.add_name("tiny")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(getattr(config, "seq_length", None) or getattr(config, "max_position_embeddings", config.hidden_size))
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(4 * config.hidden_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    if architecture == "bloom":
        writer.add_head_count_kv(config.num_attention_heads)
    if architecture == "starcoder":
        writer.add_head_count_kv(1)
    if architecture == "falcon":
        writer.add_tensor_data_layout("jploski")
        writer.add_head_count_kv(config.num_kv_heads if config.new_decoder_architecture else 1)


def in_order(values, heads, groups):
    """Queries, keys and values of each group become all queries, all keys and all values."""
    split = values.reshape(groups, heads // groups + 2, -1, *values.shape[1:])
    parts = (split[:, :-2], split[:, -2], split[:, -1])
    return numpy.concatenate([part.reshape(-1, *values.shape[1:]) for part in parts])


def rewritten(name, values, config, architecture):
    if architecture == "gpt2" and re.search(r"(c_attn|c_proj|c_fc)\.weight", name):
        return values.T
    if "query_key_value" in name:
        heads = config.num_attention_heads
        groups = heads if architecture == "bloom" else config.num_kv_heads if config.new_decoder_architecture else 1
        return in_order(values, heads, groups)
    return values


def write_gpt_gguf(path, model, tokenizer):
    """Writes the file in F16, and gives the model the numbers that the file holds."""
    architecture = ARCHITECTURES[type(model).__name__]
    config = model.config
    kind = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    names = gguf.get_tensor_name_map(kind, config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, architecture)
    write_metadata(writer, config, architecture)
    write_tokenizer(writer, config.vocab_size, tokenizer)
    for name, parameter in model.named_parameters():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        short = name.removeprefix("transformer.") if architecture == "bloom" else name
        target = names.get_name(short, try_suffixes=(".weight", ".bias"))
        assert target is not None, name
        if parameter.dim() > 1:
            with torch.no_grad():
                parameter.copy_(parameter.half().float())
        values = rewritten(name, parameter.detach().numpy(), config, architecture)
        values = values.astype(numpy.float32 if parameter.dim() == 1 else numpy.float16)
        writer.add_tensor(target, numpy.ascontiguousarray(values))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
