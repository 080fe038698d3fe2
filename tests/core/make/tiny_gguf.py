# SPDX-License-Identifier: MIT
"""A transformers model as a GGUF file, as llama.cpp's converter writes its architecture."""

import gguf
import numpy
import torch

from tiny_gguf_delta_rule import DELTA_RULE, DeltaRewriting, delta_rule, write_qkvz
from tiny_gguf_state_space import StateSpaceRewriting, falcon_h1, falcon_h1_factor, nemotron_experts, nemotron_h, nemotron_name, state_space, write_shared_mlp

ARCHITECTURES = {
    "LlamaForCausalLM": "llama",
    "Qwen2ForCausalLM": "qwen2",
    "Gemma2ForCausalLM": "gemma2",
    "OlmoForCausalLM": "olmo",
    "Olmo3ForCausalLM": "olmo2",
    "GraniteForCausalLM": "granite",
    "CohereForCausalLM": "command-r",
    "Cohere2ForCausalLM": "cohere2",
    "GlmForCausalLM": "chatglm",
    "Glm4ForCausalLM": "glm4",
    "Starcoder2ForCausalLM": "starcoder2",
    "StableLmForCausalLM": "stablelm",
    "PhiForCausalLM": "phi2",
    "NemotronForCausalLM": "nemotron",
    "SeedOssForCausalLM": "seed_oss",
    "Exaone4ForCausalLM": "exaone4",
    "ArceeForCausalLM": "arcee",
    "Qwen2_5_VLForConditionalGeneration": "qwen2vl",
    "Ministral3ForCausalLM": "mistral3",
    "ApertusForCausalLM": "apertus",
    "Ernie4_5ForCausalLM": "ernie4_5",
    "MixtralForCausalLM": "llama",
    "Qwen2MoeForCausalLM": "qwen2moe",
    "Qwen3MoeForCausalLM": "qwen3moe",
    "OlmoeForCausalLM": "olmoe",
    "Glm4MoeForCausalLM": "glm4moe",
    "GptOssForCausalLM": "gpt-oss",
    "Llama4ForCausalLM": "llama4",
    "HunYuanDenseV1ForCausalLM": "hunyuan-dense",
    "Qwen3NextForCausalLM": "qwen3next",
    "Qwen3_5ForCausalLM": "qwen35",
    "Qwen3_5MoeForCausalLM": "qwen35moe",
    "Gemma4ForCausalLM": "gemma4",
    "GraniteMoeForCausalLM": "granitemoe",
    "GraniteMoeSharedForCausalLM": "granitemoe",
    "AfmoeForCausalLM": "afmoe",
    "Jais2ForCausalLM": "jais2",
    "ExaoneMoeForCausalLM": "exaone-moe",
    "Ernie4_5_MoeForCausalLM": "ernie4_5-moe",
    "Dots1ForCausalLM": "dots1",
    "MiniMaxM2ForCausalLM": "minimax-m2",
    "HunYuanMoEV1ForCausalLM": "hunyuan-moe",
    "Qwen3VLForConditionalGeneration": "qwen3vl",
    "Qwen3VLMoeForConditionalGeneration": "qwen3vlmoe",
    "GraniteMoeHybridForCausalLM": "granitehybrid",
    "Lfm2ForCausalLM": "lfm2",
    "Lfm2MoeForCausalLM": "lfm2moe",
    "NemotronHForCausalLM": "nemotron_h",
    "FalconH1ForCausalLM": "falcon-h1",
}
# Whose query and key rows the converter interleaves. cohere, glm and ernie have them so from the start.
PERMUTED = {"llama", "olmo", "granite", "granitemoe", "granitehybrid", "arcee", "mistral3", "internlm2"}
NORMS_PLUS_ONE = {"gemma2", "nemotron"} | DELTA_RULE
# Whose converter writes neither the rope's base nor the length of keys.
SHORT_METADATA = {"phi2", "stablelm", "nemotron_h", "nemotron_h_moe"}
# Whose projections the converter takes fused from the original files.
FUSED = {"chatglm"}


