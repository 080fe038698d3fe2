// SPDX-License-Identifier: MIT
// StarCoder2: LayerNorm and biases throughout, an MLP without a gate, a window in every layer.
#include <fmt/format.h>

#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::starcoder2 {
namespace {

void SetLayers(int64_t window, ModelConfig* config) {
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
  SetWindow(window, config);
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = "norm_epsilon",
                 .tied = true,
                 .activation = "gelu_pytorch_tanh"},
                config);
  SetLayers(ReadWindow(json, 0), config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "use_bias", true);
  std::vector<TensorPlace> places =
      LlamaLikeTensors({.attention = bias, .attention_out = bias, .norms = Bias::kMust});
  ReplacePlace({"N.up", "model.layers.N.mlp.c_fc", RowPart::kAll, bias}, places);
  ReplacePlace({"N.down", "model.layers.N.mlp.c_proj", RowPart::kAll, bias}, places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  constexpr const char* kWindow = "attention.sliding_window";
  // llama.cpp's converter omits the window, which is 4096 tokens in all published models.
  constexpr int64_t kPublishedWindow = 4096;
  if (!metadata.Has(kWindow)) {
    config->notes.push_back(
        fmt::format("the file does not state its sliding window; it is run with {}, which all "
                    "published StarCoder2 models have",
                    kPublishedWindow));
  }
  SetLayers(metadata.Count(kWindow, kMaxTokens, kPublishedWindow), config);
  config->activation = Activation::kGeluTanh;
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

}  // namespace midscope::starcoder2
