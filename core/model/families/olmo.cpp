// SPDX-License-Identifier: MIT
// OLMo 1: LayerNorm without weights; query, key and value clamped.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::olmo {
namespace {

void SetNorms(ModelConfig* config) {
  config->norm = NormKind::kLayer;
  config->norm_weights = false;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  SetNorms(config);
  config->norm_epsilon = 1e-5;  // transformers' default, for which there is no key
  if (json.Has("clip_qkv")) config->clip_qkv = json.Positive("clip_qkv");
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json);
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  SetNorms(config);
  config->clip_qkv = metadata.PositiveOrZero("attention.clamp_kqv");
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.interleaved = true}); }

}  // namespace

const Family& OlmoFamily() {
  static const Family family = {"olmo", "olmo",   ReadFolder, FolderTensors,
                                "olmo", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::olmo