def llama_permute(weight, heads):
    """Half-split rotary rows to interleaved ones."""
    rows = weight.shape[0]
    return weight.reshape(heads, 2, rows // heads // 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def llama_unpermute(weight, heads):
    rows = weight.shape[0]
    return weight.reshape(heads, rows // heads // 2, 2, *weight.shape[1:]).swapaxes(1, 2).reshape(weight.shape)


def head_size(config):
    return getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads


def write_metadata(writer, config, architecture):
    head_dim = head_size(config)
    writer.add_name("tiny")
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    if hasattr(config, "intermediate_size"):
        writer.add_feed_forward_length(getattr(config, "intermediate_size_mlp", config.intermediate_size))
    writer.add_head_count(config.num_attention_heads)
    writer.add_head_count_kv(config.num_key_value_heads)
    for key in ("rms_norm_eps", "norm_eps"):
        if hasattr(config, key) and architecture not in ("olmo", "cohere2"):
            writer.add_layer_norm_rms_eps(getattr(config, key))
    for key in ("layer_norm_eps", "norm_epsilon", "norm_eps"):
        if hasattr(config, key) and not architecture.startswith("lfm2"):
            writer.add_layer_norm_eps(getattr(config, key))
    if architecture not in SHORT_METADATA:
        write_rope(writer, config)
        if architecture != "chatglm" and head_dim * config.num_attention_heads != config.hidden_size:
            writer.add_key_length(head_dim)
            writer.add_value_length(head_dim)
    ROPE_DIMENSIONS.get(architecture, lambda *_: None)(writer, config)
    MORE_METADATA.get(architecture, lambda *_: None)(writer, config)
    if getattr(config, "num_experts_per_tok", 0):
        write_experts(writer, config, architecture)


def write_rope(writer, config):
    rope = config.rope_parameters.get("full_attention", config.rope_parameters)
    kind = rope["rope_type"]
    if kind == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        for key, add in (
            ("attention_factor", writer.add_rope_scaling_yarn_attn_factor),
            ("beta_fast", writer.add_rope_scaling_yarn_beta_fast),
            ("beta_slow", writer.add_rope_scaling_yarn_beta_slow),
        ):
            if key in rope:
                add(rope[key])
    stretch = rope.get("alpha", 1.0) ** (head_size(config) / (head_size(config) - 2))  # hunyuan
    writer.add_rope_freq_base(rope["rope_theta"] * stretch)
    if "sliding_attention" in config.rope_parameters:
        writer.add_rope_freq_base_swa(config.rope_parameters["sliding_attention"]["rope_theta"])
    if "mrope_section" in rope:
        writer.add_rope_dimension_sections([*rope["mrope_section"], 0])


def whole_heads(writer, config):
    writer.add_rope_dimension_count(head_size(config))


def parts_of_heads(writer, config):
    writer.add_rope_dimension_count(int(head_size(config) * config.rope_parameters["partial_rotary_factor"]))


ROPE_DIMENSIONS = {name: whole_heads for name in ("llama", "exaone", "granite", "granitemoe", "granitehybrid", "afmoe", "jais2", "arcee", "cohere2", "mistral3", "apertus")} | {
    name: parts_of_heads for name in (*DELTA_RULE, "chatglm", "glm4", "glm4moe", "minimax-m2", "stablelm", "phi2", "nemotron")
}


def write_windows(writer, config):
    writer.add_sliding_window(config.sliding_window)
    writer.add_sliding_window_pattern([kind == "sliding_attention" for kind in config.layer_types])


def gemma2(writer, config):
    writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
    writer.add_final_logit_softcapping(config.final_logit_softcapping)
    writer.add_sliding_window(config.sliding_window)


def gemma4(writer, config):
    layers = [config.per_layer_config[layer] for layer in range(config.num_hidden_layers)]
    wide = [config.use_double_wide_mlp and mode == "reuse" for mode in config.kv_sharing_modes]
    write_windows(writer, config)
    writer.add_shared_kv_layers(config.num_kv_shared_layers)
    writer.add_embedding_length_per_layer_input(config.hidden_size_per_layer_input)
    writer.add_head_count_kv([layer.num_key_value_heads for layer in layers])
    if any(wide):
        writer.add_feed_forward_length([config.intermediate_size * (1 + w) for w in wide])
    for add in (writer.add_key_length, writer.add_value_length, writer.add_rope_dimension_count):
        add(layers[-1].head_dim)
    for add in (writer.add_key_length_swa, writer.add_value_length_swa, writer.add_rope_dimension_count_swa):
        add(config.head_dim)
    if config.final_logit_softcapping:
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if config.enable_moe_block:
        writer.add_expert_count(config.num_experts)
        writer.add_expert_used_count(config.top_k_experts)
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    pairs = layers[-1].head_dim // 2
    turning = int(config.rope_parameters["full_attention"]["partial_rotary_factor"] * pairs)
    writer.add_tensor("rope_freqs.weight", numpy.array([1.0] * turning + [1e30] * (pairs - turning), dtype=numpy.float32))


GEMMA4_BARE = {"router.scale": "ffn_gate_inp.scale", "router.per_expert_scale": "ffn_down_exps.scale"}


def olmo(writer, config):
    writer.add_layer_norm_eps(1e-5)
    writer.add_clamp_kqv(config.clip_qkv)


def granite(writer, config):
    writer.add_attention_scale(config.attention_multiplier)
    writer.add_embedding_scale(config.embedding_multiplier)
    writer.add_residual_scale(config.residual_multiplier)
    writer.add_logit_scale(config.logits_scaling)


def command_r(writer, config):
    writer.add_logit_scale(config.logit_scale)
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)


def cohere2(writer, config):
    command_r(writer, config)
    writer.add_sliding_window(config.sliding_window)  # llama.cpp knows which layers


def nemotron(writer, config):
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)


