// SPDX-License-Identifier: MIT
// StarCoder2: LayerNorm and biases throughout, an MLP without a gate, a window in every layer.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = "norm_epsilon",
                 .tied = true,
                 .activation = "gelu_pytorch_tanh"},
                config);
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  const int64_t window = ReadWindow(json, 0);
  for (LayerAttention& layer : config->attention) layer.window = window;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "use_bias", true);
  std::vector<TensorPlace> places =
      LlamaLikeTensors({.attention = bias, .attention_out = bias, .norms = Bias::kMust});
  ReplacePlace({"N.up", "model.layers.N.mlp.c_fc", RowPart::kAll, bias}, places);
  ReplacePlace({"N.down", "model.layers.N.mlp.c_proj", RowPart::kAll, bias}, places);
  return places;
}

// The converter leaves the window out, and llama.cpp has none.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  ReadGgufRope(metadata, config);
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  config->activation = Activation::kGeluTanh;
  const int64_t window = metadata.CountOrZero("attention.sliding_window", kMaxTokens);
  for (LayerAttention& layer : config->attention) layer.window = window;
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.attention = Bias::kMay,
                      .attention_out = Bias::kMay,
                      .mlp = Bias::kMay,
                      .norms = Bias::kMust});
}

}  // namespace

const Family& Starcoder2Family() {
  static const Family family = {"starcoder2", "starcoder2", ReadFolder, FolderTensors,
                                "starcoder2", ReadGguf,     GgufPlaces};
  return family;
}

}  // namespace midscope
