// SPDX-License-Identifier: MIT
// A model's description as data: the decoder follows it and does not depend on the architecture's
// name. Readers of files (gguf_model.h, folder_model.h) fill it in and check it: its numbers can be
// multiplied and divided without further checks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

enum class NormKind { kRms, kLayer };  // kLayer: mean taken off, bias where the file has one

// kRelu: max(0, x). kSquaredRelu: its square. kXielu: XieluSettings; in MLPs without a gate.
// kClampedSwiglu: of a gate g clamped from above and up u clamped on both sides,
// g sigmoid(gain g) (u + 1) (gpt_oss); in experts alone.
enum class Activation { kSilu, kGelu, kGeluTanh, kRelu, kSquaredRelu, kXielu, kClampedSwiglu };

// Settings of one layer (arXiv 2411.13010); a is the softplus of alpha_positive, b that of
// alpha_negative plus beta: x > 0: a x^2 + beta x; else: b (e^min(x, epsilon) - 1 - x) + beta x.
struct XieluSettings {
  double alpha_positive = 0;
  double alpha_negative = 0;
  double beta = 0.5;
  double epsilon = -1e-6;
};

struct ClampedSwiglu {
  double gain = 1.702;
  double limit = 7.0;
};

// Norm of q and k after projection. kHead: over each head (qwen3, gemma3); kWidth: over all heads
// together (olmo2); kEachHead: over each head, with weights of its own, of the model's kind of norm
// (cohere). All but the last are RMS norms.
enum class QueryKeyNorm { kNone, kHead, kWidth, kEachHead };

// kLearned: each position has an embedding, which is added to the token's (gpt2, opt). kSinusoidal:
// so it has, but computed, for any position (xglm).
enum class PositionKind { kRotary, kAlibi, kLearned, kSinusoidal };

// Whether positions have embeddings, which are added below the first layer.
constexpr bool EmbedsPositions(PositionKind positions) {
  return positions == PositionKind::kLearned || positions == PositionKind::kSinusoidal;
}

// How a model that does not rotate has its positions, for messages.
constexpr const char* UnrotatedText(PositionKind positions) {
  switch (positions) {
    case PositionKind::kAlibi:
      return "it attends with ALiBi";
    case PositionKind::kLearned:
      return "its positions are learned embeddings";
    default:
      return "its positions are sinusoidal embeddings";
  }
}

enum class RopeScalingKind { kNone, kLinear, kDynamic, kLlama3, kYarn, kLongRope };

// Values of the model's own configuration (transformers' names in comments).
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::kNone;
  double factor = 1.0;
  double original_context = 0;         // original_max_position_embeddings
  double low_frequency_factor = 1.0;   // llama3
  double high_frequency_factor = 4.0;  // llama3
  double beta_fast = 32.0;             // yarn
  double beta_slow = 1.0;              // yarn
  bool truncate = true;                // yarn: the range of pairs in between is integers
  double attention_factor = 0;         // yarn, longrope; 0: by the usual formula
  std::vector<double> short_factors;   // longrope, [rotary pairs]
  std::vector<double> long_factors;    // longrope
  bool operator==(const RopeScaling&) const = default;
};

// Settings that may differ from layer to layer.
struct LayerAttention {
  int64_t window = 0;  // keys that a query sees, itself included; 0: all
  bool rotary = true;  // false: no positions in this layer (SmolLM3's NoPE layers)
  bool local = false;  // rotates by rope_local_base without scaling (gemma3's sliding layers)
  int64_t chunk = 0;   // queries see keys of their own chunk of so many rows; 0: of all
  double logit_divisor = 1.0;  // of the logits, beside logit_scale (gpt2: the layer, from 1)
  bool operator==(const LayerAttention&) const = default;
};

// The scores that a router's logits become before experts are chosen by them.
enum class ExpertScore { kSoftmax, kSigmoid };

// A mixture of experts: MLPs of which each row uses few, those with the largest scores (of equal
// ones the first).
struct ExpertSettings {
  int64_t count = 0;         // 0: the model has none
  int64_t per_row = 0;       // num_experts_per_tok
  int64_t width = 0;         // feed-forward width of one expert
  int64_t shared_width = 0;  // that of the shared experts, which every row uses, together; 0: none
  bool shared_gate = false;  // their output is scaled by the sigmoid of a projection (qwen2_moe)
  ExpertScore score = ExpertScore::kSoftmax;
  bool normalised = false;   // norm_topk_prob: chosen scores are divided by their sum
  bool choice_bias = false;  // e_score_correction_bias: added to scores for the choice alone
  // Only experts of the groups_per_row groups with the largest sum of two scores can be chosen.
  int64_t groups = 1;
  int64_t groups_per_row = 1;
  bool groups_by_largest = false;  // by the largest score instead (deepseek_v2)
  double scale = 1.0;              // routed_scaling_factor
  // An expert's input is scaled by its weight, not its output; experts are chosen by logits
  // (llama4).
  bool scales_input = false;
  std::vector<bool> layers = {};  // [layer]: whether the layer's MLP is a mixture; empty: in none
  bool In(int64_t layer) const { return !layers.empty() && layers[static_cast<size_t>(layer)]; }
};

