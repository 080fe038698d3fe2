// SPDX-License-Identifier: MIT
// StarCoder2: LayerNorm and biases throughout, an MLP without a gate, a window in every layer.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

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

}  // namespace

const Family& Starcoder2Family() {
  static const Family family = {"starcoder2", "starcoder2", ReadFolder, FolderTensors,
                                "",           nullptr,      nullptr};
  return family;
}

}  // namespace midscope
