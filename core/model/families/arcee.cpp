// SPDX-License-Identifier: MIT
// Arcee (AFM): llama with an MLP of squared ReLU without a gate.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::arcee {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .activation = "relu2"}, config);
  config->gated_mlp = false;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->activation = Activation::kSquaredRelu;
  config->gated_mlp = false;
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors(kLlamaGguf); }

}  // namespace

const Family& ArceeFamily() {
  static const Family family = {"arcee", "arcee",  ReadFolder, TensorsByBiases,
                                "arcee", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::arcee
