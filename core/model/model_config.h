// SPDX-License-Identifier: MIT
// The description of a model, on which alone the decoder depends: it does not read the
// architecture's name. The readers of files (gguf_model.h, folder_model.h) fill it in and check it,
// so that its numbers can be multiplied and divided without further checks.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace midscope {

enum class NormKind { kRms, kLayer };  // kLayer: subtracts the mean; has a bias if the file has one

// Activation of an MLP. kRelu: max(0, x). kSquaredRelu: max(0, x)^2. kXielu: see XieluSettings; for
// MLPs without a gate. kClampedSwiglu: g sigmoid(gain g) (u + 1) for a gate g clamped from above
// and an up value u clamped on both sides (gpt_oss); only in experts.
enum class Activation { kSilu, kGelu, kGeluTanh, kRelu, kSquaredRelu, kXielu, kClampedSwiglu };

// Settings of xIELU in one layer (arXiv 2411.13010). With a = softplus(alpha_positive) and b =
// softplus(alpha_negative) + beta: for x > 0, a x^2 + beta x; else b (e^min(x, epsilon) - 1 - x) +
// beta x.
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

// The norm of q and k after projection. kHead: over each head (qwen3, gemma3); kWidth: over all
// heads together (olmo2); kEachHead: over each head, with separate weights per head and the model's
// kind of norm (cohere). kHead and kWidth are RMS norms.
enum class QueryKeyNorm { kNone, kHead, kWidth, kEachHead };

// kLearned: each position has an embedding, which is added to the token's (gpt2, opt). kSinusoidal:
// the added embedding is computed, for any position (xglm). kNone: attention sees the order of
// tokens only through causality and through layers without attention (granite_hybrid).
enum class PositionKind { kRotary, kAlibi, kLearned, kSinusoidal, kNone };

// Whether positions have embeddings, which are added to the token embeddings.
constexpr bool EmbedsPositions(PositionKind positions) {
  return positions == PositionKind::kLearned || positions == PositionKind::kSinusoidal;
}

// Returns how a model without rotation represents positions, for messages.
constexpr const char* UnrotatedText(PositionKind positions) {
  switch (positions) {
    case PositionKind::kAlibi:
      return "it attends with ALiBi";
    case PositionKind::kLearned:
      return "its positions are learned embeddings";
    case PositionKind::kNone:
      return "its attention has no positions";
    default:
      return "its positions are sinusoidal embeddings";
  }
}

enum class RopeScalingKind { kNone, kLinear, kDynamic, kLlama3, kYarn, kLongRope };

// Rope scaling in the model's configuration; comments give the keys or kinds in transformers.
struct RopeScaling {
  RopeScalingKind kind = RopeScalingKind::kNone;
  double factor = 1.0;
  double original_context = 0;         // original_max_position_embeddings
  double low_frequency_factor = 1.0;   // llama3
  double high_frequency_factor = 4.0;  // llama3
  double beta_fast = 32.0;             // yarn
  double beta_slow = 1.0;              // yarn
  bool truncate = true;         // yarn: whether the range of blended pairs is rounded to integers
  double attention_factor = 0;  // yarn, longrope; 0: computed by the usual formula
  std::vector<double> short_factors;  // longrope, [rotary pairs]
  std::vector<double> long_factors;   // longrope
  bool operator==(const RopeScaling&) const = default;
};

// Parts of a layer: both, or only the token mixer (such as attention) or the MLP (nemotron_h).
enum class LayerHalves { kBoth, kMixer, kMlp };

// How a layer mixes tokens: by attention, by ModelConfig::Mixer (delta rule, convolution or state
// space), or by both, which read the same input and whose outputs are added (falcon_h1).
enum class RowMixing { kAttention, kMixer, kBoth };

