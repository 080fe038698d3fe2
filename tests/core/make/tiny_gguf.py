# SPDX-License-Identifier: MIT
"""A transformers model of llama's, qwen2's or gemma2's kind as a GGUF file, as llama.cpp's converter writes it."""

import gguf
import numpy
import torch

ARCHITECTURES = {
    "LlamaForCausalLM": "llama",
    "Qwen2ForCausalLM": "qwen2",
    "Gemma2ForCausalLM": "gemma2",
    "MixtralForCausalLM": "llama",
    "Qwen2MoeForCausalLM": "qwen2moe",
    "Qwen3MoeForCausalLM": "qwen3moe",
    "OlmoeForCausalLM": "olmoe",
    "Glm4MoeForCausalLM": "glm4moe",
    "GraniteForCausalLM": "granite",
    "CohereForCausalLM": "command-r",
    "Cohere2ForCausalLM": "cohere2",
    "OlmoForCausalLM": "olmo",
    "Starcoder2ForCausalLM": "starcoder2",
    "StableLmForCausalLM": "stablelm",
    "PhiForCausalLM": "phi2",
    "NemotronForCausalLM": "nemotron",
    "SeedOssForCausalLM": "seed_oss",
    "Exaone4ForCausalLM": "exaone4",
    "ArceeForCausalLM": "arcee",
    "Glm4ForCausalLM": "glm4",
    "Ernie4_5ForCausalLM": "ernie4_5",
}
# Those whose rotary rows the converter interleaves.
PERMUTED = ("llama", "granite", "olmo", "arcee")
LAYER_NORM = ("command-r", "cohere2", "olmo", "starcoder2", "stablelm", "phi2", "nemotron")
# What the package gguf calls them, where that is not the name in capitals.
GGUF_NAMES = {"glm4moe": "GLM4_MOE", "command-r": "COMMAND_R"}


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
    if architecture in LAYER_NORM:
        keys = ("layer_norm_eps", "norm_epsilon", "norm_eps")
        writer.add_layer_norm_eps(next((getattr(config, key) for key in keys if hasattr(config, key)), 1e-5))
    else:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_freq_base(config.rope_parameters["rope_theta"])
    writer.add_vocab_size(config.vocab_size)
    if architecture != "qwen2" and not architecture.endswith("moe"):
        writer.add_rope_dimension_count(int(head_dim * config.rope_parameters.get("partial_rotary_factor", 1.0)))
    if architecture == "granite":
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if architecture in ("command-r", "cohere2"):
        writer.add_logit_scale(config.logit_scale)
    if architecture in ("cohere2", "exaone4"):
        writer.add_sliding_window(config.sliding_window)
    if architecture == "olmo":
        writer.add_clamp_kqv(config.clip_qkv)
    if architecture == "stablelm":
        writer.add_parallel_residual(config.use_parallel_residual)
    if architecture == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
        writer.add_sliding_window(config.sliding_window)
    if getattr(config, "num_experts_per_tok", 0):
        write_experts(writer, config, architecture)
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


def write_experts(writer, config, architecture):
    writer.add_expert_count(config.num_local_experts if hasattr(config, "num_local_experts") else config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    if hasattr(config, "moe_intermediate_size"):
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if architecture == "qwen2moe":
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    if architecture == "glm4moe":
        writer.add_rope_dimension_count(int(config.head_dim * config.rope_parameters["partial_rotary_factor"]))
        writer.add_expert_shared_count(config.n_shared_experts)
        writer.add_expert_weights_scale(config.routed_scaling_factor)
        writer.add_expert_weights_norm(config.norm_topk_prob)
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        writer.add_leading_dense_block_count(config.first_k_dense_replace)
        writer.add_nextn_predict_layers(0)


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


def write_gate_up(writer, name, parameter):
    """transformers' one tensor [expert, gate and up, hidden] as the converter's two."""
    layer = name.split(".")[2]
    with torch.no_grad():
        parameter.copy_(parameter.to(torch.float16).float())
    gate, up = parameter.detach().numpy().astype(numpy.float16).copy().reshape(parameter.shape[0], 2, -1, parameter.shape[2]).swapaxes(0, 1)
    writer.add_tensor(f"blk.{layer}.ffn_gate_exps.weight", numpy.ascontiguousarray(gate))
    writer.add_tensor(f"blk.{layer}.ffn_up_exps.weight", numpy.ascontiguousarray(up))


def write_gguf(path, model, quantisation, tokenizer):
    """Writes the file, and gives the model the numbers that the file holds. quantisation: "Q8_0", or None for float."""
    architecture = ARCHITECTURES[type(model).__name__]
    config = model.config
    heads, key_value_heads = config.num_attention_heads, config.num_key_value_heads
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[GGUF_NAMES.get(architecture, architecture.upper())], config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, architecture)
    write_metadata(writer, config, architecture, tokenizer)
    biases = [(name, buffer) for name, buffer in model.named_buffers() if name.endswith("e_score_correction_bias")]
    for name, buffer in biases:
        writer.add_tensor(f"blk.{name.split('.')[2]}.exp_probs_b.bias", buffer.detach().numpy().copy())
    for name, parameter in model.named_parameters():
        if name.endswith("experts.gate_up_proj"):
            write_gate_up(writer, name, parameter)
            continue
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        values = parameter.detach().numpy().copy()
        permuted = heads if "q_proj" in name else key_value_heads if "k_proj" in name else 0
        if architecture not in PERMUTED:
            permuted = 0
        if permuted:
            values = llama_permute(values, permuted)
        is_gemma_norm = architecture in ("gemma2", "nemotron") and "norm" in name and name.endswith("weight")
        if is_gemma_norm:
            values = values + numpy.float32(1.0)
        target = names.get_name(name, try_suffixes=(".weight", ".bias"))
        if architecture == "phi2" and name.startswith("lm_head"):
            target = name.replace("lm_head", "output")
        assert target is not None, name
        if name.endswith("experts.down_proj"):
            target += ".weight"
        if name.endswith("shared_expert_gate.weight"):
            values = values[0]
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
        if name.endswith("shared_expert_gate.weight"):
            back = back[None]
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
