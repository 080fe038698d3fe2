// SPDX-License-Identifier: MIT
// SmolLM3: llama in which every fourth layer has no positions.
#include "core/model/families/common.h"

#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::smollm3 {
namespace {

constexpr int64_t kInterval = 4;  // the only value in llama.cpp

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.tied = true, .rope_base = 2000000.0}, config);
  ReadRotaryLayers(json, kInterval, /*may_be_longer=*/false, config);
  if (!json.Flag("use_sliding_window", false) || !json.Has("sliding_window")) return;
  const int64_t window = json.Count("sliding_window", kMaxTokens);
  ReadLayerTypes(
      json, window, [](int64_t, int64_t) { return false; }, 0, config);
  if (json.Has("layer_types")) return;
  for (LayerAttention& layer : config->attention) layer.window = layer.rotary ? 0 : window;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    config->attention[static_cast<size_t>(layer)].rotary = (layer + 1) % kInterval != 0;
  }
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay});
}

}  // namespace

const Family& SmolLm3Family() {
  static const Family family = {"smollm3", "smollm3", ReadFolder, TensorsByBiases,
                                "smollm3", ReadGguf,  GgufPlaces};
  return family;
}

}  // namespace midscope::smollm3
