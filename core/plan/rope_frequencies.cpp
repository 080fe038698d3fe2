// SPDX-License-Identifier: MIT
#include "core/plan/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "core/intervention/rope_schemes.h"

namespace midscope {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

std::vector<double> Plain(const ModelConfig& config) {
  return PlainFrequencies(config.rope_base, config.rope_dimensions);
}

double OriginalContext(const ModelConfig& config) {
  const double original = config.rope_scaling.original_context;
  return original > 0 ? original : static_cast<double>(config.trained_context);
}

// Returns frequencies with a base that grows with the number of tokens beyond the original context
// ("NTK-aware").
std::vector<double> Dynamic(const ModelConfig& config, int64_t tokens) {
  const double base =
      DynamicNtkBase(config.rope_base, config.rope_scaling.factor, config.rope_dimensions,
                     OriginalContext(config), static_cast<double>(tokens));
  return PlainFrequencies(base, config.rope_dimensions);
}

// Divides slow pairs by the factor, leaves fast ones unchanged, and blends those in between.
std::vector<double> Llama3(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  const double original = OriginalContext(config);
  std::vector<double> frequencies = Plain(config);
  for (double& frequency : frequencies) {
    const double turns = original * frequency / kTurn;  // within the original context
    if (turns > scaling.high_frequency_factor) continue;
    if (turns < scaling.low_frequency_factor) {
      frequency /= scaling.factor;
      continue;
    }
    const double span = scaling.high_frequency_factor - scaling.low_frequency_factor;
    const double smooth = span > 0 ? (turns - scaling.low_frequency_factor) / span : 1.0;
    frequency = (1 - smooth) * frequency / scaling.factor + smooth * frequency;
  }
  return frequencies;
}

std::vector<double> Yarn(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  return YarnFrequencies(config.rope_base, config.rope_dimensions,
                         {scaling.factor, OriginalContext(config), scaling.beta_fast,
                          scaling.beta_slow, YarnForm::kRepo, scaling.truncate});
}

std::vector<double> LongRope(const ModelConfig& config, int64_t tokens) {
  const RopeScaling& scaling = config.rope_scaling;
  const bool is_long = static_cast<double>(tokens) > OriginalContext(config);
  const std::vector<double>& factors = is_long ? scaling.long_factors : scaling.short_factors;
  std::vector<double> frequencies = Plain(config);
  const size_t pairs = std::min(frequencies.size(), factors.size());
  for (size_t pair = 0; pair < pairs; ++pair) frequencies[pair] /= factors[pair];
  return frequencies;
}

double OwnYarnMagnitude(const RopeScaling& scaling) {
  return scaling.attention_factor > 0 ? scaling.attention_factor : YarnMagnitude(scaling.factor);
}

double LongRopeMagnitude(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  if (scaling.attention_factor > 0) return scaling.attention_factor;
  const double original = OriginalContext(config);
  const double factor = scaling.factor != 1.0
                            ? scaling.factor
                            : static_cast<double>(config.trained_context) / original;
  return factor > 1 ? std::sqrt(1 + std::log(factor) / std::log(original)) : 1.0;
}

RopeFrequencies OfAllPairs(const ModelConfig& config, int64_t tokens) {
  switch (config.rope_scaling.kind) {
    case RopeScalingKind::kNone:
      break;
    case RopeScalingKind::kLinear:
      return {InterpolatedFrequencies(Plain(config), config.rope_scaling.factor), 1.0};
    case RopeScalingKind::kDynamic:
      return {Dynamic(config, tokens), 1.0};
    case RopeScalingKind::kLlama3:
      return {Llama3(config), 1.0};
    case RopeScalingKind::kYarn:
      return {Yarn(config), OwnYarnMagnitude(config.rope_scaling)};
    case RopeScalingKind::kLongRope:
      return {LongRope(config, tokens), LongRopeMagnitude(config)};
  }
  return {Plain(config), 1.0};
}

}  // namespace

RopeFrequencies ModelFrequencies(const ModelConfig& config, int64_t tokens) {
  RopeFrequencies frequencies = OfAllPairs(config, tokens);
  StopPairs(config, &frequencies.inverse_frequency);
  return frequencies;
}

RopeFrequencies LocalFrequencies(const ModelConfig& config, int64_t layer) {
  const int64_t dimensions = std::min(config.rope_dimensions, config.HeadDim(layer));
  return {PlainFrequencies(config.rope_local_base, dimensions), 1.0};
}

void StopPairs(const ModelConfig& config, std::vector<double>* frequencies) {
  const auto turning = static_cast<size_t>(config.turning_pairs);
  if (turning == 0 || turning >= frequencies->size()) return;
  std::fill(frequencies->begin() + config.turning_pairs, frequencies->end(), 0.0);
}

}  // namespace midscope
