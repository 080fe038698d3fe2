// SPDX-License-Identifier: MIT
// Command R and Aya: attention and MLP side by side after one LayerNorm without bias, rotated pairs
// beside one another, scaled logits. Command R7B (cohere2) has a window in three of four layers,
// and no positions in the others.
#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope {
namespace {

constexpr int64_t kWindow = 4096;
constexpr int64_t kPattern = 4;  // each fourth layer sees everything

void SetLayers(ModelConfig* config) {
  config->norm = NormKind::kLayer;
  config->parallel_residual = true;
  config->shared_norm = true;
}

void ReadShared(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json, {.norm_epsilon = 1e-5, .norm_epsilon_key = "layer_norm_eps", .tied = true},
                config);
  SetLayers(config);
  config->output_scale = json.Positive("logit_scale", 0.0625);
}

// A norm of each head with weights of its own.
void ReadCohere(const ConfigJson& json, ModelConfig* config) {
  if (json.Flag("use_qk_norm", false))
    json.Fail("use_qk_norm is true, which is not supported yet", "Command R+ alone has it");
  ReadShared(json, config);
}

void ReadCohere2(const ConfigJson& json, ModelConfig* config) {
  ReadShared(json, config);
  const int64_t pattern = json.Count("sliding_window_pattern", kMaxLayers, kPattern);
  ReadLayerTypes(
      json, ReadWindow(json, kWindow),
      [](int64_t layer, int64_t period) { return (layer + 1) % period != 0; }, pattern, config);
  RotateInWindowsAlone(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  return TensorsByAttentionBias(json, {.interleaved = true});
}

void ReadCohereGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, "attention.layer_norm_epsilon", config);
  SetLayers(config);
  config->output_scale = metadata.Positive("logit_scale");
}

void ReadCohere2Gguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadCohereGguf(metadata, config);
  metadata.Count("attention.sliding_window", kMaxTokens);  // must be there
  ReadGgufWindows(metadata, kPattern, config);
  RotateInWindowsAlone(config);
}

// The folder's rotated pairs are in the order of GGUF already.
std::vector<TensorPlace> GgufPlaces() {
  return GgufTensors({.interleaved = true, .attention = Bias::kMay, .attention_out = Bias::kMay});
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

}  // namespace midscope
