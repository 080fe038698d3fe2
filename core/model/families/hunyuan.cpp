// SPDX-License-Identifier: MIT
// Hunyuan without experts: llama with norms of query and key after the rotation, and a base that is
// stretched by a fixed `alpha`.
#include <cmath>

#include "core/model/families/common.h"
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

// The converter has already stretched the base.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  SetNorms(config);
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

}  // namespace midscope::hunyuan