// Settings that may differ from layer to layer.
struct LayerAttention {
  int64_t window = 0;  // keys that a query sees, including its own; 0: all
  bool rotary = true;  // false: no positions in this layer (SmolLM3's NoPE layers)
  bool local = false;  // rotates with rope_local_base and without scaling (gemma3's sliding layers)
  int64_t chunk = 0;   // tokens per chunk; a query sees only its own chunk; 0: no chunks
  double logit_divisor = 1.0;   // of the logits, besides logit_scale (gpt2: the layer, from 1)
  int64_t head_dim = 0;         // if it is not the model's, which is the largest; else 0 (gemma4)
  int64_t key_value_heads = 0;  // if they are not the model's; else 0
  bool value_is_key = false;    // the projected key is also the value: there is no value matrix
  RowMixing mixing = RowMixing::kAttention;
  // The earlier layer whose keys and values this layer reads instead of projecting its own
  // (gemma4); -1: none. Keys are rotated by the angles of this layer.
  int64_t keys_of = -1;
  int64_t feed_forward = 0;  // if it is not the model's; else 0
  LayerHalves halves = LayerHalves::kBoth;
  bool mixes() const { return halves != LayerHalves::kMlp; }
  bool attends() const { return mixes() && mixing != RowMixing::kMixer; }
  bool has_mixer() const { return mixes() && mixing != RowMixing::kAttention; }
  bool operator==(const LayerAttention&) const = default;
};

// How a router's logits become the scores by which experts are chosen. kSparseMixer (phimoe, arXiv
// 2409.12136) chooses experts one after another; the softmax of each includes only the experts not
// yet chosen whose relative distance to the largest logit is at most 2 * jitter.
enum class ExpertScore { kSoftmax, kSigmoid, kSparseMixer };

// A mixture of experts: each token uses only the few MLPs with the largest scores (among equal
// scores, the first).
struct ExpertSettings {
  int64_t count = 0;         // 0: the model has none
  int64_t per_row = 0;       // num_experts_per_tok
  int64_t width = 0;         // feed-forward width of one expert
  int64_t shared_width = 0;  // total width of the shared experts, which every token uses; 0: none
  bool shared_gate = false;  // shared output times the sigmoid of a projection (qwen2_moe)
  ExpertScore score = ExpertScore::kSoftmax;
  double jitter = 0;         // router_jitter_noise, for kSparseMixer
  bool normalised = false;   // norm_topk_prob: chosen scores are divided by their sum
  double sum_epsilon = 0;    // added to that sum (lfm2_moe)
  bool choice_bias = false;  // e_score_correction_bias: added to scores only for the choice
  // Only experts of the groups_per_row groups with the largest sum of two scores can be chosen.
  int64_t groups = 1;
  int64_t groups_per_row = 1;
  bool groups_by_largest = false;  // groups are chosen by their largest score instead (deepseek_v2)
  double scale = 1.0;              // routed_scaling_factor
  // Whether an expert's input instead of its output is multiplied by the expert's weight; experts
  // are then chosen by logits (llama4).
  bool scales_input = false;
  // Whether an MLP runs in parallel with the experts (gemma4): MLP, experts and router have
  // separate input norms, and the normed outputs of MLP and experts are added. The weights of
  // chosen experts also have a learned factor.
  bool beside_mlp = false;
  std::vector<bool> layers = {};  // [layer]: whether the layer's MLP is a mixture; empty: no layer
  bool In(int64_t layer) const { return !layers.empty() && layers[static_cast<size_t>(layer)]; }
};

// Attention over latent keys (MLA, arXiv 2405.04434). For each token a layer stores one key with
// rope_dimensions rotated elements and `rank` others, which all heads share; the `rank` elements
// are also the token's value. ModelConfig therefore has one key-value head with head_dim =
// rope_dimensions + rank. Queries and outputs are multiplied by the matrices that would otherwise
// map the latent key to each head's keys and values.
struct LatentAttention {
  int64_t rank = 0;        // kv_lora_rank; 0: the model has none
  int64_t query_rank = 0;  // q_lora_rank; 0: queries are projected in one step
  int64_t plain = 0;       // qk_nope_head_dim: elements of a head's query that are not rotated
  int64_t value = 0;       // v_head_dim
  double norm_epsilon = 1e-6;
  bool interleaved = true;  // rotated pairs are adjacent in the file
  bool split = false;       // separate tensors in the file for keys and values of heads (GGUF)
  bool used() const { return rank > 0; }
};

