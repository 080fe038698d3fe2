# SPDX-License-Identifier: MIT
"""Granite 4 with state spaces (Mamba-2) as llama.cpp's converter writes it, for tiny_gguf.py."""

import numpy


def state_space(writer, config):
    writer.add_ssm_conv_kernel(config.mamba_d_conv)
    writer.add_ssm_state_size(config.mamba_d_state)
    writer.add_ssm_group_count(config.mamba_n_groups)
    writer.add_ssm_inner_size(config.mamba_expand * config.hidden_size)
    writer.add_ssm_time_step_rank(config.mamba_n_heads)
    writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)
    writer.add_rope_scaling_finetuned(config.position_embedding_type == "rope")


class StateSpaceRewriting:
    """What the converter makes of the tensors of layers with a state space, and back."""

    def __init__(self, architecture, config, name):
        self.part = name.partition(".mamba.")[2]
        self.groups = config.mamba_n_groups

    def to_file(self, values):
        if self.part == "A_log":
            values = -numpy.exp(values)
        if self.part in ("A_log", "D"):
            return values[:, None]
        if self.part == "norm.weight":
            return values.reshape(self.groups, -1)
        return values[:, 0] if self.part == "conv1d.weight" else values

    def from_file(self, values):
        if self.part == "A_log":
            values = numpy.log(-values)
        if self.part in ("A_log", "D", "norm.weight"):
            return values.reshape(-1)
        return values[:, None] if self.part == "conv1d.weight" else values


def write_shared_mlp(tensors, has_experts, name, parameter):
    """The rows of gate and up as two tensors, or down's."""
    layer = name.split(".")[2]
    ending = "_shexp.weight" if has_experts else ".weight"
    parts = ("gate", "up") if "input_linear" in name else ("down",)
    rows = numpy.split(parameter.detach().numpy(), len(parts))
    return numpy.concatenate([tensors.write(f"blk.{layer}.ffn_{part}{ending}", numpy.ascontiguousarray(of_part)) for part, of_part in zip(parts, rows)])
