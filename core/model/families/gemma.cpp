// SPDX-License-Identifier: MIT
// Gemma: embeddings scaled by sqrt(hidden), norms by 1 + w, an MLP gated by GELU.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/families/gemma_common.h"

namespace midscope::gemma {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.tied = true, .activation = "gelu_pytorch_tanh", .head_dim = 256}, config);
  SetGemma(config);
  config->norm_adds_one = true;
  // Files with "gelu" were trained with the tanh approximation, which transformers uses, too.
  if (config->activation != Activation::kSilu) config->activation = Activation::kGeluTanh;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json);
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  SetGemma(config);
  config->activation = Activation::kGeluTanh;
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& GemmaFamily() {
  static const Family family = {"gemma", "gemma",  ReadFolder, FolderTensors,
                                "gemma", ReadGguf, GgufPlaces};
  return family;
}

}  // namespace midscope::gemma
