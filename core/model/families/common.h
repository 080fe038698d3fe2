// SPDX-License-Identifier: MIT
// Configuration keys and tensor names that most model families share.
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
  // Defaults of sizes; nullopt: required (key_value_heads: the number of heads, also for null).
  std::optional<int64_t> layers = {};
  std::optional<int64_t> hidden = {};
  std::optional<int64_t> feed_forward = {};
  std::optional<int64_t> vocabulary = {};
  std::optional<int64_t> heads = {};
  std::optional<int64_t> key_value_heads = {};
  std::optional<int64_t> context = {};
};

// Reads sizes, norm epsilon, activation, tying of embeddings and rope settings under llama's key
// names. Sets global attention in every layer.
void ReadLlamaLike(const ConfigJson& json, const FolderDefaults& defaults, ModelConfig* config);

// Returns the activation that `key` names (absent: `otherwise`). Throws Error if it is unknown.
Activation ReadActivation(const ConfigJson& json, std::string_view key, std::string_view otherwise);

// Returns a number that is stored under one of two names (attribute_map of transformers). Throws
// Error if both are present and differ.
int64_t CountOfTwo(const ConfigJson& json, std::string_view key, std::string_view other,
                   int64_t max, std::optional<int64_t> otherwise = {});

// Defaults of ReadGptLike for absent keys. ReadGptLike reads sizes, norm epsilon and activation
// under GPT-2's key names, for families with LayerNorm and an MLP without a gate.
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

// Returns the value of sliding_window; 0 if it is null, `otherwise` if the key is absent.
int64_t ReadWindow(const ConfigJson& json, int64_t otherwise);

// Sets a sliding window of `window` tokens in every layer.
void SetWindow(int64_t window, ModelConfig* config);
// Switches rotary positions off in layers without a sliding window.
void RotateInWindowsAlone(ModelConfig* config);
// Reads the key no_rope_layers (1: a layer with positions, despite the key's name). If it is
// absent, every no_rope_layer_interval-th layer has no positions. `may_be_longer`: whether flags
// beyond the last layer are ignored; otherwise they cause an error.
void ReadRotaryLayers(const ConfigJson& json, int64_t interval, bool may_be_longer,
                      ModelConfig* config);
// Sets a kind of positions without rotary embedding. head_dim must be set.
void SetUnrotated(PositionKind positions, ModelConfig* config);

// Maximum length of a token mixer's causal convolution.
inline constexpr int64_t kMostTaps = 64;
// Marks the layers that mix tokens without attention (recurrent or convolutional), and adds a note
// on them. without_attention: [layer]. The mixer's sizes and the layers' halves must be set.
void SetRecurrent(const std::vector<bool>& without_attention, ModelConfig* config);
// Sets a token mixer parallel to attention in every layer, and adds a note. Its sizes must be set.
void SetMixerBesideAttention(ModelConfig* config);

// Sizes and tensors of state spaces (Mamba-2) in Hugging Face folders, with the key names of
// Granite 4.0. width: of all heads together; out: whether the output projection has a bias.
StateSpace ReadFolderStateSpace(const ConfigJson& json, int64_t width, const ModelConfig& config);
void AddFolderStateSpacePlaces(const ConfigJson& json, Bias out, std::vector<TensorPlace>& places);

// Returns [layer]: whether layer_types names the layer as `kind`; by_default(layer) if the key is
// absent. Throws Error for a type that is neither `kind` nor full_attention.
std::vector<bool> ReadLayersOfKind(const ConfigJson& json, const std::string& kind,
                                   const std::function<bool(int64_t)>& by_default, int64_t count);

// Reads layer_types, or if it is absent, calls `is_local` for each layer, and sets `window` in
// layers of "sliding_attention". Throws Error for an unknown type of layer.
void ReadLayerTypes(const ConfigJson& json, int64_t window, bool (*is_local)(int64_t, int64_t),
                    int64_t argument, ModelConfig* config);