def mistral3(writer, config):
    writer.add_rope_scaling_yarn_log_mul(config.rope_parameters["mscale_all_dim"])
    writer.add_attn_temperature_scale(config.rope_parameters["llama_4_scaling_beta"])


def lfm2(writer, config):
    writer.add_shortconv_l_cache(config.conv_L_cache)
    attending_layers(writer, config)


def attending_layers(writer, config):
    """Layers without attention have no key-value heads."""
    writer.add_head_count_kv([config.num_key_value_heads * (kind == "full_attention") for kind in config.layer_types])


def granite_hybrid(writer, config):
    granite(writer, config)
    state_space(writer, config)
    attending_layers(writer, config)


MORE_METADATA = {
    "granitehybrid": granite_hybrid,
    "falcon-h1": falcon_h1,
    **dict.fromkeys(("nemotron_h", "nemotron_h_moe"), nemotron_h),
    "lfm2": lfm2,
    "lfm2moe": lfm2,
    **dict.fromkeys(DELTA_RULE, delta_rule),
    "mistral3": mistral3,
    "gemma2": gemma2,
    "gemma4": gemma4,
    "olmo": olmo,
    "olmo2": write_windows,
    "granite": granite,
    "granitemoe": granite,
    "afmoe": lambda writer, config: writer.add_sliding_window(config.sliding_window),
    "command-r": command_r,
    "cohere2": cohere2,
    "nemotron": nemotron,
    "exaone4": write_windows,
    "exaone-moe": write_windows,
    "stablelm": lambda writer, config: writer.add_parallel_residual(True),
    "llama4": lambda writer, config: writer.add_interleave_moe_layer_step(config.interleave_moe_layer_step),
    **dict.fromkeys(("qwen3vl", "qwen3vlmoe"), lambda writer, config: writer.add_num_deepstack_layers(3)),
    "gpt-oss": lambda writer, config: writer.add_sliding_window(config.sliding_window),
}


def sigmoid_experts(writer, config):
    writer.add_expert_shared_count(config.n_shared_experts)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    writer.add_expert_weights_norm(config.norm_topk_prob)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    writer.add_leading_dense_block_count(config.first_k_dense_replace)


def exaone_experts(writer, config):
    writer.add_expert_shared_count(config.num_shared_experts)
    writer.add_expert_group_count(config.n_group)
    writer.add_expert_group_used_count(config.topk_group)
    writer.add_expert_weights_scale(config.routed_scaling_factor)
    writer.add_expert_weights_norm(config.norm_topk_prob)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
    writer.add_leading_dense_block_count(config.mlp_layer_types.count("dense"))


def ernie_experts(writer, config):
    writer.add_interleave_moe_layer_step(config.moe_layer_interval)
    writer.add_leading_dense_block_count(config.moe_layer_start_index)
    writer.add_expert_shared_count(config.moe_num_shared_experts)
    writer.add_expert_shared_feed_forward_length(config.moe_intermediate_size * config.moe_num_shared_experts)


