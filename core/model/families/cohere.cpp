// SPDX-License-Identifier: MIT
// Command R and Aya: attention and MLP in parallel after one LayerNorm without bias, rotary pairs
// of adjacent elements, scaled logits. Command R7B (cohere2) has a sliding window in three of four
// layers, and no positional encoding in the other layers.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::cohere {
namespace {

constexpr int64_t kWindow = 4096;
constexpr int64_t kPattern = 4;  // every fourth layer has global attention

void SetLayers(ModelConfig* config) {
  config->norm = NormKind::kLayer;
  config->parallel_residual = true;
  config->shared_norm = true;
}

void ReadShared(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .norm_epsilon_key = "layer_norm_eps",
                 .tied = true,
                 .layers = 40,
                 .hidden = 8192,
                 .feed_forward = 22528,
                 .heads = 64,
                 .context = 8192},
                config);
  SetLayers(config);
  config->output_scale = json.Positive("logit_scale", 0.0625);
}

// Only Command R+ has norms of query and key.
void ReadCohere(const ConfigJson& json, ModelConfig* config) {
  ReadShared(json, config);
  if (json.Flag("use_qk_norm", false)) config->query_key_norm = QueryKeyNorm::kEachHead;
}

void ReadCohere2(const ConfigJson& json, ModelConfig* config) {
  ReadShared(json, config);
  const int64_t pattern = json.Count("sliding_window_pattern", kMaxLayers, kPattern);
  ReadLayerTypes(
      json, ReadWindow(json, kWindow),
      [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; }, pattern, config);
  RotateInWindowsAlone(config);
}

// Adds query and key norms, whose weights are in the same order as the projections' rows.
std::vector<TensorPlace> WithNorms(std::vector<TensorPlace> places, std::string_view query,
                                   std::string_view key) {
  ReplacePlace({"N.query_norm", query, RowPart::kInterleaved}, places);
  ReplacePlace({"N.key_norm", key, RowPart::kInterleaved}, places);
  return places;
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return WithNorms(TensorsByAttentionBias(json, {.interleaved = true}),
                   "model.layers.N.self_attn.q_norm", "model.layers.N.self_attn.k_norm");
}

void ReadCohereGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  SetLayers(config);
  config->output_scale = metadata.Positive("logit_scale");
  if (metadata.file().Find("blk.0.attn_q_norm.weight") != nullptr)
    config->query_key_norm = QueryKeyNorm::kEachHead;
}

void ReadCohere2Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadCohereGguf(metadata, config);
  metadata.Count("attention.sliding_window", kMaxTokens);  // the key is required
  ReadGgufWindows(metadata, kPattern, config);
  RotateInWindowsAlone(config);
}

// Both file formats store rotary pairs as adjacent rows.
std::vector<TensorPlace> GgufPlaces() {
  return WithNorms(
      GgufTensors({.interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay}),
      "blk.N.attn_q_norm", "blk.N.attn_k_norm");
}

}  // namespace

const Family& CohereFamily() {
  static const Family family = {"cohere",    "cohere",       ReadCohere, FolderTensors,
                                "command-r", ReadCohereGguf, GgufPlaces};
  return family;
}

const Family& Cohere2Family() {
  static const Family family = {"cohere2", "cohere2",       ReadCohere2, FolderTensors,
                                "cohere2", ReadCohere2Gguf, GgufPlaces};
  return family;
}

}  // namespace midscope::cohere
