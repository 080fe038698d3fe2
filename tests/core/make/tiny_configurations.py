# SPDX-License-Identifier: MIT
"""The tiny models that make_tiny_models.py writes: classes of transformers and their configurations."""

VOCABULARY = 264  # five rows more than the tokenizer has tokens, as published models have

COMMON = dict(
    vocab_size=VOCABULARY,
    hidden_size=28,
    intermediate_size=44,
    num_hidden_layers=2,
    num_attention_heads=6,
    num_key_value_heads=3,
    head_dim=10,
    max_position_embeddings=128,
    bos_token_id=257,
    eos_token_id=258,
    pad_token_id=None,
)
# Of the families with the names of GPT-2.
GPT = dict(vocab_size=VOCABULARY, n_positions=131, n_embd=30, n_layer=2, n_head=3, bos_token_id=257, eos_token_id=258)
FALCON = dict(vocab_size=VOCABULARY, max_position_embeddings=131, num_hidden_layers=2, num_attention_heads=6, bos_token_id=257, eos_token_id=258)
OPT = dict(vocab_size=VOCABULARY, ffn_dim=44, max_position_embeddings=131, num_hidden_layers=2, num_attention_heads=3, bos_token_id=257, eos_token_id=258, pad_token_id=None)
# Rows of 32, 64 and 96: whole blocks for quantised files.
BLOCKS = dict(hidden_size=32, intermediate_size=64, head_dim=24, num_attention_heads=4, num_key_value_heads=2)


def rope(kind="default", theta=10000.0, **more):
    return dict(rope_type=kind, rope_theta=theta, **more)


VISION = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1)
LLAMA3 = rope("llama3", 500.0, factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_max_position_embeddings=32)
LONG = dict(short_factor=[1.0, 1.1, 1.25], long_factor=[1.0, 1.5, 4.0])

# llama.cpp builds in the limit of the clamp, so files have that of the class.
GPT_OSS = {key: value for key, value in COMMON.items() if key not in ("hidden_size", "intermediate_size", "num_key_value_heads")} | dict(
    num_hidden_layers=3, num_local_experts=5, num_experts_per_tok=2, num_key_value_heads=3,
    rope_parameters=rope("yarn", 3000.0, factor=4.0, original_max_position_embeddings=32, beta_fast=32.0, beta_slow=1.0, truncate=False))
WIDE_BLOCKS = dict(hidden_size=32, intermediate_size=32)

LLAMA4 = dict(COMMON, num_hidden_layers=4, intermediate_size=20, intermediate_size_mlp=44, num_local_experts=5, num_experts_per_tok=1)

DEEPSEEK = {key: value for key, value in COMMON.items() if key != "head_dim"} | dict(
    hidden_size=30, num_key_value_heads=6, kv_lora_rank=14, q_lora_rank=18, qk_nope_head_dim=8, qk_rope_head_dim=6, v_head_dim=9, n_routed_experts=8, moe_intermediate_size=20)

GEMMA4 = dict(COMMON, num_hidden_layers=3, sliding_window=11, global_head_dim=16, num_global_key_value_heads=2, attention_k_eq_v=True, hidden_size_per_layer_input=0)

# A delta rule of 2 key heads and 4 value heads in every second layer.
DELTA = dict(COMMON, num_hidden_layers=4, head_dim=12, layer_types=["linear_attention", "full_attention"] * 2,
             linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=6, linear_value_head_dim=10)
# Convolutions of 3 rows in every second layer.
LFM2 = {key: value for key, value in COMMON.items() if key != "head_dim"} | dict(
    num_hidden_layers=4, hidden_size=36, layer_types=["conv", "full_attention"] * 2, rope_parameters=rope(theta=300.0))
# State spaces of 4 heads in every second layer.
GRANITE4 = {key: value for key, value in COMMON.items() if key != "head_dim"} | dict(
    num_hidden_layers=4, hidden_size=30, shared_intermediate_size=44, num_attention_heads=5, num_key_value_heads=1, num_local_experts=0, num_experts_per_tok=0,
    layer_types=["mamba", "attention"] * 2, position_embedding_type="nope", mamba_n_heads=4, mamba_d_state=6, mamba_d_conv=3,
    embedding_multiplier=3.0, attention_multiplier=0.3, residual_multiplier=0.6, logits_scaling=4.0)
# time_step_min: transformers raises the steps of a prompt to it, which published code, llama.cpp and Midscope do not.
NEMOTRON_H = dict(COMMON, num_hidden_layers=None, layers_block_type=["mamba", "attention", "mlp", "attention", "mamba", "mlp"], hidden_size=30, intermediate_size=40, num_attention_heads=4, num_key_value_heads=2,
    mamba_num_heads=6, mamba_head_dim=5, n_groups=2, ssm_state_size=6, conv_kernel=3, num_experts_per_tok=0, time_step_min=1e-12)
NEMOTRON_EXPERTS = dict(layers_block_type=["moe", "attention", "moe", "mamba"], n_routed_experts=6, num_experts_per_tok=2, moe_intermediate_size=14, moe_shared_expert_intermediate_size=18, routed_scaling_factor=1.5)
EXAONE_MOE = dict(COMMON, hidden_size=18, num_hidden_layers=3, sliding_window=11, layer_types=["sliding_attention", "full_attention", "sliding_attention"], mlp_layer_types=["sparse", "dense", "sparse"],
                  num_experts=8, num_experts_per_tok=3, moe_intermediate_size=14, num_shared_experts=2, n_group=4, topk_group=2, routed_scaling_factor=1.7, rope_parameters=rope(theta=300.0))
SPARSE = dict(num_experts=5, num_experts_per_tok=2, moe_intermediate_size=20, shared_expert_intermediate_size=12)

QWEN3_VL = dict(
    text_config=dict(COMMON, hidden_size=24, head_dim=12, rope_parameters=rope(theta=500.0, mrope_section=[2, 2, 2], mrope_interleaved=True)),
    vision_config=dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=1, out_hidden_size=24, patch_size=4, num_position_embeddings=4, deepstack_visual_indexes=[0]))
QWEN3_VL_MOE = dict(QWEN3_VL, text_config=dict(QWEN3_VL["text_config"], num_experts=7, num_experts_per_tok=3, moe_intermediate_size=20, mlp_only_layers=[0]))

