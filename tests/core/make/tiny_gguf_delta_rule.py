# SPDX-License-Identifier: MIT
"""Layers with a delta rule (Qwen3-Next, Qwen3.5) as llama.cpp's converter writes them, for tiny_gguf.py."""

import numpy

DELTA_RULE = {"qwen3next", "qwen35", "qwen35moe"}


def delta_rule(writer, config):
    writer.add_ssm_conv_kernel(config.linear_conv_kernel_dim)
    writer.add_ssm_state_size(config.linear_key_head_dim)
    writer.add_ssm_group_count(config.linear_num_key_heads)
    writer.add_ssm_time_step_rank(config.linear_num_value_heads)
    writer.add_ssm_inner_size(config.linear_num_value_heads * config.linear_value_head_dim)
    writer.add_full_attention_interval(config.layer_types.index("full_attention") + 1)


def delta_rule_rows(architecture, config, name):
    """The rows of a delta rule's tensor in the order of the file: value heads that share a key head far apart (qwen35)."""
    keys, values = config.linear_num_key_heads, config.linear_num_value_heads
    heads = numpy.arange(values).reshape(keys, -1).T.reshape(-1) if architecture != "qwen3next" else numpy.arange(values)
    if name.endswith(("in_proj_a.weight", "in_proj_b.weight", "A_log", "dt_bias")):
        return heads
    rows = (heads[:, None] * config.linear_value_head_dim + numpy.arange(config.linear_value_head_dim)).reshape(-1)
    if name.endswith(("in_proj_qkv.weight", "conv1d.weight")):
        width = 2 * keys * config.linear_key_head_dim
        return numpy.concatenate([numpy.arange(width), width + rows])
    return rows


class DeltaRewriting:
    """What the converter makes of the tensors of layers with a delta rule, and back."""

    def __init__(self, architecture, config, name):
        self.name = name
        self.rows = delta_rule_rows(architecture, config, name)
        self.columns = name.endswith("out_proj.weight")
        self.moved = not name.endswith(("norm.weight", "in_proj_ba.weight"))

    def to_file(self, values):
        if self.moved:
            values = values[:, self.rows] if self.columns else values[self.rows]
        if self.name.endswith("A_log"):
            return -numpy.exp(values)
        return values[:, 0] if "conv1d" in self.name else values

    def from_file(self, values):
        if self.name.endswith("A_log"):
            values = numpy.log(-values)
        if "conv1d" in self.name:
            values = values[:, None]
        if not self.moved:
            return values
        order = numpy.argsort(self.rows)
        return values[:, order] if self.columns else values[order]


def write_qkvz(tensors, config, name, parameter):
    """qwen3next: the rows of each key head's query, key, values and gates as two tensors."""
    heads, width = config.linear_num_key_heads, config.linear_num_value_heads // config.linear_num_key_heads * config.linear_value_head_dim
    rows = numpy.arange(parameter.shape[0]).reshape(heads, -1)
    parts = numpy.split(rows, numpy.cumsum([config.linear_key_head_dim, config.linear_key_head_dim, width]), axis=1)
    q, k, v, z = (part.reshape(-1) for part in parts)
    layer = name.split(".")[2]
    values = parameter.detach().numpy().copy()
    for target, order in (("attn_qkv", numpy.concatenate([q, k, v])), ("attn_gate", z)):
        values[order] = tensors.write(f"blk.{layer}.{target}.weight", numpy.ascontiguousarray(values[order]))
    return values