// Layers that mix tokens by the gated delta rule (arXiv 2412.06464). Each value head has a state,
// the matrix S [key_dim, value_dim]. For each token with key k, value v, query q, decay a and rate
// b: S = a S; S += k (b (v - S^T k))^T; output S^T q. Queries, keys and values first pass a causal
// convolution; then queries and keys are normalised to length 1.
struct DeltaRule {
  int64_t key_heads = 0;    // 0: the model has no such layers
  int64_t value_heads = 0;  // a multiple of key_heads
  int64_t key_dim = 0;      // per head
  int64_t value_dim = 0;    // per head
  int64_t taps = 0;         // tokens of the convolution, including the current one
  // Value head v uses key head v % key_heads (GGUF) instead of v / (value_heads / key_heads).
  bool tiled = false;
  bool log_decays = false;  // decay scales are stored as logarithms of their negatives (folders)
  bool used() const { return key_heads > 0; }
  int64_t key_width() const { return key_heads * key_dim; }
  int64_t value_width() const { return value_heads * value_dim; }
  int64_t mixed_width() const { return 2 * key_width() + value_width(); }  // query, key, value
};

// Layers that mix tokens by a gated convolution (lfm2): the output is c * convolution(b * x) for
// the projections b, c and x, each as wide as the residual stream.
struct ShortConvolution {
  int64_t taps = 0;  // tokens of the convolution, including the current one; 0: no such layers
  bool used() const { return taps > 0; }
};

// Position of the norm in a state space's output: after the product with silu(gate), before it, or
// none.
enum class GatedNorm { kAfterGate, kBeforeGate, kNone };

// Layers that mix tokens by a state space (Mamba-2, arXiv 2405.21060). Each head has a state, the
// matrix S [state_dim, head_dim]. For each token with input x, b, c, step t = softplus and decay a
// = exp(scale t): S = a S + b (t x)^T; output S^T c + skip x. x, b and c first pass a causal
// convolution. The output is multiplied by silu(gate) and normed in `groups` parts.
struct StateSpace {
  int64_t heads = 0;  // 0: the model has no such layers
  int64_t head_dim = 0;
  int64_t groups = 1;  // groups of consecutive heads; a group shares b and c
  int64_t state_dim = 0;
  int64_t taps = 0;         // as in DeltaRule
  bool log_decays = false;  // as in DeltaRule
  GatedNorm norm = GatedNorm::kAfterGate;
  // Factors of the projections gate, x, b, c and step (falcon_h1).
  std::array<double, 5> scales = {1, 1, 1, 1, 1};
  bool used() const { return heads > 0; }
  int64_t width() const { return heads * head_dim; }
  int64_t group_width() const { return groups * state_dim; }
  int64_t mixed_width() const { return width() + 2 * group_width(); }  // x, b, c
};

// Sizes of layers with a token mixer. A layer's state consists of the matrices of all heads and the
// convolution's last taps - 1 inputs.
struct MixerSizes {
  const char* kind = "";  // for messages; empty: the model has no such layers
  int64_t taps = 1;
  int64_t channels = 0;  // of the convolution
  int64_t matrices = 0;  // elements of all heads' matrices
  int64_t outputs = 0;   // before the projection to the stream
  int64_t heads = 0;     // heads with a matrix
  int64_t state() const { return matrices + (taps - 1) * channels; }
};

struct ModelConfig {
  std::string architecture;  // "llama", "gemma2"; not read by the decoder
  std::string name;          // the model's name in the file; may be empty
  int64_t layers = 0;        // 1 to 1,024
  int64_t heads = 0;         // query heads; a multiple of key_value_heads
  int64_t key_value_heads = 0;
  int64_t head_dim = 0;      // even; need not be hidden / heads
  int64_t hidden = 0;        // width of the residual stream
  int64_t feed_forward = 0;  // in layers without experts
  int64_t vocabulary = 0;
  // Width of embeddings and output matrix if it differs from `hidden` and projections connect them
  // (opt 350M); 0: no projections.
  int64_t embedding_width = 0;
  int64_t trained_context = 0;  // tokens
  // Whether runs may be longer than the trained context (core/plan/run_positions.h). It is an
  // option of the decoder and not read from the file.
  bool beyond_context = false;

