// SPDX-License-Identifier: MIT
// MiniMax-M2: norms of query and key over all heads together, a part of each head rotated, experts
// in every layer that are chosen by sigmoid scores and a bias.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::minimax_m2 {
namespace {

void SetExperts(ModelConfig* config) {
  config->query_key_norm = QueryKeyNorm::kWidth;
  config->experts.score = ExpertScore::kSigmoid;
  config->experts.normalised = true;
  config->experts.choice_bias = true;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.read_rope = false,
                 .head_dim = 128,
                 .layers = 62,
                 .hidden = 3072,
                 .feed_forward = 1536,
                 .vocabulary = 200064,
                 .heads = 48,
                 .key_value_heads = 8,
                 .context = 196608},
                config);
  // Published files contain the number of rotated dimensions instead of partial_rotary_factor.
  const auto rotated =
      static_cast<double>(json.Count("rotary_dim", config->head_dim, config->head_dim));
  ReadRope(json, RopeObject(json),
           {.base = 5e6, .partial = rotated / static_cast<double>(config->head_dim)}, config);
  config->experts = {
      .count = CountOfTwo(json, "num_local_experts", "num_experts", kMaxExperts, 256),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 8),
      .width = config->feed_forward,
      .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
  SetExperts(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  std::vector<TensorPlace> places = LlamaLikeTensors({});
  AddExpertPlaces({.router = "model.layers.N.block_sparse_moe.gate",
                   .gate = "model.layers.N.block_sparse_moe.experts.E.w1",
                   .up = "model.layers.N.block_sparse_moe.experts.E.w3",
                   .down = "model.layers.N.block_sparse_moe.experts.E.w2",
                   .choice_bias = "model.layers.N.block_sparse_moe.e_score_correction_bias"},
                  places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->experts = ReadGgufExperts(metadata, config->layers);
  RequireGgufExperts(metadata);
  RequireGgufSigmoidScores(metadata);
  SetExperts(config);
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({.experts = true}); }

}  // namespace

const Family& MiniMaxM2Family() {
  static const Family family = {"minimax_m2", "minimax_m2", ReadFolder, FolderTensors,
                                "minimax-m2", ReadGguf,     GgufPlaces};
  return family;
}

}  // namespace midscope::minimax_m2
