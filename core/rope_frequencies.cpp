// SPDX-License-Identifier: MIT
#include "core/rope_frequencies.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace midscope {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

std::vector<double> Plain(double base, int64_t dimensions) {
  std::vector<double> frequencies(static_cast<size_t>(dimensions / 2));
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    frequencies[pair] =
        std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(dimensions));
  }
  return frequencies;
}

double OriginalContext(const ModelConfig& config) {
  const double original = config.rope_scaling.original_context;
  return original > 0 ? original : static_cast<double>(config.trained_context);
}

// A base that grows with the tokens beyond the original context ("NTK-aware").
std::vector<double> Dynamic(const ModelConfig& config, int64_t tokens) {
  const double original = OriginalContext(config);
  const double factor = config.rope_scaling.factor;
  const double stretch = std::max(static_cast<double>(tokens), original) / original;
  const auto dimensions = static_cast<double>(config.rope_dimensions);
  // One rotated pair has frequency 1 whatever the base.
  const double exponent = dimensions > 2 ? dimensions / (dimensions - 2) : 1.0;
  const double base = config.rope_base * std::pow(factor * stretch - (factor - 1), exponent);
  return Plain(base, config.rope_dimensions);
}

// Slow pairs are divided by the factor, fast ones left alone, those between mixed.
std::vector<double> Llama3(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  const double original = OriginalContext(config);
  std::vector<double> frequencies = Plain(config.rope_base, config.rope_dimensions);
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

// The (real) pair index, counted in dimensions as transformers does, that turns `rotations` times
// within the original context.
double YarnDimension(const ModelConfig& config, double rotations) {
  return static_cast<double>(config.rope_dimensions) *
         std::log(OriginalContext(config) / (rotations * kTurn)) / (2 * std::log(config.rope_base));
}

std::vector<double> Yarn(const ModelConfig& config) {
  const RopeScaling& scaling = config.rope_scaling;
  const double low = std::max(std::floor(YarnDimension(config, scaling.beta_fast)), 0.0);
  double high = std::min(std::ceil(YarnDimension(config, scaling.beta_slow)),
                         static_cast<double>(config.rope_dimensions - 1));
  if (low == high) high += 0.001;  // as transformers: no division by zero
  std::vector<double> frequencies = Plain(config.rope_base, config.rope_dimensions);
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
    frequencies[pair] *= ramp / scaling.factor + (1 - ramp);
  }
  return frequencies;
}

std::vector<double> LongRope(const ModelConfig& config, int64_t tokens) {
  const RopeScaling& scaling = config.rope_scaling;
  const bool is_long = static_cast<double>(tokens) > OriginalContext(config);
  const std::vector<double>& factors = is_long ? scaling.long_factors : scaling.short_factors;
  std::vector<double> frequencies = Plain(config.rope_base, config.rope_dimensions);
  const size_t pairs = std::min(frequencies.size(), factors.size());
  for (size_t pair = 0; pair < pairs; ++pair) frequencies[pair] /= factors[pair];
  return frequencies;
}

double YarnMagnitude(const RopeScaling& scaling) {
  if (scaling.attention_factor > 0) return scaling.attention_factor;
  return scaling.factor > 1 ? 0.1 * std::log(scaling.factor) + 1.0 : 1.0;
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

}  // namespace

RopeFrequencies ModelFrequencies(const ModelConfig& config, int64_t tokens) {
  switch (config.rope_scaling.kind) {
    case RopeScalingKind::kNone:
      break;
    case RopeScalingKind::kLinear: {
      RopeFrequencies linear{Plain(config.rope_base, config.rope_dimensions), 1.0};
      for (double& frequency : linear.inverse_frequency) frequency /= config.rope_scaling.factor;
      return linear;
    }
    case RopeScalingKind::kDynamic:
      return {Dynamic(config, tokens), 1.0};
    case RopeScalingKind::kLlama3:
      return {Llama3(config), 1.0};
    case RopeScalingKind::kYarn:
      return {Yarn(config), YarnMagnitude(config.rope_scaling)};
    case RopeScalingKind::kLongRope:
      return {LongRope(config, tokens), LongRopeMagnitude(config)};
  }
  return {Plain(config.rope_base, config.rope_dimensions), 1.0};
}

RopeFrequencies LocalFrequencies(const ModelConfig& config) {
  return {Plain(config.rope_local_base, config.rope_dimensions), 1.0};
}

}  // namespace midscope