  PositionKind positions = PositionKind::kRotary;
  double rope_base = 10000.0;
  double rope_local_base = 10000.0;
  int64_t rope_dimensions = 0;  // number of rotated dimensions of a head, its first ones; even
  // Number of rotary pairs that rotate, the first ones; the other pairs have a frequency of 0
  // (p-RoPE of gemma4, arXiv 2410.06205). 0: all pairs rotate, as always in local layers.
  int64_t turning_pairs = 0;
  RopeScaling rope_scaling;
  double alibi_max_bias = 8.0;
  LatentAttention latent;
  // At most one of the three token mixers is used.
  DeltaRule delta_rule;
  ShortConvolution convolution;
  StateSpace state_space;
  // Whether heads' outputs are multiplied by the sigmoid of another projection of the input.
  bool gated_attention = false;
  // The query at position i is multiplied by 1 + query_growth ln(1 + floor(i /
  // query_growth_context)) (llama_4_scaling_beta of ministral3); 0: no factor.
  double query_growth = 0;
  double query_growth_context = 1;
  // Llama 4: query_growth applies only to layers without positions, with i counted from 1.
  bool query_growth_unrotated = false;
  bool alibi_bfloat16 = false;            // slopes are rounded to bfloat16 (falcon)
  double alibi_scale = 1.0;               // of slopes, after rounding
  int64_t position_offset = 0;            // of embeddings: the table's row for position 0 (opt: 2)
  std::vector<LayerAttention> attention;  // [layer]

  NormKind norm = NormKind::kRms;
  double norm_epsilon = 1e-5;
  bool norm_adds_one = false;   // whether norm weights w in the file mean 1 + w (gemma in a Hugging
                                // Face folder; in GGUF files 1 is already added)
  bool embedding_norm = false;  // a norm of the token embeddings, before layer 0 (bloom)
  bool norm_weights = true;     // false: norms have none (olmo)
  bool input_norms = true;      // norms before attention and MLP (not olmo2)
  bool output_norms =
      false;  // norms after attention and MLP, before they are added (gemma2, gemma3, olmo2)
  // Norms of the residual stream after attention and MLP have been added to it (opt 350M), with the
  // weights attention_norm and mlp_norm. Only without input_norms.
  bool stream_norms = false;
  bool final_norm = true;  // false: the last layer's output is unembedded directly
  QueryKeyNorm query_key_norm = QueryKeyNorm::kNone;
  bool norm_after_rotation = false;  // q and k are normed after rotation (hunyuan)
  bool value_norm = false;           // heads' values are normed, too, without weights (gemma4)
  // Whether query and key norms have no weights and exist only in layers with positions (llama4).
  bool plain_query_key_norm = false;
  bool parallel_residual = false;  // attention and MLP both read the block's input (gpt_neox)
  bool shared_norm = false;        // in a parallel block: both use the same norm (cohere, phi)
  bool gated_mlp = true;           // down(activation(gate) * up); else down(activation(up))
  Activation activation = Activation::kSilu;
  ClampedSwiglu clamped_swiglu;      // for kClampedSwiglu
  std::vector<XieluSettings> xielu;  // [layer], for kXielu; empty: stored in tensors
  ExpertSettings experts;

  double embedding_scale = 1.0;  // gemma: sqrt(hidden)
  // Width of a token's additional embeddings, one per layer. Each layer adds its embedding to the
  // residual stream after its MLP, through a gate (gemma4); 0: none.
  int64_t layer_input_width = 0;
  bool layer_scale = false;   // each layer's output has a learned factor (gemma4)
  double update_scale = 1.0;  // of attention and MLP outputs when added to the stream (granite)
  // Factors of the outputs of attention, token mixer and MLP, besides update_scale, and of an MLP's
  // gate before its activation (falcon_h1).
  double attention_scale = 1.0;
  double mixer_scale = 1.0;
  double mlp_scale = 1.0;
  double gate_scale = 1.0;
  double output_scale = 1.0;     // of the final logits, before final_softcap (cohere, granite)
  double logit_scale = 0;        // of attention logits; 0: 1 / sqrt(head_dim)
  double attention_softcap = 0;  // cap * tanh(x / cap) on attention logits; 0: none
  double final_softcap = 0;      // likewise on the final logits; 0: none
  // Whether each head has a learned logit (sink) that takes part in the softmax and has no value
  // (gpt_oss).
  bool attention_sinks = false;
  double clip_qkv = 0;           // q, k and v are clamped to +- this (mpt); 0: no clamp
  bool clip_after_norm = false;  // whether q and k are clamped after their norm (olmoe)

