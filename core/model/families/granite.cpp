// SPDX-License-Identifier: MIT
// Granite 3: llama with factors of its own for embeddings, attention, updates and logits.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  config->embedding_scale = json.Positive("embedding_multiplier", 1.0);
  config->logit_scale = json.Positive("attention_multiplier", 1.0);
  config->update_scale = json.Positive("residual_multiplier", 1.0);
  config->output_scale = 1.0 / json.Positive("logits_scaling", 1.0);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.mlp = BiasFlag(json, "mlp_bias", false)});
}

}  // namespace

const Family& GraniteFamily() {
  static const Family family = {"granite", "granite", ReadFolder, FolderTensors,
                                "",        nullptr,   nullptr};
  return family;
}

}  // namespace midscope
