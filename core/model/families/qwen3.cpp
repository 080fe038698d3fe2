// SPDX-License-Identifier: MIT
// Qwen3: norms of query and key over each head.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/qwen_window.h"

namespace midscope::qwen3 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.head_dim = 128}, config);
  ReadQwenWindow(json, config);
  config->query_key_norm = QueryKeyNorm::kHead;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json);
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  config->query_key_norm = QueryKeyNorm::kHead;
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.attention = Bias::kMay}); }

}  // namespace

const Family& Qwen3Family() {
  static const Family family = {"qwen3", "qwen3",  ReadFolder, FolderTensors,
                                "qwen3", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::qwen3