  // Number of multi-token prediction layers in the file, which are not read.
  int64_t prediction_layers = 0;
  bool tied_embeddings = false;  // no separate output matrix: logits use the embeddings
  std::string quantisation;      // the tensor type that holds most parameters, "Q4_1"
  int64_t parameters = 0;
  int64_t stored_bytes = 0;     // bytes of the parameters in the file
  int64_t quantised_bytes = 0;  // bytes of quantised parameters among them
  // Bytes of matrices that are copied into memory when the file is opened, because matrix products
  // cannot read their layout (MXFP4 of folders, and [inputs, outputs]).
  int64_t copied_bytes = 0;

  // Notes for the user on how the file was read, one sentence each: ignored parts, an output matrix
  // that is used despite the configuration. They are printed by `info` and when the file is opened.
  std::vector<std::string> notes;

  int64_t heads_per_key_value_head() const { return heads / key_value_heads; }
  LayerAttention AttentionOf(int64_t layer) const {
    return attention.empty() ? LayerAttention{} : attention.at(static_cast<size_t>(layer));
  }
  bool HasAttention(int64_t layer) const { return AttentionOf(layer).attends(); }
  bool HasMlp(int64_t layer) const { return AttentionOf(layer).halves != LayerHalves::kMixer; }
  // Whether an output row of the layer depends on other tokens.
  bool MixesRows(int64_t layer) const { return AttentionOf(layer).mixes(); }
  bool HasMixer(int64_t layer) const { return AttentionOf(layer).has_mixer(); }
  bool HasMixers() const { return delta_rule.used() || convolution.used() || state_space.used(); }
  MixerSizes Mixer() const {
    const DeltaRule& rule = delta_rule;
    const StateSpace& space = state_space;
    if (rule.used()) {
      return {"a gated delta rule", rule.taps,
              rule.mixed_width(),   rule.value_heads * rule.key_dim * rule.value_dim,
              rule.value_width(),   rule.value_heads};
    }
    if (space.used()) {
      return {"a state space (Mamba-2)",       space.taps,    space.mixed_width(),
              space.width() * space.state_dim, space.width(), space.heads};
    }
    if (convolution.used()) return {"a gated convolution", convolution.taps, hidden, 0, hidden};
    return {};
  }
  int64_t HeadDim(int64_t layer) const {
    const int64_t own = AttentionOf(layer).head_dim;
    return own > 0 ? own : head_dim;
  }
  int64_t KeyValueHeads(int64_t layer) const {
    const int64_t own = AttentionOf(layer).key_value_heads;
    return own > 0 ? own : key_value_heads;
  }
  bool SharesKeys(int64_t layer) const { return AttentionOf(layer).keys_of >= 0; }
  // Returns the layer whose projected keys and values `layer` reads: usually `layer` itself.
  int64_t KeysOf(int64_t layer) const {
    const int64_t lender = AttentionOf(layer).keys_of;
    return lender >= 0 ? lender : layer;
  }
  // Returns the first layer whose keys another layer reads; the number of layers if none.
  int64_t FirstLentLayer() const {
    int64_t first = layers;
    for (const LayerAttention& layer : attention) {
      if (layer.keys_of >= 0) first = std::min(first, layer.keys_of);
    }
    return first;
  }
  int64_t FeedForward(int64_t layer) const {
    const int64_t own = AttentionOf(layer).feed_forward;
    return own > 0 ? own : feed_forward;
  }
  int64_t QueryWidth(int64_t layer) const { return heads * HeadDim(layer); }
  int64_t KeyWidth(int64_t layer) const { return KeyValueHeads(layer) * HeadDim(layer); }
  int64_t LargestKeyWidth() const {
    int64_t largest = 0;
    for (int64_t layer = 0; layer < layers; ++layer) largest = std::max(largest, KeyWidth(layer));
    return largest;
  }
};

}  // namespace midscope
