# SPDX-License-Identifier: MIT
"""A transformers model of llama's, qwen2's or gemma2's kind as a GGUF file, as llama.cpp's converter writes it."""

import gguf
import numpy
import torch

ARCHITECTURES = {"LlamaForCausalLM": "llama", "Qwen2ForCausalLM": "qwen2", "Gemma2ForCausalLM": "gemma2"}


def llama_permute(weight, heads):
    """Half-split rotary rows to interleaved ones, as the converter does for llama only."""
    rows = weight.shape[0]
    return weight.reshape(heads, 2, rows // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def llama_unpermute(weight, heads):
    rows = weight.shape[0]
    return weight.reshape(heads, rows // heads // 2, 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def write_metadata(writer, config, architecture, tokenizer):
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_name("tiny")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    if architecture == "llama":
        writer.add_rope_dimension_count(head_dim)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
        writer.add_sliding_window(config.sliding_window)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    tokens = [text for text, _ in vocabulary]
    types = [gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL] * 2
    while len(tokens) < config.vocab_size:
        tokens.append(f"[PAD{len(tokens)}]")
        types.append(gguf.TokenType.UNUSED)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    writer.add_token_merges(["a b"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(258)


def rope_factors(config, head_dim):
    """llama3's scaling as llama.cpp's converter stores it: what each pair's frequency is divided by."""
    rope = config.rope_parameters
    frequencies = 1.0 / rope["rope_theta"] ** (torch.arange(0, head_dim, 2, dtype=torch.float32) / head_dim)
    original = rope["original_max_position_embeddings"]
    low, high = original / rope["low_freq_factor"], original / rope["high_freq_factor"]
    factors = []
    for frequency in frequencies:
        wavelength = 2 * torch.pi / frequency
        if wavelength < high:
            factors.append(1.0)
        elif wavelength > low:
            factors.append(rope["factor"])
        else:
            smooth = (original / wavelength - rope["low_freq_factor"]) / (rope["high_freq_factor"] - rope["low_freq_factor"])
            factors.append(float(1 / ((1 - smooth) / rope["factor"] + smooth)))
    return numpy.array(factors, dtype=numpy.float32)


def write_gguf(path, model, quantisation, tokenizer):
    """Writes the file, and gives the model the numbers that the file holds. quantisation: "Q8_0", or None for float."""
    architecture = ARCHITECTURES[type(model).__name__]
    config = model.config
    heads, key_value_heads = config.num_attention_heads, config.num_key_value_heads
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[architecture.upper()], config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, architecture)
    write_metadata(writer, config, architecture, tokenizer)
    for name, parameter in model.named_parameters():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = parameter.detach().numpy().copy()
        permuted = heads if "q_proj" in name else key_value_heads if "k_proj" in name else 0
        if architecture != "llama":
            permuted = 0
        if permuted:
            values = llama_permute(values, permuted)
        is_gemma_norm = architecture == "gemma2" and "norm" in name
        if is_gemma_norm:
            values = values + numpy.float32(1.0)
        target = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert target is not None, name
        if values.ndim == 1:
            writer.add_tensor(target, values)
            back = values
        else:
            kind = gguf.GGMLQuantizationType[quantisation] if quantisation else gguf.GGMLQuantizationType.F16
            packed = gguf.quants.quantize(values, kind)
            writer.add_tensor(target, packed, raw_dtype=kind)
            back = gguf.quants.dequantize(packed, kind)
        if permuted:
            back = llama_unpermute(back, permuted)
        if is_gemma_norm:
            back = back - numpy.float32(1.0)
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(numpy.ascontiguousarray(back)))
    if config.rope_parameters.get("rope_type") == "llama3":
        head_dim = config.head_dim
        writer.add_tensor("rope_freqs.weight", rope_factors(config, head_dim))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
