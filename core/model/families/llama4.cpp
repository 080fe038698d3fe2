// SPDX-License-Identifier: MIT
// Llama 4 (text): layers with positions have chunked attention; every fourth layer has neither, and
// its queries are scaled by position. Queries and keys are normed without weights after the
// rotation. Some or all layers have experts, whose inputs are scaled, and a shared expert.
#include <algorithm>

#include <fmt/format.h>

#include "core/base/utf8.h"
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::llama4 {
namespace {

constexpr int64_t kInterval = 4;
constexpr int64_t kChunk = 8192;

void SetNorms(ModelConfig* config) {
  config->query_key_norm = QueryKeyNorm::kHead;
  config->norm_after_rotation = true;
  config->plain_query_key_norm = true;
}

void SetExperts(ModelConfig* config) {
  config->experts.score = ExpertScore::kSigmoid;
  config->experts.scales_input = true;
}

void ReadChunks(const ConfigJson& json, ModelConfig* config) {
  constexpr std::string_view kKey = "attention_chunk_size";
  const int64_t chunk = json.IsNull(kKey) ? 0 : json.Count(kKey, kMaxTokens, kChunk);
  const std::vector<std::string> types = json.Texts("layer_types");
  if (!types.empty() && std::ssize(types) != config->layers) {
    json.Fail(
        fmt::format("layer_types names {} layers; the model has {}", types.size(), config->layers));
  }
  for (size_t layer = 0; layer < config->attention.size(); ++layer) {
    bool chunked = config->attention[layer].rotary;
    if (!types.empty()) {
      chunked = types[layer] == "chunked_attention";
      if (!chunked && types[layer] != "full_attention") {
        json.Fail("layer_types holds " + Quote(types[layer]) + ", which is not supported yet",
                  "Supported: full_attention, chunked_attention");
      }
    }
    if (chunked) config->attention[layer].chunk = chunk;
  }
}

void ReadExperts(const ConfigJson& json, ModelConfig* config) {
  const int64_t width = config->feed_forward;
  config->feed_forward = json.Count("intermediate_size_mlp", kMaxWidth, 16384);
  config->experts = {.count = json.Count("num_local_experts", kMaxExperts, 16),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 1),
                     .width = width,
                     .shared_width = width};
  SetExperts(config);
  const std::vector<int64_t> listed = json.Indices("moe_layers", kMaxLayers);
  const int64_t step = json.Count("interleave_moe_layer_step", kMaxLayers, 1);
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    const bool named = std::find(listed.begin(), listed.end(), layer) != listed.end();
    config->experts.layers.push_back(json.Has("moe_layers") ? named : (layer + 1) % step == 0);
  }
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(
      json, {.norm_epsilon = 1e-5, .rope_base = 500000.0, .head_dim = 128, .key_value_heads = 8},
      config);
  ReadRotaryLayers(json, kInterval, /*may_be_longer=*/true, config);
  ReadChunks(json, config);
  ReadExperts(json, config);
  if (json.Flag("use_qk_norm", true)) SetNorms(config);
  if (!json.Flag("attn_temperature_tuning", true)) return;
  config->query_growth = json.Positive("attn_scale", 0.1);
  config->query_growth_context = json.Positive("floor_scale", 8192);
  config->query_growth_unrotated = true;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json, {.interleaved = true});
  ReplacePlace({"N.gate", "model.layers.N.feed_forward.gate_proj"}, places);
  ReplacePlace({"N.up", "model.layers.N.feed_forward.up_proj"}, places);
  ReplacePlace({"N.down", "model.layers.N.feed_forward.down_proj"}, places);
  AddStackedExpertPlaces("model.layers.N.feed_forward.experts.gate_up_proj",
                         "model.layers.N.feed_forward.experts.down_proj", Stacked::kTransposed,
                         TensorEnding::kBare, places);
  AddExpertPlaces({.router = "model.layers.N.feed_forward.router",
                   .gate = {},
                   .up = {},
                   .down = {},
                   .shared_gate_proj = "model.layers.N.feed_forward.shared_expert.gate_proj",
                   .shared_up_proj = "model.layers.N.feed_forward.shared_expert.up_proj",
                   .shared_down_proj = "model.layers.N.feed_forward.shared_expert.down_proj"},
                  places);
  return places;
}

// Some settings are fixed, as in llama.cpp: the layers without positions, the scales of queries,
// and that models with 128 experts have no norms of query and key.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  constexpr int64_t kExpertsWithoutNorms = 128;
  ReadGgufCommon(metadata, config);
  // A value of 0 means that all layers have positions and none has chunks.
  constexpr std::string_view kWindow = "attention.sliding_window";
  const bool plain = metadata.Has(kWindow) && metadata.CountOrZero(kWindow, kMaxTokens) == 0;
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    LayerAttention& attention = config->attention[static_cast<size_t>(layer)];
    attention.rotary = plain || (layer + 1) % kInterval != 0;
    attention.chunk = attention.rotary && !plain ? kChunk : 0;
  }
  config->experts = ReadGgufExperts(metadata, config->layers);
  RequireGgufExperts(metadata);
  SetExperts(config);
  config->experts.shared_width = config->experts.width;
  const int64_t step = metadata.Count("interleave_moe_layer_step", kMaxLayers, 1);
  for (int64_t layer = 0; layer < config->layers; ++layer)
    config->experts.layers[static_cast<size_t>(layer)] = (layer + 1) % step == 0;
  if (config->experts.count != kExpertsWithoutNorms) SetNorms(config);
  config->query_growth = 0.1;
  config->query_growth_context = kChunk;
  config->query_growth_unrotated = true;
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors(
      {.interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay, .experts = true});
}

}  // namespace

const Family& Llama4Family() {
  static const Family family = {"llama4", "llama4_text", ReadFolder, FolderTensors,
                                "llama4", ReadGguf,      GgufPlaces};
  return family;
}

}  // namespace midscope::llama4
