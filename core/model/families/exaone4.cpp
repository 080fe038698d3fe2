// SPDX-License-Identifier: MIT
// EXAONE 4: norms only after attention and MLP, query and key normed over each head; the large
// model has a window in three of four layers, and no positions in the others.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

constexpr int64_t kWindow = 4096;

constexpr int64_t kPattern = 4;  // each fourth layer sees everything

void SetNorms(ModelConfig* config) {
  config->input_norms = false;
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kHead;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  SetNorms(config);
  const int64_t window = ReadWindow(json, kWindow);
  if (window == 0) return;
  // Files with layer_types may have the pattern as letters.
  const int64_t pattern = json.Has("layer_types")
                              ? kPattern
                              : json.Count("sliding_window_pattern", kMaxLayers, kPattern);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; },
      pattern, config);
  for (LayerAttention& layer : config->attention) layer.rotary = layer.window > 0;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return LlamaLikeTensors({.output_norms = true});
}

// llama.cpp builds in which layers have the window and rotate.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  ReadGgufRope(metadata, config);
  SetNorms(config);
  const int64_t window = metadata.CountOrZero("attention.sliding_window", kMaxTokens);
  if (window == 0) return;
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    LayerAttention& attention = config->attention[static_cast<size_t>(layer)];
    attention.window = (layer + 1) % kPattern != 0 ? window : 0;
    attention.rotary = attention.window > 0;
  }
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& Exaone4Family() {
  static const Family family = {"exaone4", "exaone4", ReadFolder, FolderTensors,
                                "exaone4", ReadGguf,  GgufPlaces};
  return family;
}

}  // namespace midscope
