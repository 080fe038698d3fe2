// SPDX-License-Identifier: MIT
// Arcee's Trinity: gated attention, norms before and after attention and MLP, a sliding window in
// three of four layers, and no positional encoding in the other layers. Layers after the first ones
// have experts, chosen by sigmoid scores and a bias.
#include <algorithm>
#include <cmath>

#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::afmoe {
namespace {

constexpr int64_t kPattern = 4;  // every fourth layer has global attention

bool HasWindow(int64_t layer, int64_t period) { return (layer + 1) % period != 0; }

void SetLayers(ModelConfig* config) {
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kHead;
  config->gated_attention = true;
  config->experts.score = ExpertScore::kSigmoid;
  config->experts.choice_bias = true;
}

double EmbeddingScale(const ModelConfig& config) {
  return std::sqrt(static_cast<double>(config.hidden));
}

void ReadExperts(const ConfigJson& json, ModelConfig* config) {
  const int64_t width = json.Count("moe_intermediate_size", kMaxWidth, 1408);
  config->experts = {
      .count = json.Count("num_experts", kMaxExperts, 64),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 6),
      .width = width,
      .shared_width = width * json.CountOrZero("num_shared_experts", kMaxExperts, 2),
      .normalised = true,
      .scale = json.Positive("route_scale", 1.0),
  };
  const int64_t dense = json.CountOrZero("num_dense_layers", kMaxLayers, 1);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->experts.layers.push_back(layer >= dense);
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .head_dim = 128,
                 .layers = 32,
                 .hidden = 2048,
                 .feed_forward = 6144,
                 .vocabulary = 200192,
                 .heads = 16,
                 .context = 16384},
                config);
  const int64_t period = json.Count("global_attn_every_n_layers", kMaxLayers, kPattern);
  const int64_t window = ReadWindow(json, 1024);
  const std::vector<bool> local = ReadLayersOfKind(
      json, "sliding_attention", [&](int64_t layer) { return HasWindow(layer, period); },
      config->layers);
  for (size_t layer = 0; layer < local.size(); ++layer) {
    config->attention[layer].rotary = local[layer];
    if (local[layer]) config->attention[layer].window = window;
  }
  if (json.Flag("mup_enabled", false)) config->embedding_scale = EmbeddingScale(*config);
  ReadExperts(json, config);
  SetLayers(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json, {.output_norms = true});
  ReplacePlace({"N.mlp_norm", "model.layers.N.pre_mlp_layernorm"}, places);
  ReplacePlace({"N.mlp_output_norm", "model.layers.N.post_mlp_layernorm"}, places);
  places.push_back({"N.attention_gate", "model.layers.N.self_attn.gate_proj"});
  ExpertLayout layout = kSharedExperts;
  layout.router = "model.layers.N.mlp.router.gate";
  layout.choice_bias = "model.layers.N.mlp.expert_bias";
  AddExpertPlaces(layout, places);
  return places;
}

// As in llama.cpp, embeddings are always scaled, and the pattern of windows is fixed.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->embedding_scale = EmbeddingScale(*config);
  ReadGgufWindows(metadata, kPattern, config);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->attention[static_cast<size_t>(layer)].rotary = HasWindow(layer, kPattern);
  config->experts = ReadGgufGroupedExperts(metadata, config->layers);
  RequireGgufExperts(metadata);
  RequireGgufSigmoidScores(metadata);
  SetLayers(config);
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places =
      GgufTensors({.attention = Bias::kMay, .attention_out = Bias::kMay, .experts = true});
  places.push_back({"N.attention_gate", "blk.N.attn_gate"});
  return places;
}

}  // namespace

const Family& AfmoeFamily() {
  static const Family family = {"afmoe", "afmoe",  ReadFolder, FolderTensors,
                                "afmoe", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::afmoe
