// SPDX-License-Identifier: MIT
// Hunyuan: llama with norms of query and key after the rotation, and a rope base that is multiplied
// according to a fixed `alpha`. In models with experts, all layers have them and one shared expert.
#include <cmath>

#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::hunyuan {
namespace {

void SetNorms(ModelConfig* config) {
  config->query_key_norm = QueryKeyNorm::kHead;
  config->norm_after_rotation = true;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .read_rope = false}, config);
  SetNorms(config);
  const auto rope = RopeObject(json);
  const bool stretched = rope && rope->Has("alpha") &&
                         rope->Text("rope_type", rope->Text("type", "default")) == "dynamic";
  if (!stretched) return ReadRope(json, rope, {}, config);
  const double base =
      rope->Positive("rope_theta", json.Positive("rope_theta", RopeDefaults().base));
  const auto width = static_cast<double>(config->head_dim);
  config->rope_dimensions = config->head_dim;
  if (config->head_dim <= 2) json.Fail("heads of 2 dimensions cannot be stretched by alpha");
  config->rope_base = base * std::pow(rope->Positive("alpha"), width / (width - 2));
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  ReplacePlace({"N.query_norm", "model.layers.N.self_attn.query_layernorm"}, places);
  ReplacePlace({"N.key_norm", "model.layers.N.self_attn.key_layernorm"}, places);
  return places;
}

// An expert's width equals the shared expert's. Published files state numbers once per layer.
void ReadMoe(const ConfigJson& json, ModelConfig* config) {
  ReadFolder(json, config);
  config->experts = {.count = json.CountOfAll("num_experts", kMaxExperts, 1),
                     .per_row = json.CountOfAll("moe_topk", kMaxExperts, 1),
                     .width = config->feed_forward,
                     .shared_width = config->feed_forward,
                     .normalised = true,
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

std::vector<TensorPlace> MoeTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = FolderTensors(json);
  AddExpertPlaces({.router = "model.layers.N.mlp.gate.wg",
                   .shared_gate_proj = "model.layers.N.mlp.shared_mlp.gate_proj",
                   .shared_up_proj = "model.layers.N.mlp.shared_mlp.up_proj",
                   .shared_down_proj = "model.layers.N.mlp.shared_mlp.down_proj"},
                  places);
  return places;
}

// The rope base in the file already includes `alpha`, because the converter has applied it.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  SetNorms(config);
}

void ReadMoeGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, config);
  config->experts = ReadGgufExperts(metadata, config->layers);
  RequireGgufExperts(metadata);
  config->experts.shared_width =
      metadata.Count("expert_shared_feed_forward_length", kMaxWidth, config->feed_forward);
  metadata.Ignore("expert_shared_count");  // shared_width is their total width
  config->experts.normalised = true;
}

std::vector<TensorPlace> MoeGgufPlaces() {
  return GgufTensors({.attention = Bias::kMay, .attention_out = Bias::kMay, .experts = true});
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.attention = Bias::kMay, .attention_out = Bias::kMay});
}

}  // namespace

const Family& HunyuanFamily() {
  static const Family family = {"hunyuan",       "hunyuan_v1_dense", ReadFolder, FolderTensors,
                                "hunyuan-dense", ReadGguf,           GgufPlaces};
  return family;
}

const Family& HunyuanMoeFamily() {
  static const Family family = {"hunyuan_moe", "hunyuan_v1_moe", ReadMoe,      MoeTensors,
                                "hunyuan-moe", ReadMoeGguf,      MoeGgufPlaces};
  return family;
}

}  // namespace midscope::hunyuan
