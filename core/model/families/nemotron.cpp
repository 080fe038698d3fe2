// SPDX-License-Identifier: MIT
// Nemotron 4 and Minitron: LayerNorm with a scale of 1 + w, an MLP of squared ReLU without a gate;
// half of each head is rotated. Jais 2 has the same layers with the usual scale w of norms, and
// rotates whole heads.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::nemotron {
namespace {

void SetLayers(ModelConfig* config) {
  config->norm = NormKind::kLayer;
  config->gated_mlp = false;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = "norm_eps",
                 .activation = "relu2",
                 .partial_rotary = 0.5},
                config);
  SetLayers(config);
  config->norm_adds_one = true;
}

void ReadJais2(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = "layer_norm_eps",
                 .activation = "relu2",
                 .layers = 32,
                 .hidden = 3328,
                 .feed_forward = 26624,
                 .vocabulary = 150272,
                 .heads = 26,
                 .context = 8192},
                config);
  SetLayers(config);
}

std::vector<TensorPlace> Jais2Tensors(const ConfigJson& json) {
  const Bias bias = BiasFlag(json, "attention_bias", true);
  return LlamaLikeTensors({.attention = bias,
                           .attention_out = bias,
                           .mlp = BiasFlag(json, "mlp_bias", true),
                           .norms = Bias::kMust});
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json,
                                {.mlp = BiasFlag(json, "mlp_bias", false), .norms = Bias::kMust});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  metadata.Ignore("attention.layer_norm_rms_epsilon");  // the same epsilon, stored twice
  SetLayers(config);
  config->activation = Activation::kSquaredRelu;
}

void ReadJais2Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  SetLayers(config);
  config->activation = Activation::kSquaredRelu;
}

std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.attention = Bias::kMay,
                      .attention_out = Bias::kMay,
                      .mlp = Bias::kMay,
                      .norms = Bias::kMust});
}

}  // namespace

const Family& NemotronFamily() {
  static const Family family = {"nemotron", "nemotron", ReadFolder, FolderTensors,
                                "nemotron", ReadGguf,   GgufPlaces};
  return family;
}

const Family& Jais2Family() {
  static const Family family = {"jais2", "jais2",       ReadJais2, Jais2Tensors,
                                "jais2", ReadJais2Gguf, GgufPlaces};
  return family;
}

}  // namespace midscope::nemotron
