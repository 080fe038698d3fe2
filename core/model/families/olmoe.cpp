// SPDX-License-Identifier: MIT
// OLMoE: experts in every layer; query and key are normed over all heads together.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::olmoe {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  if (json.Has("clip_qkv")) config->clip_qkv = json.Positive("clip_qkv");
  config->clip_after_norm = true;
  config->query_key_norm = QueryKeyNorm::kWidth;
  config->experts = {.count = json.Count("num_experts", kMaxExperts, 64),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 8),
                     .width = config->feed_forward,
                     .normalised = json.Flag("norm_topk_prob", false),
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddExpertPlaces({}, places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  // llama.cpp does not clamp query, key and value in this architecture.
  if (metadata.PositiveOrZero("attention.clamp_kqv") > 0)
    metadata.Fail("attention.clamp_kqv is set, which is not supported here");
  config->query_key_norm = QueryKeyNorm::kWidth;
  config->experts = ReadGgufExperts(metadata, config->layers, config->feed_forward);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.experts = true}); }

}  // namespace

const Family& OlmoeFamily() {
  static const Family family = {"olmoe", "olmoe",  ReadFolder, FolderTensors,
                                "olmoe", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::olmoe
