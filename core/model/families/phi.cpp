// SPDX-License-Identifier: MIT
// Phi 1, 1.5 and 2: attention and MLP in parallel after one LayerNorm; biases throughout, even in
// the output matrix; a part of each head is rotated.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::phi {
namespace {

void SetLayers(ModelConfig* config) {
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  config->parallel_residual = true;
  config->shared_norm = true;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = "layer_norm_eps",
                 .activation = "gelu_new",
                 .partial_rotary = 0.5},
                config);
  if (json.Flag("qk_layernorm", false))
    json.Fail("qk_layernorm is true, which is not supported yet");
  SetLayers(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson&) {
  std::vector<TensorPlace> places =
      LlamaLikeTensors({.attention = Bias::kMust, .norms = Bias::kMust});
  ReplacePlace({"final_norm", "model.final_layernorm", RowPart::kAll, Bias::kMust}, places);
  ReplacePlace({"output", "lm_head", RowPart::kAll, Bias::kMust}, places);
  ReplacePlace({"N.attention_out", "model.layers.N.self_attn.dense", RowPart::kAll, Bias::kMust},
               places);
  ReplacePlace({"N.up", "model.layers.N.mlp.fc1", RowPart::kAll, Bias::kMust}, places);
  ReplacePlace({"N.down", "model.layers.N.mlp.fc2", RowPart::kAll, Bias::kMust}, places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  SetLayers(config);
  config->activation = Activation::kGeluTanh;
}

std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors({.attention = Bias::kMust,
                                                 .attention_out = Bias::kMust,
                                                 .mlp = Bias::kMust,
                                                 .norms = Bias::kMust});
  ReplacePlace({"output", "output", RowPart::kAll, Bias::kMust}, places);
  return places;
}

}  // namespace

const Family& PhiFamily() {
  static const Family family = {"phi",  "phi",    ReadFolder, FolderTensors,
                                "phi2", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::phi
