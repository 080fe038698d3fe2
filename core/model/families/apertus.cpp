// SPDX-License-Identifier: MIT
// Apertus: RMS norms of each head's query and key, and an MLP without a gate whose activation has
// learned parameters (xIELU).
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
  // Without rope settings, transformers would use defaults of its class. All published files
  // contain the settings, so a file without them is refused.
  if (!RopeObject(json)) json.Fail("has no rope_parameters");
  // ReadLlamaLike does not support the activation xIELU, whose parameters are stored in tensors.
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
  // The xielu.* keys have no architecture prefix.
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
