# SPDX-License-Identifier: MIT
"""DeepSeek V2 and V3, and GLM-4.7-Flash, of transformers as GGUF files, as llama.cpp's converter writes their architecture."""

import gguf
import numpy
import torch

from tiny_gguf import write_rope, write_tokenizer


def write_metadata(writer, config, sigmoid):
    writer.add_name("tiny")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(1)
    writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    write_rope(writer, config)
    if config.q_lora_rank is not None:
        writer.add_q_lora_rank(config.q_lora_rank)
    writer.add_kv_lora_rank(config.kv_lora_rank)
    writer.add_key_length(config.kv_lora_rank + config.qk_rope_head_dim)
    writer.add_value_length(config.kv_lora_rank)
    writer.add_key_length_mla(config.qk_nope_head_dim + config.qk_rope_head_dim)
    writer.add_value_length_mla(config.v_head_dim)
    writer.add_rope_dimension_count(config.qk_rope_head_dim)
    if "mscale_all_dim" in config.rope_parameters:
        writer.add_rope_scaling_yarn_log_mul(0.1 * config.rope_parameters["mscale_all_dim"])
    is_glm = config.model_type == "glm4_moe_lite"
    writer.add_leading_dense_block_count(config.mlp_layer_types.count("dense") if is_glm else config.first_k_dense_replace)
    writer.add_expert_count(config.n_routed_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    if sigmoid:
        writer.add_expert_weights_norm(config.norm_topk_prob)
        if not is_glm:
            writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        writer.add_expert_group_count(config.n_group)
        writer.add_expert_group_used_count(config.topk_group)


def parts_of(name, values, config, split):
    """[(name in the file, values)] where it is not one tensor for one."""
    if not name.startswith("model.layers."):
        return None
    layer = name.split(".")[2]
    if name.endswith("kv_b_proj.weight") and split:
        both = values.reshape(config.num_attention_heads, -1, config.kv_lora_rank)
        keys, value_rows = both[:, : config.qk_nope_head_dim], both[:, config.qk_nope_head_dim :]
        return [(f"blk.{layer}.attn_k_b.weight", keys.swapaxes(1, 2)), (f"blk.{layer}.attn_v_b.weight", value_rows)]
    if name.endswith("experts.gate_up_proj"):
        gate, up = numpy.split(values, 2, axis=1)
        return [(f"blk.{layer}.ffn_gate_exps.weight", gate), (f"blk.{layer}.ffn_up_exps.weight", up)]
    if name.endswith("experts.down_proj"):
        return [(f"blk.{layer}.ffn_down_exps.weight", values)]
    return None


def write_deepseek_gguf(path, model, tokenizer, split):
    """Writes the file in F16, and gives the model the numbers that the file holds. split: heads' keys and values in two tensors."""
    config = model.config
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.DEEPSEEK2, config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, "deepseek2")
    write_metadata(writer, config, not type(model).__name__.startswith("DeepseekV2"))
    write_tokenizer(writer, config.vocab_size, tokenizer)
    for name, buffer in model.named_buffers():
        if name.endswith("e_score_correction_bias"):
            writer.add_tensor(f"blk.{name.split('.')[2]}.exp_probs_b.bias", buffer.detach().numpy().copy())
    for name, parameter in model.named_parameters():
        if name == "lm_head.weight" and config.tie_word_embeddings:
            continue
        if parameter.dim() > 1:
            with torch.no_grad():
                parameter.copy_(parameter.half().float())
        values = parameter.detach().numpy()
        for target, part in parts_of(name, values, config, split) or [(names.get_name(name, try_suffixes=(".weight", ".bias")), values)]:
            assert target is not None, name
            writer.add_tensor(target, numpy.ascontiguousarray(part.astype(numpy.float32 if part.ndim == 1 else numpy.float16)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
