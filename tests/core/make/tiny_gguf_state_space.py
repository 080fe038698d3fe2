# SPDX-License-Identifier: MIT
"""Granite 4, Nemotron-H and Falcon-H1 with state spaces (Mamba-2) as llama.cpp's converter writes them, for tiny_gguf.py."""

import numpy


def sizes(writer, taps, states, groups, width, heads):
    writer.add_ssm_conv_kernel(taps)
    writer.add_ssm_state_size(states)
    writer.add_ssm_group_count(groups)
    writer.add_ssm_inner_size(width)
    writer.add_ssm_time_step_rank(heads)


def mamba_sizes(writer, config, width):
    sizes(writer, config.mamba_d_conv, config.mamba_d_state, config.mamba_n_groups, width, config.mamba_n_heads)


def state_space(writer, config):
    mamba_sizes(writer, config, config.mamba_expand * config.hidden_size)
    writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
    writer.add_rope_scaling_finetuned(config.position_embedding_type == "rope")


def falcon_h1(writer, config):
    mamba_sizes(writer, config, config.mamba_d_ssm)


def falcon_h1_factor(config, name):
    """What the converter multiplies a tensor by: a number, or one for each row."""
    if name.endswith("mamba.in_proj.weight"):
        states = config.mamba_n_groups * config.mamba_d_state
        widths = (config.mamba_d_ssm, config.mamba_d_ssm, states, states, config.mamba_n_heads)
        return config.ssm_in_multiplier * numpy.repeat(config.ssm_multipliers, widths)[:, None].astype(numpy.float32)
    factors = {
        "down_proj": config.mlp_multipliers[1],
        "gate_proj": config.mlp_multipliers[0],
        "k_proj": config.key_multiplier * config.attention_in_multiplier,
        "q_proj": config.attention_in_multiplier,
        "v_proj": config.attention_in_multiplier,
        "o_proj": config.attention_out_multiplier,
        "mamba.out_proj": config.ssm_out_multiplier,
        "lm_head": config.lm_head_multiplier,
        "embed_tokens": config.embedding_multiplier,
    }
    return next((numpy.float32(factor) for part, factor in factors.items() if part in name), numpy.float32(1))


def nemotron_h(writer, config):
    mlps = ("mlp", "moe")
    width = config.moe_intermediate_size if config.num_experts_per_tok else config.intermediate_size
    writer.add_head_count_kv([config.num_key_value_heads * (kind == "full_attention") for kind in config.layers_block_type])
    writer.add_feed_forward_length([width * (kind in mlps) for kind in config.layers_block_type])
    writer.add_layer_norm_rms_eps(config.layer_norm_epsilon)
    writer.add_layer_norm_eps(config.layer_norm_epsilon)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.head_dim)
    inner = config.mamba_num_heads * config.mamba_head_dim
    sizes(writer, config.conv_kernel, config.ssm_state_size, config.n_groups, inner, config.mamba_num_heads)


def nemotron_experts(writer, config):
    writer.add_expert_shared_feed_forward_length(config.moe_shared_expert_intermediate_size)
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_weights_norm(config.norm_topk_prob)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    writer.add_expert_group_count(config.n_group)


def nemotron_name(name):
    """The name in published folders; of stacked experts what the converter calls them."""
    name = name.replace("model.", "backbone.", 1)
    if name.endswith(("experts.up_proj", "experts.down_proj")):
        return name.replace("backbone.", "model.").replace(".mixer.", ".mlp.") + ".weight"
    return name


class StateSpaceRewriting:
    """What the converter makes of the tensors of layers with a state space, and back."""

    def __init__(self, architecture, config, name):
        self.part = name.partition(".mixer." if ".mixer." in name else ".mamba.")[2]
        self.groups = getattr(config, "mamba_n_groups", None) or config.n_groups
        self.factor = falcon_h1_factor(config, name) if architecture == "falcon-h1" else numpy.float32(1)

    def to_file(self, values):
        if self.part == "A_log":
            values = -numpy.exp(values)
        if self.part in ("A_log", "D"):
            return values[:, None]
        if self.part == "norm.weight":
            return values.reshape(self.groups, -1)
        return values[:, 0] if self.part == "conv1d.weight" else values * self.factor

    def from_file(self, values):
        if self.part == "A_log":
            values = numpy.log(-values)
        if self.part in ("A_log", "D", "norm.weight"):
            return values.reshape(-1)
        return values[:, None] if self.part == "conv1d.weight" else values / self.factor


def write_shared_mlp(tensors, has_experts, name, parameter):
    """The rows of gate and up as two tensors, or down's."""
    layer = name.split(".")[2]
    ending = "_shexp.weight" if has_experts else ".weight"
    parts = ("gate", "up") if "input_linear" in name else ("down",)
    rows = numpy.split(parameter.detach().numpy(), len(parts))
    return numpy.concatenate([tensors.write(f"blk.{layer}.ffn_{part}{ending}", numpy.ascontiguousarray(of_part)) for part, of_part in zip(parts, rows)])
