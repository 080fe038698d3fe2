// SPDX-License-Identifier: MIT
// OLMo 2: norms only after attention and MLP; query and key are normed over all heads together. In
// GGUF also OLMo 3, which the converter writes as olmo2 with windows.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::olmo2 {
namespace {

constexpr int64_t kPattern = 4;  // OLMo 3: every fourth layer sees all keys

void SetNorms(ModelConfig* config) {
  config->input_norms = false;
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kWidth;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  SetNorms(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.output_norms = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  SetNorms(config);
  ReadGgufWindows(metadata, kPattern, config);
  // OLMo 3's layers with a window rotate without the scaling of the other layers.
  config->rope_local_base = metadata.Positive("rope.freq_base_swa", config->rope_base);
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& Olmo2Family() {
  static const Family family = {"olmo2", "olmo2",  ReadFolder, FolderTensors,
                                "olmo2", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::olmo2
