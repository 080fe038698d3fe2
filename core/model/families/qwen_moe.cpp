// SPDX-License-Identifier: MIT
// Qwen 2 and Qwen 3 with experts, and the text part of Qwen3-VL with experts. Qwen 2 also has
// shared experts with a gate. Mellum 2 is Qwen 3 with two bases.
#include "core/model/families/common.h"
#include "core/model/families/expert_layout.h"
#include "core/model/families/families.h"
#include "core/model/families/rope_settings.h"
#include "core/model/model_shapes.h"

namespace midscope::qwen_moe {
namespace {

// Sets a window in every second layer below max_window_layers, as transformers 5 does (unlike
// qwen2).
void ReadQwen2Window(const ConfigJson& json, ModelConfig* config) {
  if (!json.Flag("use_sliding_window", false) || json.IsNull("sliding_window")) return;
  const int64_t window = json.Count("sliding_window", kMaxTokens, 4096);
  const int64_t end = json.CountOrZero("max_window_layers", kMaxTokens, 28);
  ReadLayerTypes(
      json, window, [](int64_t layer, int64_t past) { return layer % 2 == 0 && layer < past; }, end,
      config);
}

void ReadQwen2(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {}, config);
  ReadQwen2Window(json, config);
  config->experts = {
      .count = json.Count("num_experts", kMaxExperts, 60),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 4),
      .width = json.Count("moe_intermediate_size", kMaxWidth, 1408),
      .shared_width = json.Count("shared_expert_intermediate_size", kMaxWidth, 5632),
      .shared_gate = true,
      .normalised = json.Flag("norm_topk_prob", false),
  };
  ReadSparseLayers(json, config);
}

std::vector<TensorPlace> Qwen2Tensors(const ConfigJson& json) {
  std::vector<TensorPlace> places =
      LlamaLikeTensors({.attention = BiasFlag(json, "qkv_bias", true)});
  AddExpertPlaces({.shared_gate_proj = "model.layers.N.mlp.shared_expert.gate_proj",
                   .shared_up_proj = "model.layers.N.mlp.shared_expert.up_proj",
                   .shared_down_proj = "model.layers.N.mlp.shared_expert.down_proj",
                   .shared_gate = "model.layers.N.mlp.shared_expert_gate"},
                  places);
  return places;
}

void ReadQwen3(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.key_value_heads = 4}, config);
  if (json.Flag("use_sliding_window", false)) {
    SetWindow(ReadWindow(json, 4096), config);
  }
  config->query_key_norm = QueryKeyNorm::kHead;
  config->experts = {
      .count =
          json.Count("num_experts", kMaxExperts, json.Count("num_local_experts", kMaxExperts, 128)),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 8),
      .width = json.Count("moe_intermediate_size", kMaxWidth, 768),
      .normalised = json.Flag("norm_topk_prob", false),
  };
  ReadSparseLayers(json, config);
}

void ReadMellum(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.read_rope = false,
                 .head_dim = 128,
                 .layers = 28,
                 .hidden = 2304,
                 .feed_forward = 7168,
                 .vocabulary = 98304,
                 .heads = 32,
                 .key_value_heads = 4,
                 .context = 131072},
                config);
  ReadRopesByLayerType(json, 500000.0, 10000.0, config);
  ReadLayerTypes(
      json, ReadWindow(json, 1024), [](int64_t, int64_t) { return false; }, 0, config);
  for (LayerAttention& layer : config->attention) layer.local = layer.window > 0;
  config->query_key_norm = QueryKeyNorm::kHead;
  config->experts = {.count = CountOfTwo(json, "num_experts", "num_local_experts", kMaxExperts, 64),
                     .per_row = json.Count("num_experts_per_tok", kMaxExperts, 8),
                     .width = json.Count("moe_intermediate_size", kMaxWidth, 896),
                     .normalised = json.Flag("norm_topk_prob", true),
                     .layers = ReadMlpTypes(json, config->layers, 0)};
}

std::vector<TensorPlace> Qwen3Tensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddExpertPlaces({}, places);
  return places;
}

// The chosen experts' scores are always divided by their sum.
void ReadQwen3Vl(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.read_rope = false,
                 .layers = 24,
                 .hidden = 2048,
                 .feed_forward = 5632,
                 .vocabulary = 151936,
                 .heads = 16,
                 .key_value_heads = 16,
                 .context = 128000},
                config);
  ReadRope(json, RopeObject(json), {.base = 500000.0, .text_of_mrope = true}, config);
  config->query_key_norm = QueryKeyNorm::kHead;
  config->experts = {
      .count = CountOfTwo(json, "num_experts", "num_local_experts", kMaxExperts, 60),
      .per_row = json.Count("num_experts_per_tok", kMaxExperts, 4),
      .width = json.Count("moe_intermediate_size", kMaxWidth, 1408),
      .normalised = true,
  };
  ReadSparseLayers(json, config);
}

// Expert matrices are transposed in published models, but not in models saved by transformers 5.
std::vector<TensorPlace> Qwen3VlTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddStackedExpertPlaces("model.layers.N.mlp.experts.gate_up_proj",
                         "model.layers.N.mlp.experts.down_proj", Stacked::kEither,
                         TensorEnding::kBare, places);
  AddExpertPlaces({}, places);
  return places;
}

void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->experts = ReadGgufExperts(metadata, config->layers);
}

// llama.cpp divides the chosen experts' scores by their sum in qwen3moe but not in qwen2moe,
// whatever the value of norm_topk_prob was.
void ReadQwen2Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, config);
  config->experts.shared_width = metadata.Count("expert_shared_feed_forward_length", kMaxWidth);
  config->experts.shared_gate = true;
}

void ReadQwen3Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGguf(metadata, config);
  config->query_key_norm = QueryKeyNorm::kHead;
  config->experts.normalised = true;
}

void ReadQwen3VlGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadQwen3Gguf(metadata, config);
  metadata.Ignore("rope.dimension_sections");  // which component of mrope rotates which pairs
  metadata.Ignore("n_deepstack_layers");       // the first layers add pictures' features
}

std::vector<TensorPlace> Qwen2GgufTensors() {
  return GgufTensors({.attention = Bias::kMust, .experts = true});
}

std::vector<TensorPlace> Qwen3GgufTensors() {
  return GgufTensors({.attention = Bias::kMay, .experts = true});
}

}  // namespace

const Family& Qwen2MoeFamily() {
  static const Family family = {"qwen2_moe", "qwen2_moe",   ReadQwen2,       Qwen2Tensors,
                                "qwen2moe",  ReadQwen2Gguf, Qwen2GgufTensors};
  return family;
}

const Family& Qwen3MoeFamily() {
  static const Family family = {"qwen3_moe", "qwen3_moe",   ReadQwen3,       Qwen3Tensors,
                                "qwen3moe",  ReadQwen3Gguf, Qwen3GgufTensors};
  return family;
}

const Family& Qwen3VlMoeFamily() {
  static const Family family = {"qwen3_vl_moe",  "qwen3_vl_moe_text", ReadQwen3Vl,
                                Qwen3VlTensors,  "qwen3vlmoe",        ReadQwen3VlGguf,
                                Qwen3GgufTensors};
  return family;
}

const Family& MellumFamily() {
  static const Family family = {"mellum", "mellum", ReadMellum, Qwen3Tensors, "", nullptr, nullptr};
  return family;
}

}  // namespace midscope::qwen_moe
