// SPDX-License-Identifier: MIT
// Mixtral: mistral with experts in every layer; its GGUF files use llama's architecture. Phi-3.5
// MoE: Mixtral's tensors, LayerNorm, longrope, and a different router (SparseMixer).
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::mixtral {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .rope_base = 1e6, .key_value_heads = 8}, config);
  SetWindow(ReadWindow(json, 0), config);
  config->experts = {.count = json.Count("num_local_experts", kMaxExperts, 8),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 2),
                     .width = config->feed_forward,
                     .normalised = true,
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

void AddBlockExperts(std::vector<TensorPlace>& places) {
  AddExpertPlaces({.router = "model.layers.N.block_sparse_moe.gate",
                   .gate = "model.layers.N.block_sparse_moe.experts.E.w1",
                   .up = "model.layers.N.block_sparse_moe.experts.E.w3",
                   .down = "model.layers.N.block_sparse_moe.experts.E.w2"},
                  places);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  std::vector<TensorPlace> places = LlamaLikeTensors({});
  AddBlockExperts(places);
  return places;
}

// Reads the factors of cos and sin, short_mscale and long_mscale. For prompts beyond the original
// context, transformers keeps the short rope factors; here the long ones are used, as in the
// published code.
void ReadPhiRope(const ConfigJson& json, ModelConfig* config) {
  const auto rope = RopeObject(json);
  if (config->rope_scaling.kind == RopeScalingKind::kNone) return;
  if (config->rope_scaling.kind != RopeScalingKind::kLongRope)
    json.Fail("its rope scaling is not supported yet", "Supported: default, longrope");
  const double factor = rope->Positive("short_mscale");
  if (rope->Positive("long_mscale") != factor)
    json.Fail("short_mscale and long_mscale differ, which is not supported yet");
  config->rope_scaling.attention_factor = factor;
}

void ReadPhi(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .rope_base = 1e6,
                 .layers = 32,
                 .hidden = 4096,
                 .feed_forward = 6400,
                 .vocabulary = 32064,
                 .heads = 32,
                 .key_value_heads = 8,
                 .context = 131072},
                config);
  ReadPhiRope(json, config);
  SetWindow(ReadWindow(json, 0), config);
  config->norm = NormKind::kLayer;
  config->experts = {.count = json.Count("num_local_experts", kMaxExperts, 16),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 2),
                     .width = config->feed_forward,
                     .score = ExpertScore::kSparseMixer,
                     .jitter = json.Positive("router_jitter_noise", 0.01),
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
  if (config->experts.per_row != 2)
    json.Fail("num_experts_per_tok is not 2, which is not supported");
}

std::vector<TensorPlace> PhiTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json, {.norms = Bias::kMust});
  ReplacePlace({"output", "lm_head", RowPart::kAll, BiasFlag(json, "lm_head_bias", false)}, places);
  AddBlockExperts(places);
  return places;
}

}  // namespace

const Family& MixtralFamily() {
  static const Family family = {"mixtral", "mixtral", ReadFolder, FolderTensors,
                                "",        nullptr,   nullptr};
  return family;
}

const Family& PhiMoeFamily() {
  static const Family family = {"phimoe", "phimoe", ReadPhi, PhiTensors, "", nullptr, nullptr};
  return family;
}

}  // namespace midscope::mixtral