def hunyuan_experts(writer, config):
    writer.add_expert_shared_feed_forward_length(config.intermediate_size)
    writer.add_expert_feed_forward_length(config.intermediate_size)
    writer.add_expert_shared_count(1)


def minimax_experts(writer, config):
    writer.add_expert_feed_forward_length(config.intermediate_size)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


def granite_experts(writer, config):
    if getattr(config, "shared_intermediate_size", 0):
        writer.add_expert_shared_feed_forward_length(config.shared_intermediate_size)


def afmoe_experts(writer, config):
    writer.add_expert_shared_count(config.num_shared_experts)
    writer.add_leading_dense_block_count(config.num_dense_layers)
    writer.add_expert_weights_norm(True)
    writer.add_expert_weights_scale(config.route_scale)
    writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)


MORE_EXPERTS = {"nemotron_h_moe": nemotron_experts, "granitemoe": granite_experts, "afmoe": afmoe_experts, "exaone-moe": exaone_experts, "dots1": sigmoid_experts, "glm4moe": sigmoid_experts, "ernie4_5-moe": ernie_experts, "hunyuan-moe": hunyuan_experts, "minimax-m2": minimax_experts}


def write_experts(writer, config, architecture):
    writer.add_expert_count(config.num_local_experts if hasattr(config, "num_local_experts") else config.num_experts)
    writer.add_expert_used_count(config.num_experts_per_tok)
    if hasattr(config, "moe_intermediate_size"):
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if architecture in ("gpt-oss", "llama4"):
        writer.add_expert_feed_forward_length(config.intermediate_size)
    if architecture in {"qwen2moe"} | DELTA_RULE:
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)
    MORE_EXPERTS.get(architecture, lambda *_: None)(writer, config)
    if architecture == "lfm2moe":
        writer.add_expert_gating_func(gguf.ExpertGatingFuncType.SIGMOID)
        writer.add_leading_dense_block_count(config.num_dense_layers)
    if architecture == "glm4moe":
        writer.add_nextn_predict_layers(0)


def write_tokenizer(writer, vocabulary_size, tokenizer):
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])
    tokens = [text for text, _ in vocabulary]
    types = [gguf.TokenType.NORMAL] * 257 + [gguf.TokenType.CONTROL] * 2
    while len(tokens) < vocabulary_size:
        tokens.append(f"[PAD{len(tokens)}]")
        types.append(gguf.TokenType.UNUSED)
    writer.add_vocab_size(vocabulary_size)
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


