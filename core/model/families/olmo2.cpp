// SPDX-License-Identifier: MIT
// OLMo 2: norms only after attention and MLP; query and key are normed over all heads together.
// OLMo 3 has a sliding window in three of four layers, which rotate without the scaling of global
// layers; llama.cpp's converter writes it as olmo2 with windows. FlexOlmo also has experts.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::olmo2 {
namespace {

constexpr int64_t kWindow = 4096;
constexpr int64_t kPattern = 4;  // every fourth layer has global attention
constexpr double kBase = 500000.0;

void SetNorms(ModelConfig* config) {
  config->input_norms = false;
  config->output_norms = true;
  config->query_key_norm = QueryKeyNorm::kWidth;
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5}, config);
  SetNorms(config);
}

void ReadOlmo3(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .read_rope = false}, config);
  SetNorms(config);
  ReadRopesByLayerType(json, kBase, json.Positive("rope_theta", kBase), config);
  ReadLayerTypes(
      json, ReadWindow(json, kWindow),
      [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; }, kPattern, config);
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
}

void ReadFlex(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.rope_base = kBase,
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
  ReadGgufCommon(metadata, config);
  SetNorms(config);
  ReadGgufWindows(metadata, kPattern, config);
  // In OLMo 3, layers with a sliding window rotate without the scaling of global layers.
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

const Family& Olmo3Family() {
  static const Family family = {"olmo3", "olmo3", ReadOlmo3, FolderTensors, "", nullptr, nullptr};
  return family;
}

const Family& FlexOlmoFamily() {
  static const Family family = {"flex_olmo", "flex_olmo", ReadFlex, FlexTensors,
                                "",          nullptr,     nullptr};
  return family;
}

}  // namespace midscope::olmo2
