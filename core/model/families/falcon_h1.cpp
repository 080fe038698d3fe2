// SPDX-License-Identifier: MIT
// Falcon-H1: a llama in which each layer also has a state space (Mamba-2) that reads the input of
// the attention; both outputs are added to the stream. Most projections have a constant factor.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/model/families/common.h"
#include "core/model/families/families.h"
#include "core/model/model_shapes.h"

namespace midscope::falcon_h1 {
namespace {

// Returns the numbers of the list `key`; all 1 if the key is absent.
template <size_t kCount>
std::array<double, kCount> ReadNumbers(const ConfigJson& json, std::string_view key) {
  std::array<double, kCount> multipliers;
  multipliers.fill(1.0);
  const std::vector<double> values = json.Positives(key);
  if (values.empty()) return multipliers;
  if (values.size() != kCount) {
    json.Fail(
        fmt::format("{} has {} numbers, which is not supported", json.Name(key), values.size()),
        fmt::format("Supported: {}", kCount));
  }
  std::copy(values.begin(), values.end(), multipliers.begin());
  return multipliers;
}

// Returns the factor of a projection's input, which is applied to the projection's output instead.
// Throws Error if the factor is not 1 and the projection has a bias, which must not be scaled.
double ReadInputMultiplier(const ConfigJson& json, const char* key, const char* bias) {
  const double multiplier = json.Positive(key, 1.0);
  if (multiplier != 1.0 && json.Flag(bias, false)) {
    json.Fail(
        fmt::format("{} is not 1 and {} is true, which is not supported together", key, bias));
  }
  return multiplier;
}

void ReadMultipliers(const ConfigJson& json, ModelConfig* config) {
  config->embedding_scale = json.Positive("embedding_multiplier", 1.0);
  config->output_scale = json.Positive("lm_head_multiplier", 1.0);
  // Attention logits contain the factor twice (query and key), values once.
  const double attention = ReadInputMultiplier(json, "attention_in_multiplier", "attention_bias");
  config->logit_scale = attention * attention * json.Positive("key_multiplier", 1.0) /
                        std::sqrt(static_cast<double>(config->head_dim));
  config->attention_scale = attention * json.Positive("attention_out_multiplier", 1.0);
  config->state_space.scales = ReadNumbers<5>(json, "ssm_multipliers");
  const double mixer = ReadInputMultiplier(json, "ssm_in_multiplier", "mamba_proj_bias");
  for (double& scale : config->state_space.scales) scale *= mixer;
  config->mixer_scale = json.Positive("ssm_out_multiplier", 1.0);
  const std::array<double, 2> mlp = ReadNumbers<2>(json, "mlp_multipliers");
  config->gate_scale = mlp[0];
  config->mlp_scale = mlp[1];
}

void ReadFolder(const ConfigJson& json, ModelConfig* config) {
  ReadLlamaLike(json,
                {.norm_epsilon = 1e-5,
                 .layers = 32,
                 .hidden = 4096,
                 .feed_forward = 14336,
                 .vocabulary = 128000,
                 .heads = 32,
                 .key_value_heads = 8,
                 .context = 8192},
                config);
  const int64_t width = json.IsNull("mamba_d_ssm")
                            ? json.Count("mamba_expand", kMaxWidth, 2) * config->hidden
                            : json.Count("mamba_d_ssm", kMaxWidth, 1024);
  config->state_space = ReadFolderStateSpace(json, width, *config);
  if (!json.Flag("mamba_rms_norm", false)) {
    config->state_space.norm = GatedNorm::kNone;
  } else if (json.Flag("mamba_norm_before_gate", true)) {
    config->state_space.norm = GatedNorm::kBeforeGate;
  }
  ReadMultipliers(json, config);
  SetMixerBesideAttention(config);
}

std::vector<TensorPlace> FolderTensors(const ConfigJson& json) {
  std::vector<TensorPlace> places = TensorsByAttentionBias(json);
  AddFolderStateSpacePlaces(json, BiasFlag(json, "projectors_bias", false), places);
  const Bias bias = BiasFlag(json, "mlp_bias", false);
  ReplacePlace({"final_norm", "model.final_layernorm"}, places);
  ReplacePlace({"N.mlp_norm", "model.layers.N.pre_ff_layernorm"}, places);
  ReplacePlace({"N.gate", "model.layers.N.feed_forward.gate_proj", RowPart::kAll, bias}, places);
  ReplacePlace({"N.up", "model.layers.N.feed_forward.up_proj", RowPart::kAll, bias}, places);
  ReplacePlace({"N.down", "model.layers.N.feed_forward.down_proj", RowPart::kAll, bias}, places);
  return places;
}

// In GGUF, weights are already multiplied by the factors; llama.cpp norms after the gate.
void ReadGguf(const GgufMetadata& metadata, ModelConfig* config) {
  ReadGgufCommon(metadata, config);
  config->state_space = ReadGgufStateSpace(metadata);
  if (metadata.file().Find("blk.0.ssm_norm.weight") == nullptr)
    config->state_space.norm = GatedNorm::kNone;
  SetMixerBesideAttention(config);
}

// The output projection of attention has no bias in llama.cpp.
std::vector<TensorPlace> GgufPlaces() {
  std::vector<TensorPlace> places = GgufTensors({.attention = Bias::kMay, .mlp = Bias::kMay});
  AddGgufStateSpacePlaces(places);
  return places;
}

}  // namespace

const Family& FalconH1Family() {
  static const Family family = {"falcon_h1", "falcon_h1", ReadFolder, FolderTensors,
                                "falcon-h1", ReadGguf,    GgufPlaces};
  return family;
}

}  // namespace midscope::falcon_h1
