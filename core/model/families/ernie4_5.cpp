// SPDX-License-Identifier: MIT
// Ernie 4.5: llama with rotary pairs of adjacent elements. Models with experts choose them by
// softmax scores and a bias; shared experts process every token.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::ernie4_5 {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .tied = true,
                 .rope_base = 500000.0,
                 .head_dim = 128,
                 .key_value_heads = 2},
                config);
}

// Sets experts in every `interval`-th layer within layers `first` to `last`.
void SetExpertLayers(int64_t first, int64_t last, int64_t interval, ModelConfig* config) {
  config->experts.normalised = true;
  config->experts.choice_bias = true;
  config->experts.layers.clear();
  for (int64_t layer = 0; layer < config->layers; ++layer) {
    config->experts.layers.push_back(layer >= first && layer <= last &&
                                     (layer + 1) % interval == 0);
  }
}

void ReadMoe(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .tied = true,
                 .rope_base = 500000.0,
                 .layers = 28,
                 .hidden = 2560,
                 .feed_forward = 12288,
                 .vocabulary = 103424,
                 .heads = 20,
                 .key_value_heads = 4,
                 .context = 131072},
                config);
  RefuseFlag(json, "use_bias");
  // Lower limit of the sum of chosen scores; real sums are larger, so it has no effect.
  constexpr double kLimit = 1e-6;
  if (json.Positive("moe_norm_min", kLimit) > kLimit)
    json.Fail("moe_norm_min is over 1e-6, which is not supported");
  const int64_t width = json.Count("moe_intermediate_size", kMaxWidth, 1536);
  config->experts = {
      .count = CountOfTwo(json, "moe_num_experts", "num_experts", kMaxExperts, 64),
      .per_row = CountOfTwo(json, "moe_k", "num_experts_per_tok", kMaxExperts, 6),
      .width = width,
      .shared_width = width * json.CountOrZero("moe_num_shared_experts", kMaxExperts, 2)};
  // The last layer with experts; -1 means the model's last layer.
  constexpr std::string_view kLast = "moe_layer_end_index";
  const bool to_the_end = !json.Has(kLast) || json.IsMinusOne(kLast);
  SetExpertLayers(json.CountOrZero("moe_layer_start_index", kMaxLayers, 1),
                  to_the_end ? config->layers - 1 : json.CountOrZero(kLast, kMaxLayers, 0),
                  json.Count("moe_layer_interval", kMaxLayers, 1), config);
}

std::vector<TensorPlace> MoeTensors(const ConfigJson&) {
  std::vector<TensorPlace> places = LlamaLikeTensors({.interleaved = true});
  ExpertLayout layout = kSharedExperts;
  layout.choice_bias = "model.layers.N.mlp.moe_statics.e_score_correction_bias";
  AddExpertPlaces(layout, places);
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "use_bias", false);
  return LlamaLikeTensors(
      {.attention = bias, .attention_out = bias, .mlp = bias, .interleaved = true});
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors(kLlamaGguf); }

void ReadMoeGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->experts = ReadGgufExperts(metadata, config->layers);
  RequireGgufExperts(metadata);
  config->experts.shared_width =
      metadata.CountOrZero("expert_shared_feed_forward_length", kMaxWidth);
  metadata.Ignore("expert_shared_count");  // shared_width is their total width
  SetExpertLayers(metadata.CountOrZero("leading_dense_block_count", kMaxLayers), config->layers,
                  metadata.Count("interleave_moe_layer_step", kMaxLayers, 1), config);
}

std::vector<TensorPlace> MoeGgufPlaces() {
  return GgufTensors({.interleaved = true, .attention = Bias::kMay, .experts = true});
}

}  // namespace

const Family& Ernie45Family() {
  static const Family family = {"ernie4_5", "ernie4_5",     ReadFolder, FolderTensors,
                                "ernie4_5", ReadGgufCommon, GgufPlaces};
  return family;
}

const Family& Ernie45MoeFamily() {
  static const Family family = {"ernie4_5_moe", "ernie4_5_moe", ReadMoe,      MoeTensors,
                                "ernie4_5-moe", ReadMoeGguf,    MoeGgufPlaces};
  return family;
}

}  // namespace midscope::ernie4_5
