// SPDX-License-Identifier: MIT
// OLMo 2: norms only after attention and MLP; query and key are normed over all heads together. In
// GGUF also OLMo 3, which the converter writes as olmo2 with windows. FlexOlmo has experts, too.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::olmo2 {
namespace {

constexpr int64_t kPattern = 4;  // OLMo 3: every fourth layer sees all keys

void SetNorms(ModelConfig* config) {
  config->input_norms = false;
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kWidth;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  SetNorms(config);
}

void ReadFlex(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.rope_base = 500000.0,
                 .layers = 32,
                 .hidden = 4096,
                 .feed_forward = 11008,
                 .vocabulary = 100352,
                 .heads = 32,
                 .context = 4096},
                config);
  SetNorms(config);
  config->experts = {.count = json.Count("num_experts", kMaxExperts, 7),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 5),
                     .width = config->feed_forward,
                     .normalised = json.Flag("norm_topk_prob", false),
                     .layers = std::vector<bool>(static_cast<size_t>(config->layers), true)};
}

std::vector<TensorPlace> FlexTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json, {.output_norms = true});
  AddExpertPlaces({}, places);
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.output_norms = true});
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_rms_epsilon", config);
  SetNorms(config);
  ReadGgufWindows(metadata, kPattern, config);
  // OLMo 3's layers with a window rotate without the scaling of the other layers.
  config->rope_local_base = metadata.Positive("rope.freq_base_swa", config->rope_base);
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
}

std::vector<TensorPlace> GgufPlaces() { return GgufTensors({}); }

}  // namespace

const Family& Olmo2Family() {
  static const Family family = {"olmo2", "olmo2",  ReadFolder, FolderTensors,
                                "olmo2", ReadGguf, GgufPlaces};
  return family;
}

const Family& FlexOlmoFamily() {
  static const Family family = {"flex_olmo", "flex_olmo", ReadFlex, FlexTensors,
                                "",          nullptr,     nullptr};
  return family;
}

}  // namespace midscope::olmo2
