// SPDX-License-Identifier: MIT
// Apertus: query and key normed over each head, an MLP without a gate whose activation has learned
// settings (xIELU).
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"

namespace midscope::apertus {
namespace {

constexpr double kBase = 12000000.0;

void SetLayers(ModelConfig* config) {
  config->query_key_norm = QueryKeyNorm::kHead;
  config->gated_mlp = false;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  // transformers' class has default rope settings for files without any; all published files have
  // settings.
  if (!RopeObject(json)) json.Fail("has no rope_parameters");
  // ReadLlamaLike does not support this activation, which has tensors of its own.
  const bool own = json.Text("hidden_act", "xielu") == "xielu";
  ReadLlamaLike(
      json, {.norm_epsilon = 1e-5, .activation_key = own ? "" : "hidden_act", .rope_base = kBase},
      config);
  if (own) config->activation = Activation::kXielu;
  SetLayers(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  ReplacePlace({"N.attention_norm", "model.layers.N.attention_layernorm"}, places);
  ReplacePlace({"N.mlp_norm", "model.layers.N.feedforward_layernorm"}, places);
  const auto add = [&](std::string_view name, std::string_view file_name) {
    places.push_back({name, file_name, RowPart::kAll, Bias::kNever, TensorEnding::kBare});
  };
  add("N.alpha_positive", "model.layers.N.mlp.act_fn.alpha_p");
  add("N.alpha_negative", "model.layers.N.mlp.act_fn.alpha_n");
  add("N.beta", "model.layers.N.mlp.act_fn.beta");
  add("N.epsilon", "model.layers.N.mlp.act_fn.eps");
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  SetLayers(config);
  config->activation = Activation::kXielu;
  // These keys have no architecture prefix.
  const GgufMetadata settings(metadata.file(), "xielu");
  const auto positive = settings.Numbers("alpha_p", config->layers);
  const auto negative = settings.Numbers("alpha_n", config->layers);
  const auto beta = settings.Numbers("beta", config->layers);
  const auto epsilon = settings.Numbers("eps", config->layers);
  for (size_t layer = 0; layer < positive.size(); ++layer) {
    config->xielu.push_back({positive[layer], negative[layer], beta[layer], epsilon[layer]});
  }
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.attention = Bias::kMay, .attention_out = Bias::kMay});
}

}  // namespace

const Family& ApertusFamily() {
  static const Family family = {"apertus", "apertus", ReadFolder, FolderTensors,
                                "apertus", ReadGguf,  GgufPlaces};
  return family;
}

}  // namespace midscope::apertus
