// SPDX-License-Identifier: MIT
// Keys and names that most families share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/config_json.h"
#include "core/model/families/family.h"
#include "core/model/model_config.h"

namespace midscope {

// Defaults that transformers uses for keys absent from config.json; they differ between families.
struct FolderDefaults {
  double norm_epsilon = 1e-6;
  std::string_view norm_epsilon_key = "rms_norm_eps";
  bool tied = false;
  std::string_view activation = "silu";
  std::string_view activation_key = "hidden_act";
  double rope_base = 10000.0;
  std::optional<double> partial_rotary = {};  // RopeDefaults::partial
  bool read_rope = true;
  std::optional<int64_t> head_dim = {};  // nullopt: hidden_size / num_attention_heads
  // nullopt: the key is required (for num_key_value_heads: the number of heads, as if it is null).
  std::optional<int64_t> layers = {};
  std::optional<int64_t> hidden = {};
  std::optional<int64_t> feed_forward = {};
  std::optional<int64_t> vocabulary = {};
  std::optional<int64_t> heads = {};
  std::optional<int64_t> key_value_heads = {};
  std::optional<int64_t> context = {};
};

// Reads sizes, norms' epsilon, activation, tying and rope of the families with llama's key names.
// Sets global attention in every layer.
void ReadLlamaLike(const ConfigJson& json, const FolderDefaults& defaults, ModelConfig* config);

// Throws Error for an unknown name.
Activation ReadActivation(const ConfigJson& json, std::string_view key, std::string_view otherwise);

// Returns a number that is stored under one of two names (attribute_map of transformers). Throws
// Error if both are present and differ.
int64_t CountOfTwo(const ConfigJson& json, std::string_view key, std::string_view other,
                   int64_t max, std::optional<int64_t> otherwise = {});

// Defaults, used if the file has no value, for the families with GPT-2's key names: sizes, norms'
// epsilon and activation. These families share LayerNorm and an MLP without a gate.
struct GptDefaults {
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t vocabulary = 0;
  int64_t heads = 0;
  int64_t context = 0;
};
void ReadGptLike(const ConfigJson& json, const GptDefaults& defaults, ModelConfig* config);

// Throws Error if the flag is true (absent: false).
void RefuseFlag(const ConfigJson& json, std::string_view key);

// Returns sliding_window; 0 if it is null, `otherwise` if it is absent.
int64_t ReadWindow(const ConfigJson& json, int64_t otherwise);

// Sets one window for every layer.
void SetWindow(int64_t window, ModelConfig* config);
// Switches positions off in layers without a window.
void RotateInWindowsAlone(ModelConfig* config);
// Reads no_rope_layers (1: a layer with positions, despite the key's name); if absent, every
// no_rope_layer_interval-th layer has none. `may_be_longer`: whether flags beyond the last layer
// are ignored instead of refused.
void ReadRotaryLayers(const ConfigJson& json, int64_t interval, bool may_be_longer,
                      ModelConfig* config);
// Sets positions that rotate nothing. head_dim must be set.
void SetUnrotated(PositionKind positions, ModelConfig* config);

// Rows of a mixer's convolution, at most.
inline constexpr int64_t kMostTaps = 64;
// Marks layers with a mixer, and adds the note on layers without attention. without_attention:
// [layer]. The mixer and the layers' halves must be set.
void SetRecurrent(const std::vector<bool>& without_attention, ModelConfig* config);
// Gives every layer a mixer beside its attention, and adds a note on it. The mixer must be set.
void SetMixerBesideAttention(ModelConfig* config);

// The sizes and tensors of state spaces in folders, with the key names of Granite 4.0. width: of
// all heads; out: the bias of the projection to the stream.
StateSpace ReadFolderStateSpace(const ConfigJson& json, int64_t width, const ModelConfig& config);
void AddFolderStateSpacePlaces(const ConfigJson& json, Bias out, std::vector<TensorPlace>& places);

// Returns [layer]: whether layer_types names it as `kind`, or if it is absent, what `by_default`
// says. Throws Error for a type that is neither that nor full_attention.
std::vector<bool> ReadLayersOfKind(const ConfigJson& json, const std::string& kind,
                                   const std::function<bool(int64_t)>& by_default, int64_t count);

// Reads layer_types, or if it is absent, calls `is_local` for each layer; layers of
// "sliding_attention" get `window`. Throws Error for an unknown type of layer.
void ReadLayerTypes(const ConfigJson& json, int64_t window, bool (*is_local)(int64_t, int64_t),
                    int64_t argument, ModelConfig* config);

// Reads sizes and epsilon of a GGUF file. If a mixer is set, layers without key-value heads have no
// attention. `epsilon_key`: "attention.layer_norm_rms_epsilon".
// `layers_differ`: the MLP's width is that of the first layer and the number of key-value heads
// that of the last; the family must read those of the others. With a mixer, each layer is an MLP or
// has none, as its width says.
void ReadGgufSizes(const GgufMetadata& metadata, std::string_view epsilon_key, ModelConfig* config,
                   bool layers_differ = false);
// Like ReadGgufSizes, and also reads its rope: base, dimensions, scaling (also as tensors of
// factors).
void ReadGgufCommon(const GgufMetadata& metadata, std::string_view epsilon_key,
                    ModelConfig* config);
// As above, for RMS norms.
void ReadGgufCommon(const GgufMetadata& metadata, ModelConfig* config);
// Returns [pairs]: a tensor's factors that divide the frequencies of rotated pairs; empty if the
// file has no such tensor. Throws Error if they are not rope_dimensions / 2 positive numbers.
std::vector<double> ReadGgufFactors(const GgufMetadata& metadata, const char* name,
                                    const ModelConfig& config);
// Reads windows: attention.sliding_window applies to the layers that
// attention.sliding_window_pattern marks (one flag per layer), or to all but the last of each
// `period` layers (the key may contain another period). If the file has no window, there is none.
void ReadGgufWindows(const GgufMetadata& metadata, int64_t period, ModelConfig* config);

struct FolderLayout {
  Bias attention = Bias::kNever;  // of query, key and value
  Bias attention_out = Bias::kNever;
  Bias mlp = Bias::kNever;
  Bias norms = Bias::kNever;   // of the final norm and the norms before attention and MLP
  bool output_norms = false;   // named as in gemma2 and olmo2
  bool fused = false;          // qkv_proj, as in phi3
  bool fused_gate_up = false;  // gate_up_proj
  bool interleaved = false;    // rotary order of the rows of query and key (cohere, glm)
};
std::vector<TensorPlace> LlamaLikeTensors(const FolderLayout& layout);
// Replaces the place that has the same name.
void ReplacePlace(const TensorPlace& place, std::vector<TensorPlace>& places);
// Like LlamaLikeTensors; the file's "attention_bias" (absent: false) says whether the four
// projections of attention have biases.
std::vector<TensorPlace> TensorsByAttentionBias(const ConfigJson& json, FolderLayout layout = {});
// Likewise "mlp_bias" for the MLP.
std::vector<TensorPlace> TensorsByBiases(const ConfigJson& json);

struct GgufLayout {
  bool interleaved = false;  // rotary order of the rows of query and key
  bool fused_attention = false;
  bool fused_gate_up = false;
  Bias attention = Bias::kNever;
  Bias attention_out = Bias::kNever;
  Bias mlp = Bias::kNever;
  Bias norms = Bias::kNever;
  bool experts = false;  // whether to call AddGgufExpertPlaces
};
// Llama's own layout; biases exist if the file has them.
inline constexpr GgufLayout kLlamaGguf = {
    .interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay, .mlp = Bias::kMay};
std::vector<TensorPlace> GgufTensors(const GgufLayout& layout);
// The sizes and tensors of state spaces, as GGUF files name them.
StateSpace ReadGgufStateSpace(const GgufMetadata& metadata);
void AddGgufStateSpacePlaces(std::vector<TensorPlace>& places);
// Returns the tensors of GPT-2's relatives: queries, keys and values stacked, LayerNorms with
// biases. `bias`: whether the projections have biases.
std::vector<TensorPlace> GgufGptTensors(Bias bias);

// Returns Bias::kMust if the flag is true (or if it is absent and `otherwise` is true), else
// kNever.
Bias BiasFlag(const ConfigJson& json, std::string_view key, bool otherwise);

// Reads the sliding window of qwen2 and qwen3: if use_sliding_window is true, layers from
// max_window_layers on see sliding_window keys.
void ReadQwenWindow(const ConfigJson& json, ModelConfig* config, int64_t full_layers = 28);

}  // namespace midscope
