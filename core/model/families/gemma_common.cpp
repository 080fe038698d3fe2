// SPDX-License-Identifier: MIT
#include "core/model/families/gemma_common.h"

#include <cmath>

#include "core/model/families/common.h"

namespace midscope {
namespace {

double SoftCap(const ConfigJson& json, const char* key, double otherwise) {
  if (json.IsNull(key)) return 0.0;
  return json.Has(key) ? json.Positive(key) : otherwise;
}

double SoftCap(const GgufMetadata& metadata, const char* key, double otherwise) {
  return metadata.Has(key) ? metadata.PositiveOrZero(key) : otherwise;
}

}  // namespace

void SetGemma(ModelConfig* config) {
  config->embedding_scale = std::sqrt(static_cast<double>(config->hidden));
}

void ReadGemma2Folder(const ConfigJson& json, double attention_cap, double final_cap,
                      ModelConfig* config) {
  SetGemma(config);
  config->norm_adds_one = true;
  config->output_norms = true;
  config->logit_scale = 1.0 / std::sqrt(json.Positive("query_pre_attn_scalar", 256.0));
  config->attention_softcap = SoftCap(json, "attn_logit_softcapping", attention_cap);
  config->final_softcap = SoftCap(json, "final_logit_softcapping", final_cap);
  if (json.Flag("use_bidirectional_attention", false)) {
    json.Fail("use_bidirectional_attention is true, which is not supported");
  }
}

void ReadGemma2Gguf(const GgufMetadata& metadata, double attention_cap, double final_cap,
                    int64_t layers_of_27b, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  SetGemma(config);
  config->activation = Activation::kGeluTanh;
  config->output_norms = true;
  const int64_t scaled_by =
      config->layers == layers_of_27b ? config->hidden / config->heads : config->head_dim;
  const double scale = 1.0 / std::sqrt(static_cast<double>(scaled_by));
  config->logit_scale = metadata.Positive("attention.scale", scale);
  config->attention_softcap = SoftCap(metadata, "attn_logit_softcapping", attention_cap);
  config->final_softcap = SoftCap(metadata, "final_logit_softcapping", final_cap);
}

}  // namespace midscope