// Reads sizes and norm epsilon of a GGUF file. If a token mixer is set, layers without key-value
// heads have no attention. `epsilon_key`: "attention.layer_norm_rms_epsilon". `layers_differ`: the
// MLP width is read from the first layer and the number of key-value heads from the last; the
// family must read the numbers of the other layers. With a token mixer, a layer is only an MLP if
// its MLP width is over 0, and has no MLP otherwise.
void ReadGgufSizes(const GgufMetadata& metadata, std::string_view epsilon_key, ModelConfig* config,
                   bool layers_differ = false);
// Reads sizes and norm epsilon as ReadGgufSizes does, and the rope settings: base, dimensions,
// scaling (also scaling stored as tensors of factors).
void ReadGgufCommon(const GgufMetadata& metadata, std::string_view epsilon_key,
                    ModelConfig* config);
// Reads sizes and rope settings of a GGUF file whose norms are RMS norms.
void ReadGgufCommon(const GgufMetadata& metadata, ModelConfig* config);
// Returns [rotary pairs]: the divisors of the rotary frequencies in tensor `name`; empty if the
// file has no such tensor. Throws Error if they are not rope_dimensions / 2 positive numbers.
std::vector<double> ReadGgufFactors(const GgufMetadata& metadata, const char* name,
                                    const ModelConfig& config);
// Reads the layers with a sliding window: attention.sliding_window applies to the layers that
// attention.sliding_window_pattern marks (one flag per layer), or to all but the last of each
// `period` layers (the key may contain another period). No window in the file: none is set.
void ReadGgufWindows(const GgufMetadata& metadata, int64_t period, ModelConfig* config);

struct FolderLayout {
  Bias attention = Bias::kNever;  // whether query, key and value have biases
  Bias attention_out = Bias::kNever;
  Bias mlp = Bias::kNever;
  Bias norms = Bias::kNever;   // biases of the final norm and of the norms before attention and MLP
  bool output_norms = false;   // named as in gemma2 and olmo2
  bool fused = false;          // qkv_proj, as in phi3
  bool fused_gate_up = false;  // gate_up_proj
  bool interleaved = false;    // rotary order of the rows of query and key (cohere, glm)
};
std::vector<TensorPlace> LlamaLikeTensors(const FolderLayout& layout);
// Replaces the element of `places` that has the same decoder name.
void ReplacePlace(const TensorPlace& place, std::vector<TensorPlace>& places);
// Returns LlamaLikeTensors(layout), in which the four projections of attention have biases if the
// file's key "attention_bias" is true (absent: false).
std::vector<TensorPlace> TensorsByAttentionBias(const ConfigJson& json, FolderLayout layout = {});
// Returns the tensors of llama's layout, in which attention has biases if "attention_bias" is true,
// and the MLP if "mlp_bias" is true (absent: false).
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
// The layout of llama itself; biases are optional.
inline constexpr GgufLayout kLlamaGguf = {
    .interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay, .mlp = Bias::kMay};
std::vector<TensorPlace> GgufTensors(const GgufLayout& layout);
// Sizes and tensors of state spaces (Mamba-2) under their names in GGUF files.
StateSpace ReadGgufStateSpace(const GgufMetadata& metadata);
void AddGgufStateSpacePlaces(std::vector<TensorPlace>& places);
// Returns the tensors of families that are similar to GPT-2: queries, keys and values stacked in
// one matrix, LayerNorms with biases. `bias`: whether the projections have biases.
std::vector<TensorPlace> GgufGptTensors(Bias bias);

// Returns Bias::kMust if the flag `key` is true (absent: `otherwise`), else kNever.
Bias BiasFlag(const ConfigJson& json, std::string_view key, bool otherwise);

// Reads the sliding window of qwen2 and qwen3: if use_sliding_window is true, layers from
// max_window_layers on have a window of sliding_window tokens.
void ReadQwenWindow(const ConfigJson& json, ModelConfig* config, int64_t full_layers = 28);

}  // namespace midscope
