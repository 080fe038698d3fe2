// SPDX-License-Identifier: MIT
#include "core/model/families/gemma_common.h"

#include <cmath>

#include <fmt/format.h>

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

constexpr const char* kAttentionCapKey = "attn_logit_softcapping";

// Sets the soft cap; `unused`: adds a note only, as transformers and llama.cpp ignore the key.
void SetAttentionCap(double cap, bool unused, ModelConfig* config) {
  if (!unused) {
    config->attention_softcap = cap;
  } else if (cap != 0.0) {
    config->notes.push_back(fmt::format(
        "{} is {}, but the {} model of transformers (and of llama.cpp) does not apply it, and so "
        "it is not applied here",
        kAttentionCapKey, cap, config->architecture));
  }
}

}  // namespace

void SetGemma(ModelConfig* config) {
  config->embedding_scale = std::sqrt(static_cast<double>(config->hidden));
}

void ReadGemma2Folder(const ConfigJson& json, std::optional<double> attention_cap, double final_cap,
                      ModelConfig* config) {
  SetGemma(config);
  config->norm_adds_one = true;
  config->output_norms = true;
  config->logit_scale = 1.0 / std::sqrt(json.Positive("query_pre_attn_scalar", 256.0));
  SetAttentionCap(SoftCap(json, kAttentionCapKey, attention_cap.value_or(0.0)), !attention_cap,
                  config);
  config->final_softcap = SoftCap(json, "final_logit_softcapping", final_cap);
  if (json.Flag("use_bidirectional_attention", false)) {
    json.Fail("use_bidirectional_attention is true, which is not supported");
  }
}

void ReadGemma2Gguf(const GgufMetadata& metadata, std::optional<double> attention_cap,
                    double final_cap, int64_t layers_of_27b, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  SetGemma(config);
  config->activation = Activation::kGeluTanh;
  config->output_norms = true;
  const int64_t scaled_by =
      config->layers == layers_of_27b ? config->hidden / config->heads : config->head_dim;
  const double scale = 1.0 / std::sqrt(static_cast<double>(scaled_by));
  config->logit_scale = metadata.Positive("attention.scale", scale);
  SetAttentionCap(SoftCap(metadata, kAttentionCapKey, attention_cap.value_or(0.0)), !attention_cap,
                  config);
  config->final_softcap = SoftCap(metadata, "final_logit_softcapping", final_cap);
}

}  // namespace midscope
