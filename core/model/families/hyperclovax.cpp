// SPDX-License-Identifier: MIT
// HyperCLOVA X: llama with granite's factors, but logits are multiplied by the factor instead of
// divided; norms also after attention and MLP.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::hyperclovax {
namespace {

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.layers = 32,
                 .hidden = 4096,
                 .feed_forward = 11008,
                 .vocabulary = 32000,
                 .heads = 32,
                 .context = 2048},
                config);
  config->embedding_scale = json.Positive("embedding_multiplier", 1.0);
  if (json.Has("attention_multiplier")) config->logit_scale = json.Positive("attention_multiplier");
  config->update_scale = json.Positive("residual_multiplier", 1.0);
  config->output_scale = json.Positive("logits_scaling", 1.0);
  config->output_norms = json.Flag("use_post_norm", true);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places =
      TensorsByAttentionBias(json, {.mlp = BiasFlag(json, "mlp_bias", false)});
  places.push_back({"N.attention_output_norm", "model.layers.N.post_norm1"});
  places.push_back({"N.mlp_output_norm", "model.layers.N.post_norm2"});
  return places;
}

}  // namespace

const Family& HyperClovaXFamily() {
  static const Family family = {"hyperclovax", "hyperclovax", ReadFolder, FolderTensors, "",
                                nullptr,       nullptr};
  return family;
}

}  // namespace midscope::hyperclovax