# name: (class, configuration, dtype of the file, what of config.json to rewrite afterwards)
MODELS = {
    "llama": ("Llama", dict(COMMON, rope_parameters=LLAMA3, attention_bias=True, mlp_bias=True, head_dim=8, hidden_size=36), "bfloat16"),
    "llama-tied-linear": ("Llama", dict(COMMON, tie_word_embeddings=True, rope_parameters=rope("linear", factor=2.5), hidden_size=18), "float16"),
    "llama-dynamic": ("Llama", dict(COMMON, rope_parameters=rope("dynamic", factor=2.0), max_position_embeddings=32, hidden_size=18), "bfloat16"),
    "llama-yarn": ("Llama", dict(COMMON, rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=32), hidden_size=18), "bfloat16"),
    "longchat": ("Llama", dict(COMMON, num_key_value_heads=6, rope_parameters=rope("linear", factor=4.0), hidden_size=18), "bfloat16"),
    "smollm3": ("SmolLM3", dict(COMMON, num_hidden_layers=4, hidden_size=36, head_dim=None, no_rope_layer_interval=2, rope_parameters=rope(theta=5000.0)), "bfloat16"),
    "mistral": ("Mistral", dict(COMMON, sliding_window=12), "bfloat16"),
    "qwen2": ("Qwen2", dict(COMMON, hidden_size=24, use_sliding_window=True, sliding_window=9, max_window_layers=1, tie_word_embeddings=True), "float32"),
    "qwen3": ("Qwen3", dict(COMMON, tie_word_embeddings=True), "bfloat16"),
    "gemma": ("Gemma", dict(COMMON, num_key_value_heads=1), "bfloat16"),
    "gemma2": ("Gemma2", dict(COMMON, num_hidden_layers=3, hidden_size=30, sliding_window=12, query_pre_attn_scalar=17, attn_logit_softcapping=2.0, final_logit_softcapping=5.0), "bfloat16"),
    "gemma3": ("Gemma3", dict(COMMON, num_hidden_layers=4, hidden_size=24, sliding_window=11, query_pre_attn_scalar=13, layer_types=["sliding_attention"] * 2 + ["full_attention", "sliding_attention"], rope_parameters=dict(sliding_attention=rope(theta=300.0), full_attention=rope("linear", 4000.0, factor=2.0))), "bfloat16"),
    "phi3": ("Phi3", dict(COMMON, head_dim=12, hidden_size=36, num_attention_heads=3, original_max_position_embeddings=64, partial_rotary_factor=0.5, rope_parameters=rope("longrope", partial_rotary_factor=0.5, original_max_position_embeddings=64, **LONG)), "bfloat16"),
    "phi3-long": ("Phi3", dict(COMMON, head_dim=12, hidden_size=36, num_attention_heads=3, sliding_window=15, original_max_position_embeddings=32, partial_rotary_factor=0.5, rope_parameters=rope("longrope", partial_rotary_factor=0.5, original_max_position_embeddings=32, **LONG)), "bfloat16"),
    "olmo2": ("Olmo2", dict(COMMON), "bfloat16"),
    "gpt-neox": ("GPTNeoX", dict(COMMON, hidden_size=36, num_attention_heads=3, head_dim=None, num_key_value_heads=None, rope_parameters=rope(partial_rotary_factor=0.5)), "bfloat16"),
    "gpt-neox-serial": ("GPTNeoX", dict(COMMON, hidden_size=36, num_attention_heads=3, head_dim=None, num_key_value_heads=None, use_parallel_residual=False, tie_word_embeddings=True, attention_bias=False, rope_parameters=rope(partial_rotary_factor=0.34)), "bfloat16"),
    # transformers takes an alibi_bias_max of 8 whatever the configuration says.
    "mpt": ("Mpt", dict(d_model=36, n_heads=6, n_layers=2, expansion_ratio=4, max_seq_len=128, vocab_size=VOCABULARY, bos_token_id=257, eos_token_id=258, attn_config=dict(clip_qkv=0.7, alibi=True, alibi_bias_max=8)), "bfloat16"),
    "llama-yarn-soft": ("Llama", dict(COMMON, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=32, truncate=False), hidden_size=18), "bfloat16"),
    # tie_word_embeddings is set in config.json afterwards (EDITS), against the file.
    "llama-other-head": ("Llama", dict(COMMON, hidden_size=18), "bfloat16"),
    "gemma3-pictures": ("Gemma3Pictures", dict(text_config=dict(COMMON, hidden_size=24, sliding_window=11, query_pre_attn_scalar=13, num_hidden_layers=3, layer_types=["sliding_attention", "full_attention", "sliding_attention"]), vision_config=dict(VISION, image_size=16, patch_size=8), mm_tokens_per_image=4), "bfloat16"),
    "mistral3": ("Mistral3", dict(text_config=dict(COMMON, model_type="mistral", hidden_size=18, sliding_window=None), vision_config=dict(VISION, model_type="pixtral", head_dim=4, image_size=16, patch_size=8), tie_word_embeddings=False), "bfloat16"),
    "qwen2-5-vl": ("Qwen2_5_VL", dict(text_config=dict(COMMON, hidden_size=36, head_dim=None, rope_parameters=rope(theta=500.0, mrope_section=[1, 1, 1])), vision_config=dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=1, out_hidden_size=36, patch_size=4)), "bfloat16"),
    "olmo": ("Olmo", dict(COMMON, hidden_size=36, head_dim=None, clip_qkv=0.9), "bfloat16"),
    "olmo3": ("Olmo3", dict(COMMON, hidden_size=36, head_dim=None, num_hidden_layers=4, sliding_window=11, rope_parameters=dict(sliding_attention=rope(theta=3000.0), full_attention=rope("yarn", 3000.0, factor=4.0, original_max_position_embeddings=32))), "bfloat16"),
    "olmo3-old": ("Olmo3", dict(COMMON, hidden_size=18, head_dim=None, num_attention_heads=3, num_key_value_heads=1, num_hidden_layers=4, sliding_window=9, rope_parameters=dict(sliding_attention=rope(theta=500000.0), full_attention=rope("yarn", 500000.0, factor=4.0, original_max_position_embeddings=32))), "bfloat16"),
    "granite": ("Granite", dict(COMMON, hidden_size=36, head_dim=None, embedding_multiplier=0.6, residual_multiplier=0.8, attention_multiplier=0.3, logits_scaling=5.0, attention_bias=True), "bfloat16"),
    "cohere": ("Cohere", dict(COMMON, hidden_size=36, head_dim=None, logit_scale=0.25, attention_bias=True), "bfloat16"),
    "cohere2": ("Cohere2", dict(COMMON, hidden_size=24, head_dim=None, num_hidden_layers=4, sliding_window=10, logit_scale=0.25), "bfloat16"),
    "glm": ("Glm", dict(COMMON, head_dim=12, rope_parameters=rope(partial_rotary_factor=0.5)), "bfloat16"),
    "glm4": ("Glm4", dict(COMMON, head_dim=12, attention_bias=False, rope_parameters=rope(partial_rotary_factor=0.34)), "bfloat16"),
    "starcoder2": ("Starcoder2", dict(COMMON, hidden_size=36, head_dim=None, num_key_value_heads=1, sliding_window=13), "bfloat16"),
    "stablelm": ("StableLm", dict(COMMON, hidden_size=48, head_dim=None, use_qkv_bias=True, rope_parameters=rope(partial_rotary_factor=0.5)), "bfloat16"),
    "stablelm-parallel": ("StableLm", dict(COMMON, hidden_size=48, head_dim=None, use_parallel_residual=True, rope_parameters=rope(partial_rotary_factor=0.25)), "bfloat16"),
    "stablelm-norms": ("StableLm", dict(COMMON, hidden_size=48, head_dim=None, num_key_value_heads=2, use_parallel_residual=True, qk_layernorm=True, rope_parameters=rope(partial_rotary_factor=0.5)), "bfloat16"),
    "phi": ("Phi", dict(COMMON, hidden_size=48, head_dim=None, num_attention_heads=3, num_key_value_heads=3, rope_parameters=rope(partial_rotary_factor=0.5)), "bfloat16"),
    "nemotron": ("Nemotron", dict(COMMON, head_dim=12, mlp_bias=True, rope_parameters=rope(partial_rotary_factor=0.5)), "bfloat16"),
    "seed-oss": ("SeedOss", dict(COMMON, attention_out_bias=True), "bfloat16"),
    "exaone4": ("Exaone4", dict(COMMON, num_hidden_layers=4, sliding_window=10), "bfloat16"),
    "exaone4-global": ("Exaone4", dict(COMMON, sliding_window=None, layer_types=["full_attention"] * 2), "bfloat16"),
    "arcee": ("Arcee", dict(COMMON, hidden_size=30, mlp_bias=True), "bfloat16"),
    "ministral": ("Ministral", dict(COMMON, num_hidden_layers=3, sliding_window=12, layer_types=["full_attention", "sliding_attention", "full_attention"]), "bfloat16"),
    "mixtral": ("Mixtral", dict(COMMON, num_local_experts=5, num_experts_per_tok=2, sliding_window=17), "bfloat16"),
    "qwen2-moe": ("Qwen2Moe", dict(COMMON, hidden_size=36, head_dim=None, num_hidden_layers=3, num_experts=6, num_experts_per_tok=3, moe_intermediate_size=20, shared_expert_intermediate_size=22, mlp_only_layers=[1], norm_topk_prob=True), "bfloat16"),
    "qwen3-moe": ("Qwen3Moe", dict(COMMON, num_experts=7, num_experts_per_tok=3, moe_intermediate_size=20, decoder_sparse_step=2, use_sliding_window=True, sliding_window=15), "bfloat16"),
    "olmoe": ("Olmoe", dict(COMMON, hidden_size=36, head_dim=None, num_experts=5, num_experts_per_tok=2), "bfloat16"),
    "glm4-moe": ("Glm4Moe", dict(COMMON, head_dim=12, num_hidden_layers=3, moe_intermediate_size=20, num_experts_per_tok=3, n_shared_experts=2, n_routed_experts=8, routed_scaling_factor=1.7, n_group=4, topk_group=2, use_qk_norm=True, attention_bias=True, rope_parameters=rope(partial_rotary_factor=0.5)), "bfloat16"),
    "gpt2": ("GPT2", dict(GPT, n_inner=44), "bfloat16"),
    "gpt2-unscaled": ("GPT2", dict(GPT, n_embd=18, scale_attn_weights=False, activation_function="gelu", tie_word_embeddings=False), "float16"),
    # As Stanford's GPT-2s: attention's logits are divided by the layer, counted from 1.
    "gpt2-by-layer": ("GPT2", dict(GPT, n_layer=3, n_inner=44, scale_attn_by_inverse_layer_idx=True, reorder_and_upcast_attn=True), "bfloat16"),
    "falcon": ("Falcon", dict(FALCON, hidden_size=60, num_attention_heads=5, ffn_hidden_size=44, num_kv_heads=5, rope_parameters=rope(theta=500.0)), "bfloat16"),
    "falcon-new": ("Falcon", dict(FALCON, hidden_size=36, num_kv_heads=3, bias=True, tie_word_embeddings=False, new_decoder_architecture=True, multi_query=False, rope_parameters=rope("linear", factor=2.5)), "bfloat16"),
    "falcon-new-one-norm": ("Falcon", dict(FALCON, hidden_size=36, num_kv_heads=2, activation="gelu_pytorch_tanh", new_decoder_architecture=True, num_ln_in_parallel_attn=1), "bfloat16"),
    # Six heads: slopes that bfloat16 holds, and their products with 60 positions too.
    "falcon-alibi": ("Falcon", dict(FALCON, hidden_size=36, bias=True, alibi=True, multi_query=False, parallel_attn=False), "bfloat16"),
    # Five heads: slopes of four, and one of eight.
    "bloom": ("Bloom", dict(vocab_size=VOCABULARY, hidden_size=30, n_head=5, n_layer=2, bos_token_id=257, eos_token_id=258), "bfloat16"),
    "gptj": ("GPTJ", dict(GPT, n_embd=42, rotary_dim=6, n_inner=44), "bfloat16"),
    "xglm": ("XGLM", dict(vocab_size=VOCABULARY, d_model=30, ffn_dim=44, num_layers=2, tie_word_embeddings=False, attention_heads=3, max_position_embeddings=131, bos_token_id=257, eos_token_id=258), "bfloat16"),
    "opt": ("OPT", dict(OPT, hidden_size=30), "bfloat16"),
    "opt-plain": ("OPT", dict(OPT, hidden_size=42, enable_bias=False, layer_norm_elementwise_affine=False, activation_function="gelu", tie_word_embeddings=False), "bfloat16"),
    "gguf-llama": ("Llama", dict(COMMON | BLOCKS, rope_parameters=LLAMA3), None),
    "gguf-qwen2": ("Qwen2", dict(COMMON | BLOCKS), None),
    "gguf-gemma2": ("Gemma2", dict(COMMON | BLOCKS, sliding_window=12, query_pre_attn_scalar=24, attn_logit_softcapping=2.0, final_logit_softcapping=5.0), None),
    "ministral3": ("Ministral3", dict(COMMON, hidden_size=18, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=16, beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.6)), "bfloat16"),
    "mistral3-ministral3": ("Mistral3", dict(text_config=dict(COMMON, model_type="ministral3", hidden_size=18, sliding_window=None, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=16, llama_4_scaling_beta=0.3)), vision_config=dict(VISION, model_type="pixtral", head_dim=4, image_size=16, patch_size=8), tie_word_embeddings=False), "bfloat16"),
    "ernie4-5": ("Ernie4_5", dict(COMMON, use_bias=True), "bfloat16"),
    "gguf-ernie4-5": ("Ernie4_5", dict(COMMON | BLOCKS), None),
    "gguf-mixtral": ("Mixtral", dict(COMMON | BLOCKS, num_local_experts=5, num_experts_per_tok=2), None),
    "gguf-qwen2-moe": ("Qwen2Moe", dict(COMMON | BLOCKS, head_dim=None, num_experts=6, num_experts_per_tok=3, moe_intermediate_size=32, shared_expert_intermediate_size=64), None),
    "gguf-qwen3-moe": ("Qwen3Moe", dict(COMMON | BLOCKS, num_experts=7, num_experts_per_tok=3, moe_intermediate_size=32, norm_topk_prob=True), None),
    "gguf-olmoe": ("Olmoe", dict(COMMON | BLOCKS, head_dim=None, num_experts=5, num_experts_per_tok=2), None),
    "gguf-glm4-moe": ("Glm4Moe", dict(COMMON | BLOCKS, num_hidden_layers=3, moe_intermediate_size=32, num_experts_per_tok=3, n_shared_experts=2, n_routed_experts=6, routed_scaling_factor=1.7, use_qk_norm=True, attention_bias=True, rope_parameters=rope(partial_rotary_factor=0.5)), None),
    "gguf-llama-q8_0": ("Llama", dict(COMMON | BLOCKS, rope_parameters=LLAMA3), "Q8_0"),
    "gguf-qwen2-q4_0": ("Qwen2", dict(COMMON | BLOCKS), "Q4_0"),
    "gguf-gemma2-q5_1": ("Gemma2", dict(COMMON | BLOCKS, sliding_window=12, query_pre_attn_scalar=24, attn_logit_softcapping=2.0, final_logit_softcapping=5.0), "Q5_1"),
    "internlm3": ("InternLM3", dict(COMMON, hidden_size=30, attention_bias=True, mlp_bias=True, rope_parameters=rope("dynamic", factor=2.0)), "bfloat16"),
    "apertus": ("Apertus", dict(COMMON, hidden_size=24, head_dim=None, rope_parameters=LLAMA3), "bfloat16"),
    "gguf-apertus": ("Apertus", dict(COMMON, hidden_size=24, head_dim=None, rope_parameters=LLAMA3), None),
    "gguf-ministral3": ("Ministral3", dict(COMMON, hidden_size=18, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=16, beta_fast=32.0, beta_slow=1.0, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.6)), None),
    "gguf-olmo": ("Olmo", dict(COMMON, hidden_size=36, head_dim=None, clip_qkv=0.9), None),
    "gguf-olmo3": ("Olmo3", dict(COMMON, hidden_size=36, head_dim=None, num_hidden_layers=4, sliding_window=11, layer_types=["sliding_attention", "full_attention"] * 2, rope_parameters=dict(sliding_attention=rope(theta=3000.0), full_attention=rope("yarn", 3000.0, factor=4.0, original_max_position_embeddings=32))), None),
    "gguf-granite": ("Granite", dict(COMMON, hidden_size=36, head_dim=None, embedding_multiplier=0.6, residual_multiplier=0.8, attention_multiplier=0.3, logits_scaling=5.0, attention_bias=True, tie_word_embeddings=True), None),
    "gguf-cohere": ("Cohere", dict(COMMON, hidden_size=36, head_dim=None, logit_scale=0.25, attention_bias=True), None),
    "gguf-cohere2": ("Cohere2", dict(COMMON, hidden_size=24, head_dim=None, num_hidden_layers=4, sliding_window=10, logit_scale=0.25), None),
    "gguf-glm": ("Glm", dict(COMMON, hidden_size=60, rope_parameters=rope(partial_rotary_factor=0.4)), None),
    "gguf-glm4": ("Glm4", dict(COMMON, head_dim=12, attention_bias=True, rope_parameters=rope(partial_rotary_factor=0.34)), None),
    "gguf-starcoder2": ("Starcoder2", dict(COMMON, hidden_size=36, head_dim=None, num_key_value_heads=1, sliding_window=None), None),
    "gguf-stablelm": ("StableLm", dict(COMMON, hidden_size=48, head_dim=None, use_qkv_bias=True, rope_parameters=rope(partial_rotary_factor=0.5)), None),
    "gguf-stablelm-parallel": ("StableLm", dict(COMMON, hidden_size=48, head_dim=None, use_parallel_residual=True, rope_parameters=rope(partial_rotary_factor=0.25)), None),
    "gguf-stablelm-norms": ("StableLm", dict(COMMON, hidden_size=48, head_dim=None, qk_layernorm=True, rope_parameters=rope(partial_rotary_factor=0.25)), None),
    "gguf-phi": ("Phi", dict(COMMON, hidden_size=48, head_dim=None, num_attention_heads=3, num_key_value_heads=3, rope_parameters=rope(partial_rotary_factor=0.5)), None),
    "gguf-nemotron": ("Nemotron", dict(COMMON, head_dim=12, mlp_bias=True, rope_parameters=rope(partial_rotary_factor=0.5)), None),
    "gguf-seed-oss": ("SeedOss", dict(COMMON, attention_out_bias=True), None),
    "gguf-exaone4": ("Exaone4", dict(COMMON, num_hidden_layers=4, sliding_window=10), None),
    "gguf-arcee": ("Arcee", dict(COMMON, hidden_size=30, mlp_bias=True, rope_parameters=rope("yarn", factor=4.0, original_max_position_embeddings=32)), None),
    "gpt-oss": ("GptOss", dict(GPT_OSS, hidden_size=28, intermediate_size=22, sliding_window=11, swiglu_limit=0.8), "bfloat16"),
    "gpt-oss-mxfp4": ("GptOss", dict(GPT_OSS | WIDE_BLOCKS, sliding_window=13, num_key_value_heads=1), "bfloat16"),
    "gguf-gpt-oss": ("GptOss", dict(GPT_OSS | WIDE_BLOCKS, sliding_window=9), None),
    "gguf-gpt-oss-mxfp4": ("GptOss", dict(GPT_OSS | WIDE_BLOCKS, sliding_window=12), "MXFP4"),
    "hunyuan": ("HunYuanDenseV1", dict(COMMON, attention_bias=True, rope_parameters=rope("dynamic", 300.0, factor=1.0, alpha=30.0)), "bfloat16"),
    "hunyuan-plain": ("HunYuanDenseV1", dict(COMMON, hidden_size=18, num_key_value_heads=1, head_dim=12, tie_word_embeddings=True), "bfloat16"),
    "gguf-hunyuan": ("HunYuanDenseV1", dict(COMMON, rope_parameters=rope("dynamic", 300.0, factor=1.0, alpha=30.0)), None),
    # transformers has no class of these: a Llama, rewritten to their keys and layout.
    "internlm": ("InternLM", dict(COMMON, hidden_size=60, head_dim=None, num_key_value_heads=6, max_position_embeddings=32, attention_bias=True, rope_parameters=rope("dynamic", 1000.0, factor=2.0)), "bfloat16"),
    "internlm2": ("InternLM2", dict(COMMON, hidden_size=60, head_dim=None, rope_parameters=rope("dynamic", 1000.0, factor=2.0)), "bfloat16"),
    "gguf-internlm2": ("InternLM2", dict(COMMON, hidden_size=60, head_dim=None, rope_parameters=rope(theta=1000.0)), None),
    "olmoe-clip": ("Olmoe", dict(COMMON, hidden_size=36, head_dim=None, num_experts=5, num_experts_per_tok=2, clip_qkv=0.6), "bfloat16"),
    "opt-350m": ("OPT", dict(OPT, hidden_size=30, word_embed_proj_dim=14, do_layer_norm_before=False), "bfloat16"),
    "cohere-plus": ("Cohere", dict(COMMON, hidden_size=36, head_dim=None, logit_scale=0.25, use_qk_norm=True), "bfloat16"),
    "gguf-cohere-plus": ("Cohere", dict(COMMON, hidden_size=36, head_dim=None, logit_scale=0.25, use_qk_norm=True), None),
    "llama4": ("Llama4", dict(LLAMA4, attention_chunk_size=13, floor_scale=9, attn_scale=0.5, interleave_moe_layer_step=2, rope_parameters=LLAMA3), "bfloat16"),
    "llama4-plain": ("Llama4", dict(LLAMA4, attention_chunk_size=7, use_qk_norm=False, attn_temperature_tuning=False, num_experts_per_tok=2, no_rope_layers=[1, 0, 0, 1]), "bfloat16"),
    "llama4-pictures": ("Llama4Pictures", dict(text_config=dict(LLAMA4, num_hidden_layers=2, attention_chunk_size=16), vision_config=dict(VISION, num_hidden_layers=1, num_attention_heads=1, hidden_size=8, intermediate_size=32, image_size=16, patch_size=8, vision_output_dim=8, projector_input_dim=8, projector_output_dim=8)), "bfloat16"),
    "gguf-llama4": ("Llama4", dict(LLAMA4, attention_chunk_size=8192, floor_scale=8192, interleave_moe_layer_step=2, rope_parameters=LLAMA3), None),
    "deepseek-v2": ("DeepseekV2", dict(DEEPSEEK, q_lora_rank=None, num_experts_per_tok=2, n_shared_experts=2, routed_scaling_factor=1.5, first_k_dense_replace=1, topk_method="greedy", attention_bias=True), "bfloat16"),
    "deepseek-v2-groups": ("DeepseekV2", dict(DEEPSEEK, num_experts_per_tok=3, n_shared_experts=1, topk_method="group_limited_greedy", n_group=4, topk_group=2, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=32, mscale=0.7, mscale_all_dim=0.9)), "bfloat16"),
    "deepseek-v3": ("DeepseekV3", dict(DEEPSEEK, num_hidden_layers=3, num_experts_per_tok=3, n_shared_experts=2, n_group=4, topk_group=2, routed_scaling_factor=1.7, first_k_dense_replace=1, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=32, mscale=1.0, mscale_all_dim=1.0)), "bfloat16"),
    "deepseek-v3-halves": ("DeepseekV3", dict(DEEPSEEK, num_attention_heads=1, num_key_value_heads=1, q_lora_rank=None, num_experts_per_tok=2, n_group=1, topk_group=1, first_k_dense_replace=0, rope_interleave=False, tie_word_embeddings=True), "bfloat16"),
    "gguf-gpt2": ("GPT2", dict(GPT, n_embd=18), None),
    "gguf-bloom": ("Bloom", dict(vocab_size=VOCABULARY, hidden_size=30, n_head=5, n_layer=2, bos_token_id=257, eos_token_id=258, seq_length=131), None),
    "gguf-falcon": ("Falcon", dict(FALCON, hidden_size=36), None),
    "gguf-falcon-new": ("Falcon", dict(FALCON, hidden_size=36, num_kv_heads=3, tie_word_embeddings=False, new_decoder_architecture=True, multi_query=False), None),
    "gguf-deepseek-v2": ("DeepseekV2", dict(DEEPSEEK, q_lora_rank=None, num_experts_per_tok=2, n_shared_experts=2, routed_scaling_factor=1.5, first_k_dense_replace=1, topk_method="greedy"), None),
    "gguf-deepseek-v3": ("DeepseekV3", dict(DEEPSEEK, num_experts_per_tok=3, n_shared_experts=1, n_group=4, topk_group=2, routed_scaling_factor=1.7, first_k_dense_replace=1, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=32, mscale=0.8, mscale_all_dim=0.8)), None),
    "gemma4": ("Gemma4", dict(GEMMA4, num_hidden_layers=4, layer_types=["sliding_attention", "full_attention"] * 2, final_logit_softcapping=5.0, rope_parameters=dict(sliding_attention=rope(theta=300.0), full_attention=rope("proportional", 400.0, partial_rotary_factor=0.5, factor=2.0))), "bfloat16"),
    "gemma4-values": ("Gemma4", dict(GEMMA4, attention_k_eq_v=False, attention_bias=True, tie_word_embeddings=False, layer_types=["full_attention", "sliding_attention", "full_attention"]), "bfloat16"),
    "gemma4-pictures": ("Gemma4Pictures", dict(text_config=dict(GEMMA4, pad_token_id=263, layer_types=["sliding_attention", "sliding_attention", "full_attention"]), vision_config=dict(VISION, num_key_value_heads=1, head_dim=8, patch_size=4, position_embedding_size=4), audio_config=None), "bfloat16"),
    "gemma4-shared": ("Gemma4", dict(GEMMA4, num_hidden_layers=7, attention_k_eq_v=False, hidden_size_per_layer_input=12, vocab_size_per_layer_input=VOCABULARY, num_kv_shared_layers=3, use_double_wide_mlp=True, layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"]), "bfloat16"),
    "gemma4-shared-pictures": ("Gemma4Pictures", dict(text_config=dict(GEMMA4, hidden_size=20, num_hidden_layers=4, pad_token_id=263, hidden_size_per_layer_input=6, vocab_size_per_layer_input=VOCABULARY, num_kv_shared_layers=2, layer_types=["sliding_attention", "full_attention", "sliding_attention", "full_attention"]), vision_config=dict(VISION, num_key_value_heads=1, head_dim=8, patch_size=4, position_embedding_size=4), audio_config=None), "bfloat16"),
    "gemma4-experts": ("Gemma4", dict(GEMMA4, hidden_size=20, enable_moe_block=True, num_experts=5, top_k_experts=2, moe_intermediate_size=18, layer_types=["sliding_attention", "full_attention", "full_attention"]), "bfloat16"),
    "gemma4-unified": ("Gemma4Unified", dict(text_config=dict(GEMMA4, hidden_size=18, pad_token_id=0, layer_types=["sliding_attention", "full_attention", "full_attention"]), vision_config=None, audio_config=None), "bfloat16"),
    "gguf-gemma4-q8_0": ("Gemma4", dict(GEMMA4 | BLOCKS, num_key_value_heads=1, num_hidden_layers=5, global_head_dim=32, attention_k_eq_v=False, hidden_size_per_layer_input=32, vocab_size_per_layer_input=VOCABULARY, num_kv_shared_layers=2, use_double_wide_mlp=True, final_logit_softcapping=5.0, layer_types=["sliding_attention", "full_attention", "sliding_attention", "sliding_attention", "full_attention"]), "Q8_0"),
    "gguf-gemma4-experts": ("Gemma4", dict(GEMMA4, hidden_size=20, enable_moe_block=True, num_experts=5, top_k_experts=2, moe_intermediate_size=18, layer_types=["sliding_attention", "full_attention", "full_attention"]), None),
    "gpt-neo": ("GPTNeo", dict(vocab_size=VOCABULARY, hidden_size=30, intermediate_size=44, num_layers=3, num_heads=3, max_position_embeddings=131, window_size=11, attention_types=[[["global", "local"], 1], [["local"], 1]], bos_token_id=257, eos_token_id=258), "bfloat16"),
    "gpt-bigcode": ("GPTBigCode", dict(GPT, n_inner=44), "bfloat16"),
    "gpt-bigcode-heads": ("GPTBigCode", dict(GPT, n_embd=18, multi_query=False, tie_word_embeddings=False), "bfloat16"),
    "qwen3-next": ("Qwen3Next", dict(DELTA | SPARSE, mlp_only_layers=[1], rope_parameters=rope(theta=300.0, partial_rotary_factor=0.5)), "bfloat16"),
    "qwen3-5": ("Qwen3_5", dict(DELTA, attention_bias=True, linear_conv_kernel_dim=3, rope_parameters=rope(theta=300.0, partial_rotary_factor=0.5, mrope_section=[1, 1, 1], mrope_interleaved=True)), "bfloat16"),
    "qwen3-5-pictures": ("Qwen3_5Pictures", dict(text_config=dict(DELTA, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"], hidden_size=18, pad_token_id=0, rope_parameters=rope(theta=300.0, partial_rotary_factor=0.5, mrope_section=[1, 1, 1], mrope_interleaved=True)), vision_config=dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=1, out_hidden_size=18, patch_size=4)), "bfloat16"),
    "qwen3-5-moe": ("Qwen3_5Moe", dict({key: value for key, value in DELTA.items() if key != "intermediate_size"} | SPARSE, linear_num_value_heads=2, rope_parameters=rope(theta=300.0, partial_rotary_factor=0.5, mrope_section=[1, 1, 1], mrope_interleaved=True)), "bfloat16"),
    "gguf-qwen3-next": ("Qwen3Next", dict(DELTA | SPARSE, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"], rope_parameters=rope(theta=300.0, partial_rotary_factor=0.5)), None),
    "gguf-qwen3-5": ("Qwen3_5", dict(DELTA, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"], rope_parameters=rope(theta=300.0, partial_rotary_factor=0.5, mrope_section=[1, 1, 1], mrope_interleaved=True)), None),
    "gguf-qwen3-5-moe": ("Qwen3_5Moe", dict({key: value for key, value in DELTA.items() if key != "intermediate_size"} | SPARSE, num_hidden_layers=2, layer_types=["linear_attention", "full_attention"], rope_parameters=rope(theta=300.0, partial_rotary_factor=0.5, mrope_section=[1, 1, 1], mrope_interleaved=True)), None),
    "lfm2": ("Lfm2", dict(LFM2, conv_bias=True, block_ff_dim=60, block_ffn_dim_multiplier=1.2, block_multiple_of=7), "bfloat16"),
    "lfm2-moe": ("Lfm2Moe", dict(LFM2, hidden_size=30, head_dim=8, num_experts=5, num_experts_per_tok=2, moe_intermediate_size=20, num_dense_layers=1, routed_scaling_factor=1.5), "bfloat16"),
    "lfm2-pictures": ("Lfm2Pictures", dict(text_config=dict(LFM2, model_type="lfm2", num_hidden_layers=2, layer_types=["conv", "full_attention"], hidden_size=24, pad_token_id=0, block_auto_adjust_ff_dim=False), vision_config=dict(VISION, model_type="siglip2_vision_model", patch_size=4, num_patches=4, vision_use_head=False), projector_hidden_size=8), "bfloat16"),
    "gguf-lfm2": ("Lfm2", dict(LFM2, block_auto_adjust_ff_dim=False), None),
    "gguf-lfm2-moe": ("Lfm2Moe", dict(LFM2, hidden_size=30, head_dim=8, num_experts=5, num_experts_per_tok=2, moe_intermediate_size=20, num_dense_layers=1), None),
    "granite-hybrid": ("GraniteMoeHybrid", dict(GRANITE4, mamba_proj_bias=True, mamba_n_groups=2), "bfloat16"),
    "granite-hybrid-experts": ("GraniteMoeHybrid", dict(GRANITE4, attention_bias=True, num_local_experts=5, num_experts_per_tok=2, shared_intermediate_size=16, position_embedding_type="rope", mamba_conv_bias=False), "bfloat16"),
    "nemotron-h": ("NemotronH", dict(NEMOTRON_H, mlp_bias=True, use_bias=True), "bfloat16"),
    "nemotron-h-experts": ("NemotronHMoe", dict(NEMOTRON_H | NEMOTRON_EXPERTS, use_conv_bias=False), "bfloat16"),
    "gguf-nemotron-h": ("NemotronH", dict(NEMOTRON_H, ssm_state_size=8), None),
    "gguf-nemotron-h-experts": ("NemotronHMoe", dict(NEMOTRON_H | NEMOTRON_EXPERTS), None),
    "gguf-granite-hybrid": ("GraniteMoeHybrid", dict(GRANITE4, mamba_n_groups=2, mamba_d_state=8), None),
    "gguf-granite-hybrid-experts": ("GraniteMoeHybrid", dict(GRANITE4, num_local_experts=5, num_experts_per_tok=2, intermediate_size=20, shared_intermediate_size=16, position_embedding_type="rope"), None),
    "gguf-gpt-bigcode": ("GPTBigCode", dict(GPT, n_embd=18), None),
    "gguf-qwen2-5-vl": ("Qwen2_5_VL", dict(text_config=dict(COMMON, hidden_size=36, head_dim=None, rope_parameters=rope(theta=500.0, mrope_section=[1, 1, 1])), vision_config=dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=1, out_hidden_size=36, patch_size=4)), None),
    "qwen3-vl": ("Qwen3VL", QWEN3_VL, "bfloat16"),
    "qwen3-vl-moe": ("Qwen3VLMoe", QWEN3_VL_MOE, "bfloat16"),
    "ernie4-5-moe": ("Ernie4_5_Moe", dict(COMMON, hidden_size=18, num_hidden_layers=4, moe_num_experts=7, moe_k=3, moe_intermediate_size=14, moe_layer_end_index=2), "bfloat16"),
    "dots1": ("Dots1", dict(COMMON, hidden_size=18, num_hidden_layers=3, moe_intermediate_size=14, n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=2, n_group=4, topk_group=2, routed_scaling_factor=1.7, norm_topk_prob=True, first_k_dense_replace=1, attention_bias=True, sliding_window=11, max_window_layers=2), "bfloat16"),
    "minimax-m2": ("MiniMaxM2", dict(COMMON, hidden_size=18, intermediate_size=14, num_local_experts=7, num_experts_per_tok=3, rope_parameters=rope(theta=300.0, partial_rotary_factor=0.6)), "bfloat16"),
    # As published: the number of chosen experts once per layer.
    "hunyuan-moe": ("HunYuanMoEV1", dict(COMMON, hidden_size=18, intermediate_size=14, num_experts=5, moe_topk=[2, 2], rope_parameters=rope("dynamic", 300.0, factor=1.0, alpha=30.0)), "bfloat16"),
    "glm4-moe-lite": ("Glm4MoeLite", dict(DEEPSEEK, hidden_size=18, moe_intermediate_size=14, num_hidden_layers=3, num_experts_per_tok=3, n_shared_experts=2, mlp_layer_types=["sparse", "dense", "sparse"]), "bfloat16"),
    "gguf-ernie4-5-moe": ("Ernie4_5_Moe", dict(COMMON, hidden_size=18, num_hidden_layers=3, moe_num_experts=7, moe_k=3, moe_intermediate_size=14), None),
    "gguf-dots1": ("Dots1", dict(COMMON, hidden_size=18, num_hidden_layers=3, moe_intermediate_size=14, n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=2, routed_scaling_factor=1.7, first_k_dense_replace=1), None),
    "gguf-minimax-m2": ("MiniMaxM2", dict(COMMON, hidden_size=18, intermediate_size=14, num_local_experts=7, num_experts_per_tok=3, rope_parameters=rope(theta=300.0, partial_rotary_factor=0.6)), None),
    "gguf-hunyuan-moe": ("HunYuanMoEV1", dict(COMMON, hidden_size=18, intermediate_size=14, num_experts=5, moe_topk=2, rope_parameters=rope("dynamic", 300.0, factor=1.0, alpha=30.0)), None),
    # In GGUF files one epsilon is for all norms.
    "gguf-glm4-moe-lite": ("Glm4MoeLite", dict(DEEPSEEK, hidden_size=18, moe_intermediate_size=14, num_experts_per_tok=3, rms_norm_eps=1e-6), None),
    "llava": ("Llava", dict(text_config=dict(COMMON, model_type="llama", hidden_size=18), vision_config=dict(VISION, model_type="clip_vision_model", image_size=8, patch_size=4)), "bfloat16"),
    "smolvlm": ("SmolVLM", dict(text_config=dict(COMMON, model_type="llama", hidden_size=18, head_dim=8, num_attention_heads=3, num_key_value_heads=1, rope_parameters=rope(theta=300.0)), vision_config=dict(VISION, image_size=8, patch_size=4)), "bfloat16"),
    "internvl": ("InternVL", dict(text_config=dict(COMMON, model_type="qwen3", hidden_size=18), vision_config=dict(VISION, image_size=[8, 8], patch_size=[4, 4])), "bfloat16"),
    "qwen2-vl": ("Qwen2VL", dict(text_config=dict(COMMON, hidden_size=36, head_dim=None, rope_parameters=rope(theta=500.0, mrope_section=[1, 1, 1])), vision_config=dict(depth=1, hidden_size=36, embed_dim=8, num_heads=1, patch_size=4)), "bfloat16"),
    "granitemoe": ("GraniteMoe", dict(COMMON, hidden_size=18, head_dim=None, num_attention_heads=3, num_key_value_heads=1, intermediate_size=14, num_local_experts=7, num_experts_per_tok=3, embedding_multiplier=0.6, residual_multiplier=0.8, attention_multiplier=0.3, logits_scaling=5.0, tie_word_embeddings=True), "bfloat16"),
    "granitemoeshared": ("GraniteMoeShared", dict(COMMON, hidden_size=18, head_dim=None, num_attention_heads=3, num_key_value_heads=3, intermediate_size=14, shared_intermediate_size=20, num_local_experts=5, num_experts_per_tok=2, embedding_multiplier=0.6, residual_multiplier=0.8, attention_multiplier=0.3, logits_scaling=5.0, attention_bias=True), "bfloat16"),
    "gguf-granitemoe": ("GraniteMoe", dict(COMMON, hidden_size=18, head_dim=None, num_attention_heads=3, num_key_value_heads=1, intermediate_size=14, num_local_experts=7, num_experts_per_tok=3, embedding_multiplier=0.6, residual_multiplier=0.8, attention_multiplier=0.3, logits_scaling=5.0, tie_word_embeddings=True), None),
    "gguf-granitemoeshared": ("GraniteMoeShared", dict(COMMON, hidden_size=18, head_dim=None, num_attention_heads=3, num_key_value_heads=3, intermediate_size=14, shared_intermediate_size=20, num_local_experts=5, num_experts_per_tok=2, embedding_multiplier=0.6, residual_multiplier=0.8, attention_multiplier=0.3, logits_scaling=5.0), None),
    "afmoe": ("Afmoe", dict(COMMON, hidden_size=18, num_hidden_layers=4, num_dense_layers=2, moe_intermediate_size=14, num_experts=7, num_experts_per_tok=3, route_scale=1.7, mup_enabled=True, sliding_window=11, layer_types=["full_attention", "sliding_attention", "sliding_attention", "full_attention"]), "bfloat16"),
    "gguf-afmoe": ("Afmoe", dict(COMMON, hidden_size=18, num_hidden_layers=4, num_dense_layers=1, moe_intermediate_size=14, num_experts=7, num_experts_per_tok=3, route_scale=1.7, mup_enabled=True, sliding_window=11), None),
    "vaultgemma": ("VaultGemma", dict(COMMON, hidden_size=18, sliding_window=12, query_pre_attn_scalar=17, attn_logit_softcapping=2.0, final_logit_softcapping=5.0), "bfloat16"),
    "flex-olmo": ("FlexOlmo", dict(COMMON, hidden_size=36, head_dim=None, intermediate_size=14, num_experts=5, num_experts_per_tok=2), "bfloat16"),
    "jais2": ("Jais2", dict(COMMON, hidden_size=30), "bfloat16"),
    "gguf-jais2": ("Jais2", dict(COMMON, hidden_size=30), None),
    "glm4v": ("Glm4v", dict(text_config=dict(COMMON, hidden_size=36, num_attention_heads=3, num_key_value_heads=1, head_dim=None, rope_parameters=rope(theta=500.0, partial_rotary_factor=0.5, mrope_section=[1, 1, 1])), vision_config=dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=1, out_hidden_size=36, patch_size=4, image_size=8)), "bfloat16"),
    "exaone": ("Exaone", dict(COMMON, hidden_size=30, head_dim=None, num_attention_heads=3, num_key_value_heads=1, rope_parameters=LLAMA3), "bfloat16"),
    "gguf-exaone": ("Exaone", dict(COMMON, hidden_size=30, head_dim=None, num_attention_heads=3, num_key_value_heads=1, rope_parameters=LLAMA3), None),
    "cwm": ("Cwm", dict(COMMON, hidden_size=18, num_hidden_layers=3, sliding_window=11, layer_types=["full_attention", "sliding_attention", "sliding_attention"], rope_parameters=LLAMA3), "bfloat16"),
    "exaone-moe": ("ExaoneMoe", EXAONE_MOE, "bfloat16"),
    "gguf-exaone-moe": ("ExaoneMoe", dict(EXAONE_MOE, mlp_layer_types=["dense", "sparse", "sparse"]), None),
    "exaone4-5": ("Exaone4_5", dict(text_config=dict(COMMON, model_type="exaone4", hidden_size=18, sliding_window=11, layer_types=["full_attention", "sliding_attention"]), vision_config=dict(depth=1, hidden_size=8, intermediate_size=8, num_heads=1, num_key_value_heads=1, out_hidden_size=18, patch_size=4)), "bfloat16"),
    "solar-open": ("SolarOpen", dict({key: value for key, value in COMMON.items() if key != "intermediate_size"}, hidden_size=18, moe_intermediate_size=14, n_routed_experts=8, num_experts_per_tok=3, n_group=4, topk_group=2, routed_scaling_factor=1.7, attention_bias=True, rope_parameters=rope("yarn", 3000.0, factor=4.0, original_max_position_embeddings=32)), "bfloat16"),
    "hyperclovax": ("HyperCLOVAX", dict(COMMON, hidden_size=18, embedding_multiplier=3.0, attention_multiplier=0.3, residual_multiplier=0.6, logits_scaling=0.4), "bfloat16"),
    "mellum": ("Mellum", dict(COMMON, hidden_size=18, num_hidden_layers=3, moe_intermediate_size=14, num_experts=5, num_experts_per_tok=2, sliding_window=11, layer_types=["sliding_attention", "full_attention", "sliding_attention"], mlp_layer_types=["sparse", "dense", "sparse"], rope_parameters=dict(full_attention=rope("yarn", 3000.0, factor=4.0, original_max_position_embeddings=32), sliding_attention=rope(theta=300.0))), "bfloat16"),
    "youtu": ("Youtu", dict({key: value for key, value in DEEPSEEK.items() if key not in ("n_routed_experts", "moe_intermediate_size")}, hidden_size=18, rope_parameters=rope(theta=300.0)), "bfloat16"),
    "mistral4": ("Mistral3", dict(text_config=dict(DEEPSEEK, model_type="mistral4", hidden_size=18, moe_intermediate_size=14, num_experts_per_tok=3, n_group=4, topk_group=2, routed_scaling_factor=1.7, rope_parameters=rope("yarn", 300.0, factor=4.0, original_max_position_embeddings=16, mscale=1.0, mscale_all_dim=1.0, llama_4_scaling_beta=0.3)), vision_config=dict(VISION, model_type="pixtral", head_dim=4, image_size=16, patch_size=8), tie_word_embeddings=False), "bfloat16"),
    "phimoe": ("Phimoe", dict({key: value for key, value in COMMON.items() if key != "head_dim"}, hidden_size=36, intermediate_size=14, num_local_experts=5, attention_bias=True, lm_head_bias=True, router_jitter_noise=0.25, max_position_embeddings=160, rope_parameters=rope("longrope", short_mscale=1.2, long_mscale=1.2, original_max_position_embeddings=128, **LONG)), "bfloat16"),
    "bamba": ("Bamba", dict(COMMON, num_hidden_layers=3, head_dim=None, hidden_size=48, num_attention_heads=6, num_key_value_heads=3, intermediate_size=20, attn_layer_indices=[1, 2], mamba_n_heads=4, mamba_n_groups=2, mamba_d_state=6, mamba_d_conv=3, mamba_expand=1, mlp_bias=True, rope_parameters=rope(theta=300.0)), "bfloat16"),
    # As published: factors, no norm in the mixer, no biases.
    "falcon-h1": ("FalconH1", dict(COMMON, hidden_size=36, intermediate_size=20, mamba_d_ssm=24, mamba_n_heads=6, mamba_n_groups=2, mamba_d_state=7, mamba_d_conv=3, embedding_multiplier=2.5, lm_head_multiplier=0.4, key_multiplier=0.6, attention_in_multiplier=1.2, attention_out_multiplier=0.9, ssm_in_multiplier=1.25, ssm_out_multiplier=0.7, ssm_multipliers=[0.8, 0.6, 0.9, 1.3, 0.7], mlp_multipliers=[0.8, 0.6], rope_parameters=rope(theta=300.0)), "bfloat16"),
    # A norm before the gate, and biases.
    "falcon-h1-norm": ("FalconH1", dict(COMMON, head_dim=None, hidden_size=36, num_attention_heads=6, num_key_value_heads=3, intermediate_size=20, mamba_d_ssm=None, mamba_expand=1, mamba_n_heads=4, mamba_n_groups=2, mamba_d_state=6, mamba_d_conv=4, mamba_rms_norm=True, attention_bias=True, mlp_bias=True, projectors_bias=True, mamba_proj_bias=True, mamba_conv_bias=False, key_multiplier=0.7, ssm_out_multiplier=0.8, ssm_multipliers=[0.9, 1.1, 0.8, 1.2, 0.7], mlp_multipliers=[1.1, 0.9], rope_parameters=rope(theta=300.0)), "bfloat16"),
    # One group: with two, transformers' own bfloat16 is a tenth of the largest logit away.
    "gguf-falcon-h1": ("FalconH1", dict(COMMON, hidden_size=36, intermediate_size=20, mamba_d_ssm=24, mamba_n_heads=6, mamba_n_groups=1, mamba_d_state=8, mamba_rms_norm=True, mamba_norm_before_gate=False, mamba_d_conv=3, embedding_multiplier=2.5, lm_head_multiplier=0.4, key_multiplier=0.6, attention_in_multiplier=1.2, attention_out_multiplier=0.9, ssm_in_multiplier=1.25, ssm_out_multiplier=0.7, ssm_multipliers=[0.8, 0.6, 0.9, 1.3, 0.7], mlp_multipliers=[0.8, 0.6], rope_parameters=rope(theta=300.0)), None),
    "gguf-qwen3-vl": ("Qwen3VL", QWEN3_VL, None),
    "gguf-qwen3-vl-moe": ("Qwen3VLMoe", dict(QWEN3_VL_MOE, text_config=dict(QWEN3_VL_MOE["text_config"], mlp_only_layers=[])), None),
}

# Files as they were written before transformers 5: what replaces rope_parameters in config.json.
OLD_ROPE = {
    "exaone": dict(rope_theta=500.0, rope_scaling={key: value for key, value in LLAMA3.items() if key != "rope_theta"}),
    "llama-tied-linear": dict(rope_theta=10000.0, rope_scaling=dict(type="linear", factor=2.5)),
    "longchat": dict(rope_theta=10000.0, rope_condense_ratio=4),
    "gemma3": dict(rope_theta=4000.0, rope_local_base_freq=300.0, rope_scaling=dict(rope_type="linear", factor=2.0)),
    "phi3-long": dict(rope_theta=10000.0, partial_rotary_factor=0.5, rope_scaling=dict(type="longrope", **LONG)),
    "gpt-neox-serial": dict(rotary_emb_base=10000, rotary_pct=0.34),
    "olmo3-old": dict(rope_theta=500000.0, rope_scaling=dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=32)),
}
# What is changed in config.json afterwards; None: taken out.
EDITS = {
    "exaone": dict(num_hidden_layers=None, num_layers=2, rms_norm_eps=None, layer_norm_epsilon=1e-5, hidden_act=None, activation_function="silu"),
    "llama-other-head": dict(tie_word_embeddings=True),
    # As published files are: the class's own default ties, and the file has a head of its own.
    "mistral3": dict(tie_word_embeddings=None),
    # As published files are: transformers 5.24 writes per_layer_config instead.
    "gemma4": dict(per_layer_config=None, global_head_dim=16, num_global_key_value_heads=2),
}
# Text settings in config.json itself, mrope as it was written before transformers 5.
FLAT = dict.fromkeys(("qwen2-vl", "qwen2-5-vl"), dict(rope_theta=500.0, rope_scaling=dict(type="mrope", mrope_section=[1, 1, 1])))
SHARDED = {"olmo2": "20KB"}
CLASSES = {
    "NemotronHMoe": ("NemotronHConfig", "NemotronHForCausalLM"),
    "InternLM3": ("InternLM3Config", "LlamaForCausalLM"),
    "Llama4": ("Llama4TextConfig", "Llama4ForCausalLM"),
    "Llama4Pictures": ("Llama4Config", "Llama4ForConditionalGeneration"),
    "InternLM": ("LlamaConfig", "LlamaForCausalLM"),
    "InternLM2": ("LlamaConfig", "LlamaForCausalLM"),
    "GPT2": ("GPT2Config", "GPT2LMHeadModel"),
    "Gemma3": ("Gemma3TextConfig", "Gemma3ForCausalLM"),
    "Gemma3Pictures": ("Gemma3Config", "Gemma3ForConditionalGeneration"),
    "Gemma4": ("Gemma4TextConfig", "Gemma4ForCausalLM"),
    "Gemma4Pictures": ("Gemma4Config", "Gemma4ForConditionalGeneration"),
    "Gemma4Unified": ("Gemma4UnifiedConfig", "Gemma4UnifiedForConditionalGeneration"),
    "Qwen3_5": ("Qwen3_5TextConfig", "Qwen3_5ForCausalLM"),
    "Qwen3_5Pictures": ("Qwen3_5Config", "Qwen3_5ForConditionalGeneration"),
    "Qwen3_5Moe": ("Qwen3_5MoeTextConfig", "Qwen3_5MoeForCausalLM"),
    "Lfm2Pictures": ("Lfm2VlConfig", "Lfm2VlForConditionalGeneration"),
    "Mistral3": ("Mistral3Config", "Mistral3ForConditionalGeneration"),
    "Llava": ("LlavaConfig", "LlavaForConditionalGeneration"),
    "SmolVLM": ("SmolVLMConfig", "SmolVLMForConditionalGeneration"),
    "InternVL": ("InternVLConfig", "InternVLForConditionalGeneration"),
    "Qwen2VL": ("Qwen2VLConfig", "Qwen2VLForConditionalGeneration"),
    "Glm4v": ("Glm4vConfig", "Glm4vForConditionalGeneration"),
    "Exaone4_5": ("Exaone4_5_Config", "Exaone4_5_ForConditionalGeneration"),
    "Exaone": ("ExaoneConfig", "AutoModelForCausalLM"),  # a Llama under other names
    "Ernie4_5_Moe": ("Ernie4_5_MoeConfig", "Ernie4_5_MoeForCausalLM"),
    "Qwen3VL": ("Qwen3VLConfig", "Qwen3VLForConditionalGeneration"),
    "Qwen3VLMoe": ("Qwen3VLMoeConfig", "Qwen3VLMoeForConditionalGeneration"),
    "Qwen2_5_VL": ("Qwen2_5_VLConfig", "Qwen2_5_VLForConditionalGeneration"),
}