class TensorWriter:
    """Writes tensors; parts of a fused one are kept until all are there."""

    def __init__(self, writer, architecture, quantisation):
        self.writer = writer
        self.architecture = architecture
        self.kind = gguf.GGMLQuantizationType[quantisation or "F16"]
        self.expert_kind = self.kind
        if quantisation == "MXFP4":  # of experts alone
            self.kind = gguf.GGMLQuantizationType.F16
        self.parts = {}

    def pack(self, values):
        packed = gguf.quants.quantize(values, self.kind)
        return packed, gguf.quants.dequantize(packed, self.kind)

    def write_gate_up(self, name, parameter):
        """transformers' one tensor [expert, gate and up, hidden] as the converter's two."""
        layer = name.split(".")[2]
        values = parameter.detach().numpy().astype(numpy.float16)
        gate, up = values.reshape(values.shape[0], 2, -1, values.shape[2]).swapaxes(0, 1)
        self.writer.add_tensor(f"blk.{layer}.ffn_gate_exps.weight", numpy.ascontiguousarray(gate))
        self.writer.add_tensor(f"blk.{layer}.ffn_up_exps.weight", numpy.ascontiguousarray(up))
        return values.astype(numpy.float32)

    def write_llama4_experts(self, name, parameter):
        """[expert, inputs, outputs], of gate_up first those of the gate."""
        layer = name.split(".")[2]
        values = parameter.detach().numpy().swapaxes(1, 2).astype(numpy.float16)
        parts = ("down",) if "down_proj" in name else ("gate", "up")
        for part, of_part in zip(parts, numpy.split(values, len(parts), axis=1)):
            self.writer.add_tensor(f"blk.{layer}.ffn_{part}_exps.weight", numpy.ascontiguousarray(of_part))
        return values.astype(numpy.float32).swapaxes(1, 2)

    def write_gpt_oss_experts(self, name, parameter):
        """[expert, inputs, outputs], gate and up by turns, and their biases [expert, outputs]."""
        layer = name.split(".")[2]
        is_bias = name.endswith("_bias")
        values = parameter.detach().numpy()
        rows = values[..., None] if is_bias else values.swapaxes(1, 2)
        parts = [("down", rows)] if "down_proj" in name else [("gate", rows[:, 0::2]), ("up", rows[:, 1::2])]
        back = numpy.empty_like(rows)
        for i, (part, of_part) in enumerate(parts):
            target = f"blk.{layer}.ffn_{part}_exps"
            if is_bias:
                self.writer.add_tensor(target + ".bias", numpy.ascontiguousarray(of_part[..., 0]))
                back[:, i :: len(parts)] = of_part
                continue
            packed = gguf.quants.quantize(numpy.ascontiguousarray(of_part), self.expert_kind)
            self.writer.add_tensor(target + ".weight", packed, raw_dtype=self.expert_kind)
            back[:, i :: len(parts)] = gguf.quants.dequantize(packed, self.expert_kind)
        return back[..., 0] if is_bias else back.swapaxes(1, 2)

    def write(self, target, values):
        """Returns the numbers that the file holds."""
        is_vector = values.ndim == 1 or target.endswith(("ssm_a", "ssm_d", "ssm_norm.weight"))
        packed, back = (values, values) if is_vector else self.pack(values)
        for part in ("attn_q", "attn_k", "attn_v"):
            if self.architecture in FUSED and f".{part}." in target:
                target = target.replace(part, "attn_qkv")
                parts = self.parts.setdefault(target, [])
                parts.append(packed)
                if len(parts) < 3:
                    return back
                packed = numpy.concatenate(parts)
        if is_vector:
            self.writer.add_tensor(target, packed)
        else:
            self.writer.add_tensor(target, packed, raw_dtype=self.kind)
        return back


def write_xielu(writer, model):
    """The settings of the activation, which the converter puts into the metadata as they are."""
    activations = [layer.mlp.act_fn for layer in model.model.layers]
    writer.add_xielu_alpha_p([activation.alpha_p.item() for activation in activations])
    writer.add_xielu_alpha_n([activation.alpha_n.item() for activation in activations])
    writer.add_xielu_beta([activation.beta.item() for activation in activations])
    writer.add_xielu_eps([activation.eps.item() for activation in activations])


class Rewriting:
    """What the converter makes of a tensor's values, and back."""

    def __init__(self, architecture, config, name):
        heads = {"q_proj": config.num_attention_heads, "k_proj": config.num_key_value_heads}
        self.heads = next((count for part, count in heads.items() if part in name), 0) if architecture in PERMUTED else 0
        self.plus_one = architecture in NORMS_PLUS_ONE and name.endswith("norm.weight")
        self.as_vector = name.endswith("shared_expert_gate.weight")
        self.is_taps = name.endswith("conv.conv.weight")
        self.factor = falcon_h1_factor(config, name) if architecture == "falcon-h1" else numpy.float32(1)

    def to_file(self, values):
        values = values * self.factor
        if self.heads:
            values = llama_permute(values, self.heads)
        if self.plus_one:
            values = values + numpy.float32(1.0)
        return values[0] if self.as_vector else values[:, 0] if self.is_taps else values

    def from_file(self, values):
        if self.heads:
            values = llama_unpermute(values, self.heads)
        if self.plus_one:
            values = values - numpy.float32(1.0)
        values = values / self.factor
        return values[None] if self.as_vector else values[:, None] if self.is_taps else values


def target_name(names, name):
    name = name.replace(".dt_bias", ".dt_proj.bias")
    if name.endswith(("A_log", "mamba.D", "mixer.D")):
        return names.get_name(name)
    part = ".".join(name.split(".")[3:])
    if part in GEMMA4_BARE:
        return f"blk.{name.split('.')[2]}.{GEMMA4_BARE[part]}"
    target = names.get_name(name, try_suffixes=(".weight", ".bias"))
    assert target is not None, name
    if target.endswith(".ffn_norm"):  # gguf maps falcon-h1's with its ending
        target += ".weight"
    bare = ("experts.gate_up_proj", "experts.down_proj", "self_attn.sinks")
    return target + ".weight" if name.endswith(bare) else target


