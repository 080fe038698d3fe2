// SPDX-License-Identifier: MIT
// Shared by families: the keys and names that most of them use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/families/family.h"

namespace midscope {

// Defaults of transformers for keys that a config.json leaves out; they differ between families.
struct FolderDefaults {
  double norm_epsilon = 1e-6;
  std::string_view norm_epsilon_key = "rms_norm_eps";
  bool tied = false;
  std::string_view activation = "silu";
  std::string_view activation_key = "hidden_act";
  double rope_base = 10000.0;
  std::optional<double> partial_rotary = {};  // RopeDefaults::partial
  bool read_rope = true;
  std::optional<int64_t> head_dim = {};  // nothing: hidden_size / num_attention_heads
  // Nothing: the key must be there (num_key_value_heads: as many as heads).
  std::optional<int64_t> layers = {};
  std::optional<int64_t> hidden = {};
  std::optional<int64_t> feed_forward = {};
  std::optional<int64_t> vocabulary = {};
  std::optional<int64_t> heads = {};
  std::optional<int64_t> key_value_heads = {};
  std::optional<int64_t> context = {};
};

// Sizes, norms' epsilon, activation, tying and rope of the families with llama's key names.
// Attention is global.
void ReadLlamaLike(const ConfigJson& json, const FolderDefaults& defaults, ModelConfig* config);

// Throws Error for a name that is not known.
Activation ReadActivation(const ConfigJson& json, std::string_view key, std::string_view otherwise);

// A number under one of two names (attribute_map of transformers). Throws Error where both are
// there and differ.
int64_t CountOfTwo(const ConfigJson& json, std::string_view key, std::string_view other,
                   int64_t max, std::optional<int64_t> otherwise = {});

// Sizes, norms' epsilon and activation of the families with GPT-2's key names, and what they share:
// LayerNorm, an MLP without a gate. Values: defaults where the file has none.
struct GptDefaults {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int64_t heads = 0;
  int64_t context = 0;
};
void ReadGptLike(const ConfigJson& json, const GptDefaults& defaults, ModelConfig* config);

// Throws Error where the flag is set (absent: not).
void RefuseFlag(const ConfigJson& json, std::string_view key);

// sliding_window, 0 where it is null; absent: `otherwise`.
int64_t ReadWindow(const ConfigJson& json, int64_t otherwise);

// Sets one window for every layer.
void SetWindow(int64_t window, ModelConfig* config);
// Layers without a window have no positions.
void RotateInWindowsAlone(ModelConfig* config);
// no_rope_layers (1: a layer with positions, despite the key's name); absent: every
// no_rope_layer_interval-th layer has none. `may_be_longer`: flags beyond the layers are passed
// over; otherwise they are refused.
void ReadRotaryLayers(const ConfigJson& json, int64_t interval, bool may_be_longer,
                      ModelConfig* config);
// Positions by which nothing is rotated. Needs head_dim.
void SetUnrotated(PositionKind positions, ModelConfig* config);

// layer_types, or where it is absent, `is_local` of each layer; layers of
// "sliding_attention" get `window`. Throws Error for another type of layer.
void ReadLayerTypes(const ConfigJson& json, int64_t window, bool (*is_local)(int64_t, int64_t),
                    int64_t argument, ModelConfig* config);

// Sizes and epsilon of a GGUF file. `epsilon_key`: "attention.layer_norm_rms_epsilon".
void ReadGgufSizes(const GgufMetadata& metadata, std::string_view epsilon_key, ModelConfig* config);
// As above, and its rope: base, dimensions, scaling (also as tensors of factors).
void ReadGgufCommon(const GgufMetadata& metadata, std::string_view epsilon_key,
                    ModelConfig* config);
// Windows: attention.sliding_window in the layers that attention.sliding_window_pattern marks (one
// flag per layer), or in all but the last of each `period` layers (the key may hold another
// period). No windows where the file has none.
void ReadGgufWindows(const GgufMetadata& metadata, int64_t period, ModelConfig* config);

struct FolderLayout {
  Bias attention = Bias::kNever;  // query, key, value
  Bias attention_out = Bias::kNever;
  Bias mlp = Bias::kNever;
  Bias norms = Bias::kNever;   // of the final norm and those before attention and MLP
  bool output_norms = false;   // as gemma2 and olmo2 name their norms
  bool fused = false;          // qkv_proj, as in phi3
  bool fused_gate_up = false;  // gate_up_proj
  bool interleaved = false;    // rotary rows of query and key (cohere, glm)
};
std::vector<TensorPlace> LlamaLikeTensors(const FolderLayout& layout);
// Takes the place of the one with its name.
void ReplacePlace(const TensorPlace& place, std::vector<TensorPlace>& places);
// As LlamaLikeTensors, where the file's "attention_bias" (absent: no) is whether the four
// projections of attention have biases.
std::vector<TensorPlace> TensorsByAttentionBias(const ConfigJson& json, FolderLayout layout = {});

struct GgufLayout {
  bool interleaved = false;  // rotary rows of query and key
  bool fused_attention = false;
  bool fused_gate_up = false;
  Bias attention = Bias::kNever;
  Bias attention_out = Bias::kNever;
  Bias mlp = Bias::kNever;
  Bias norms = Bias::kNever;
  bool experts = false;  // AddGgufExpertPlaces
};
// Llama's own: biases where the file has them.
inline constexpr GgufLayout kLlamaGguf = {
    .interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay, .mlp = Bias::kMay};
std::vector<TensorPlace> GgufTensors(const GgufLayout& layout);
// Those of GPT-2's relatives: queries, keys and values one after the other, LayerNorms with biases.
// `bias`: of the projections.
std::vector<TensorPlace> GgufGptTensors(Bias bias);

// Bias::kMust where the flag is true (or `otherwise` where it is absent), else kNever.
Bias BiasFlag(const ConfigJson& json, std::string_view key, bool otherwise);

}  // namespace midscope