// Attention over latent keys (MLA, arXiv 2405.04434). For each token a layer keeps one key of
// rope_dimensions rotated elements and `rank` others, which all heads share and which are its value
// too: ModelConfig has one key-value head of head_dim = rope_dimensions + rank. The matrices that
// map the latent key to keys and values of heads are multiplied with queries and outputs instead.
struct LatentAttention {
  int64_t rank = 0;        // kv_lora_rank; 0: the model has none
  int64_t query_rank = 0;  // q_lora_rank; 0: queries are projected at once
  int64_t plain = 0;       // qk_nope_head_dim: elements of a head's query that are not rotated
  int64_t value = 0;       // v_head_dim
  double norm_epsilon = 1e-6;
  bool interleaved = true;  // rotated pairs are adjacent in the file
  bool split = false;       // the file has separate tensors for keys and values of heads (GGUF)
  bool used() const { return rank > 0; }
};

struct ModelConfig {
  std::string architecture;  // "llama", "gemma2": which description this is; the decoder does not
                             // look at it
  std::string name;          // as the file calls the model; may be empty
  int64_t layers = 0;        // 1 to 1,024
  int64_t heads = 0;         // query heads; a multiple of key_value_heads
  int64_t key_value_heads = 0;
  int64_t head_dim = 0;      // even; need not be hidden / heads
  int64_t hidden = 0;        // width of the residual stream
  int64_t feed_forward = 0;  // of layers without experts
  int64_t vocabulary = 0;
  // Width of embeddings and output matrix that are projected to and from `hidden` (opt 350M); 0:
  // they are not.
  int64_t embedding_width = 0;
  int64_t trained_context = 0;  // tokens
  // Runs may be longer than the context holds (core/plan/context_limit.h): a decoder's option, not
  // the file's.
  bool beyond_context = false;

  PositionKind positions = PositionKind::kRotary;
  double rope_base = 10000.0;
  double rope_local_base = 10000.0;
  int64_t rope_dimensions = 0;  // rotated dimensions of a head, the first ones; even
  RopeScaling rope_scaling;
  double alibi_max_bias = 8.0;
  LatentAttention latent;
  // The query at position i is multiplied by 1 + query_growth ln(1 + floor(i /
  // query_growth_context)) (llama_4_scaling_beta of ministral3); 0: not.
  double query_growth = 0;
  double query_growth_context = 1;
  // Llama 4's: in layers without positions alone, by the row, counted from 1.
  bool query_growth_unrotated = false;
  bool alibi_bfloat16 = false;  // slopes are rounded to bfloat16 (falcon)
  double alibi_scale = 1.0;     // of slopes, after that
  int64_t position_offset = 0;  // of embeddings: row of the table that is position 0's (opt: 2)
  std::vector<LayerAttention> attention;  // [layer]

  NormKind norm = NormKind::kRms;
  double norm_epsilon = 1e-5;
  bool norm_adds_one = false;   // the file's norm weights w mean 1 + w (gemma in a Hugging Face
                                // folder; GGUF has added it)
  bool embedding_norm = false;  // a norm of the token embeddings, before layer 0 (bloom)
  bool norm_weights = true;     // false: norms have none (olmo)
  bool input_norms = true;      // norms before attention and MLP (not olmo2)
  bool output_norms =
      false;  // norms after attention and MLP, before they are added (gemma2, gemma3, olmo2)
  // Norms of the stream itself, after attention and after the MLP are added to it (opt 350M):
  // attention_norm and mlp_norm. Without input_norms.
  bool stream_norms = false;
  bool final_norm = true;  // false: the last layer's output is what is unembedded
  QueryKeyNorm query_key_norm = QueryKeyNorm::kNone;
  bool norm_after_rotation = false;  // q and k are normed after they are rotated (hunyuan)
  // Those norms have no weights, and layers without positions have no such norms (llama4).
  bool plain_query_key_norm = false;
  bool parallel_residual = false;  // attention and MLP both read the block's input (gpt_neox)
  bool shared_norm = false;        // of a parallel block: both after the one norm (cohere, phi)
  bool gated_mlp = true;           // down(activation(gate) * up); else down(activation(up))
  Activation activation = Activation::kSilu;
  ClampedSwiglu clamped_swiglu;      // of kClampedSwiglu
  std::vector<XieluSettings> xielu;  // [layer] of kXielu; empty: tensors hold them
  ExpertSettings experts;

  double embedding_scale = 1.0;  // gemma: sqrt(hidden)
  double update_scale = 1.0;     // of what attention and MLP add to the stream (granite)
  double output_scale = 1.0;     // of the model's logits, before final_softcap (cohere, granite)
  double logit_scale = 0;        // of attention; 0: 1 / sqrt(head_dim)
  double attention_softcap = 0;  // cap * tanh(x / cap) on attention logits; 0: none
  double final_softcap = 0;      // on the model's logits
  // A learned logit for each head that takes its share of the softmax and has no value (gpt_oss).
  bool attention_sinks = false;
  double clip_qkv = 0;           // q, k and v clamped to +- this (mpt); 0: not
  bool clip_after_norm = false;  // of q and k (olmoe)

  // Further layers that a file may hold to predict tokens after the next one. They are not read.
  int64_t prediction_layers = 0;
  bool tied_embeddings = false;  // no output matrix of its own: logits come from the embeddings
  std::string quantisation;      // the tensor type that holds most parameters, "Q4_1"
  int64_t parameters = 0;
  int64_t stored_bytes = 0;     // of those parameters in the file
  int64_t quantised_bytes = 0;  // those of them that are in blocks of a common scale
  // Bytes of matrices that are copied into memory when the file is opened, because products cannot
  // read their stored layout (MXFP4 of folders, [inputs, outputs]).
  int64_t copied_bytes = 0;

  // Notes for the user on how the file was read, each a sentence: parts that were left out, an
  // output matrix that is used against the configuration. Printed by `info`, and when opened.
  std::vector<std::string> notes;

  int64_t heads_per_key_value_head() const { return heads / key_value_heads; }
};

}  // namespace midscope
