// SPDX-License-Identifier: MIT
// GLM-4.5 and later with experts: sigmoid scores, a bias only for the choice, experts that every
// token uses, and first layers without experts. Rotary pairs are in half-split order, unlike in
// glm4.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::glm4_moe {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .partial_rotary = 0.5, .key_value_heads = 8}, config);
  if (json.Flag("use_qk_norm", false)) config->query_key_norm = QueryKeyNorm::kHead;
  const int64_t width = json.Count("moe_intermediate_size", kMaxWidth, 1408);
  config->experts = {
      .count = json.Count("n_routed_experts", kMaxExperts, 128),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 8),
      .width = width,
      .shared_width = width * json.CountOrZero("n_shared_experts", kMaxExperts, 1),
      .score = ExpertScore::kSigmoid,
      .normalised = json.Flag("norm_topk_prob", true),
      .choice_bias = true,
      .groups = json.Count("n_group", kMaxExperts, 1),
      .groups_per_row = json.Count("topk_group", kMaxExperts, 1),
      .scale = json.Positive("routed_scaling_factor", 1.0),
  };
  const int64_t dense = json.CountOrZero("first_k_dense_replace", kMaxLayers, 1);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->experts.layers.push_back(layer >= dense);
  config->prediction_layers = json.CountOrZero("num_nextn_predict_layers", kMaxLayers, 1);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places =
      LlamaLikeTensors({.attention = BiasFlag(json, "attention_bias", false)});
  AddExpertPlaces(kSharedExperts, places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  ReadGgufPredictionLayers(metadata, config);
  if (metadata.file().Find("blk.0.attn_q_norm.weight") != nullptr)
    config->query_key_norm = QueryKeyNorm::kHead;
  ExpertSettings experts = ReadGgufGroupedExperts(metadata, config->layers);
  constexpr int64_t kSigmoidScores = 2;
  if (metadata.Count("expert_gating_func", kMaxExperts, kSigmoidScores) != kSigmoidScores)
    metadata.Fail("expert_gating_func is not the sigmoid, which is not supported yet");
  experts.score = ExpertScore::kSigmoid;
  experts.choice_bias = true;
  config->experts = experts;
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors({.attention = Bias::kMay, .experts = true});
  ReplacePlace({"N.mlp_norm", "blk.N.post_attention_norm"}, places);
  return places;
}

}  // namespace

const Family& Glm4MoeFamily() {
  static const Family family = {"glm4_moe", "glm4_moe", ReadFolder, FolderTensors,
                                "glm4moe",  ReadGguf,   GgufPlaces};
  return family;
}

}  // namespace midscope::glm4_moe