def write_gguf(path, model, quantisation, tokenizer, architecture=None):
    """Writes the file, and gives the model the numbers that the file holds. quantisation: "Q8_0", or None for float.
    architecture: where it is not that of the model's class."""
    architecture = architecture or ARCHITECTURES[type(model).__name__]
    config = model.config.get_text_config()
    config.allow_global_per_layer_attribute_access = True  # gemma4's, of layers with a window
    model_architecture = {name: kind for kind, name in gguf.MODEL_ARCH_NAMES.items()}[architecture]
    names = gguf.get_tensor_name_map(model_architecture, config.num_hidden_layers)
    writer = gguf.GGUFWriter(path, architecture)
    write_metadata(writer, config, architecture)
    write_tokenizer(writer, config.vocab_size, tokenizer)
    tensors = TensorWriter(writer, architecture, quantisation)
    if architecture == "apertus":
        write_xielu(writer, model)
    for name, buffer in model.named_buffers():
        if name.endswith(("e_score_correction_bias", "expert_bias")):
            writer.add_tensor(f"blk.{name.split('.')[2]}.exp_probs_b.bias", buffer.detach().numpy().copy())
        if name.endswith("layer_scalar"):
            writer.add_tensor(f"blk.{name.split('.')[2]}.layer_output_scale.weight", buffer.detach().numpy().copy())
    norms_of_heads = {}
    for name, parameter in model.named_parameters():
        name = name.replace(".language_model.", ".")
        if "_layernorm.norms." in name:  # the converter stacks those of all heads
            target = f"blk.{name.split('.')[2]}.attn_{'q' if 'q_layernorm' in name else 'k'}_norm.weight"
            norms_of_heads.setdefault(target, []).append(parameter.detach().numpy().copy())
            continue
        if name.endswith(("e_score_correction_bias", "mlp.expert_bias")):  # parameters in ernie4_5-moe and afmoe
            writer.add_tensor(f"blk.{name.split('.')[2]}.exp_probs_b.bias", parameter.detach().numpy().squeeze().copy())
            continue
        if architecture == "command-r" and name.endswith(("q_norm.weight", "k_norm.weight")):
            part = "q" if "q_norm" in name else "k"
            writer.add_tensor(f"blk.{name.split('.')[2]}.attn_{part}_norm.weight", parameter.detach().numpy().copy())
            continue
        if (name == "lm_head.weight" and model.config.tie_word_embeddings) or "visual." in name or "act_fn." in name:
            continue
        if architecture.startswith("nemotron_h"):
            name = nemotron_name(name)
        if architecture in ("granitemoe", "granitehybrid"):
            name = name.replace("router.weight", "router.layer.weight").replace("experts.down_proj", "output_linear.weight")
        if architecture == "llama4" and ".experts." in name:
            back = tensors.write_llama4_experts(name, parameter)
        elif architecture == "gpt-oss" and ".experts." in name:
            back = tensors.write_gpt_oss_experts(name, parameter)
        elif ".shared_mlp." in name:
            back = write_shared_mlp(tensors, config.num_local_experts > 0, name, parameter)
        elif name.endswith("in_proj_qkvz.weight"):
            back = write_qkvz(tensors, config, name, parameter)
        elif name.endswith("experts.gate_up_proj") and architecture != "gemma4":
            back = tensors.write_gate_up(name, parameter)
        else:
            kind = DeltaRewriting if ".linear_attn." in name else StateSpaceRewriting if ".mamba." in name or ".mixer." in name else Rewriting
            rewriting = kind(architecture, config, name)
            values = rewriting.to_file(parameter.detach().numpy().copy())
            back = rewriting.from_file(tensors.write(target_name(names, name), values))
        with torch.no_grad():
            parameter.copy_(torch.from_numpy(numpy.ascontiguousarray(back)))
    for target, norms in norms_of_heads.items():
        writer.add_tensor(target, numpy.stack(norms))
    if (getattr(config, "rope_parameters", None) or {}).get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", rope_factors(config, head_size(config)))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
