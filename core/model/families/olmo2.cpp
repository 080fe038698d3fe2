// SPDX-License-Identifier: MIT
// OLMo 2: norms only after attention and MLP; query and key normed over all heads together.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope {
namespace {

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
  ReadGgufRope(metadata, config);
  SetNorms(config);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& Olmo2Family() {
  static const Family family = {"olmo2", "olmo2",  ReadFolder, FolderTensors,
                                "olmo2", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope
