// SPDX-License-Identifier: MIT
// EXAONE 4: norms only after attention and MLP, and of each head's query and key. The large model
// has a sliding window in three of four layers, and no positions in the fourth. K-EXAONE has the
// same layers with norms before attention and MLP, and experts as in deepseek_v3.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::exaone4 {
namespace {

constexpr int64_t kWindow = 4096;

constexpr int64_t kPattern = 4;  // every fourth layer has global attention

void SetNorms(ModelConfig* config) {
  config->input_norms = false;
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kHead;
}

void ReadLayers(const ConfigJson& json, ModelConfig* config) {
  const int64_t window = ReadWindow(json, kWindow);
  if (window == 0) return;
  // With layer_types, sliding_window_pattern is not read: it may be a string of letters.
  const int64_t pattern = json.Has("layer_types")
                              ? kPattern
                              : json.Count("sliding_window_pattern", kMaxLayers, kPattern);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; },
      pattern, config);
  RotateInWindowsAlone(config);
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  SetNorms(config);
  ReadLayers(json, config);
}

void SetMoe(ModelConfig* config) {
  config->query_key_norm = QueryKeyNorm::kHead;
  config->experts.score = ExpertScore::kSigmoid;
  config->experts.choice_bias = true;
}

void ReadMoe(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  ReadLayers(json, config);
  const int64_t width = json.Count("moe_intermediate_size", kMaxWidth, 1024);
  config->experts = {
      .count = json.Count("num_experts", kMaxExperts, 64),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 8),
      .width = width,
      .shared_width = width * json.Count("num_shared_experts", kMaxExperts, 1),
      .normalised = json.Flag("norm_topk_prob", true),
      .groups = json.Count("n_group", kMaxExperts, 1),
      .groups_per_row = json.Count("topk_group", kMaxExperts, 1),
      .scale = json.Positive("routed_scaling_factor", 2.5),
      .layers = ReadMlpTypes(json, config->layers,
                             json.CountOrZero("first_k_dense_replace", kMaxLayers, 1))};
  SetMoe(config);
}

std::vector<TensorPlace> MoeTensors(const ConfigJson&) {
  std::vector<TensorPlace> places = LlamaLikeTensors({});
  ExpertLayout layout = kSharedExperts;
  layout.choice_bias = "model.layers.N.mlp.e_score_correction_bias";
  AddExpertPlaces(layout, places);
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  return LlamaLikeTensors({.output_norms = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  SetNorms(config);
  ReadGgufWindows(metadata, kPattern, config);
  if (metadata.Has("attention.sliding_window")) RotateInWindowsAlone(config);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

void ReadMoeGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  ReadGgufPredictionLayers(metadata, config);
  ReadGgufWindows(metadata, kPattern, config);
  if (metadata.Has("attention.sliding_window")) RotateInWindowsAlone(config);
  config->experts = ReadGgufGroupedExperts(metadata, config->layers);
  RequireGgufExperts(metadata);
  metadata.Ignore("expert_shared_feed_forward_length");  // number of shared experts * width
  RequireGgufSigmoidScores(metadata);
  SetMoe(config);
}

std::vector<TensorPlace> MoeGgufPlaces() { return GgufTensors({.experts = true}); }

}  // namespace

const Family& Exaone4Family() {
  static const Family family = {"exaone4", "exaone4", ReadFolder, FolderTensors,
                                "exaone4", ReadGguf,  GgufPlaces};
  return family;
}

const Family& ExaoneMoeFamily() {
  static const Family family = {"exaone_moe", "exaone_moe", ReadMoe,      MoeTensors,
                                "exaone-moe", ReadMoeGguf,  MoeGgufPlaces};
  return family;
}

}  // namespace midscope::exaone4
