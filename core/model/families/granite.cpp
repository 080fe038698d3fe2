// SPDX-License-Identifier: MIT
// Granite 3: llama with separate factors for embeddings, attention, updates and logits.
#include "core/model/families/common.h"
#include "core/model/families/families.h"

namespace midscope::granite {
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

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  if (!metadata.Flag("rope.scaling.finetuned", true)) {
    metadata.Fail(metadata.Key("rope.scaling.finetuned") +
                  " is false, which means no positions; this is not supported yet");
  }
  config->embedding_scale = metadata.Positive("embedding_scale", 1.0);
  config->logit_scale = metadata.PositiveOrZero("attention.scale");
  config->update_scale = metadata.Positive("residual_scale", 1.0);
  config->output_scale = 1.0 / metadata.Positive("logit_scale");
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors(kLlamaGguf); }

}  // namespace

const Family& GraniteFamily() {
  static const Family family = {"granite", "granite", ReadFolder, FolderTensors,
                                "granite", ReadGguf,  GgufPlaces};
  return family;
}

}  // namespace midscope::granite
