// SPDX-License-Identifier: MIT
#include "core/intervention/rope_schemes.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace midscope {
namespace {

constexpr double kTurn = 2.0 * std::numbers::pi;

// Returns the (real) index of the pair that turns `rotations` times within the original context.
double YarnPair(double base, int64_t dimensions, double original_context, double rotations) {
  return static_cast<double>(dimensions) * std::log(original_context / (rotations * kTurn)) /
         (2 * std::log(base));
}

}  // namespace

std::vector<double> PlainFrequencies(double base, int64_t dimensions) {
  std::vector<double> frequencies(static_cast<size_t>(dimensions / 2));
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    frequencies[pair] =
        std::pow(base, -2.0 * static_cast<double>(pair) / static_cast<double>(dimensions));
  }
  return frequencies;
}

std::vector<double> Periods(std::span<const double> frequencies) {
  std::vector<double> periods;
  periods.reserve(frequencies.size());
  for (const double frequency : frequencies) periods.push_back(kTurn / frequency);
  return periods;
}

std::vector<double> InterpolatedFrequencies(std::span<const double> frequencies, double factor) {
  std::vector<double> divided(frequencies.begin(), frequencies.end());
  for (double& frequency : divided) frequency /= factor;
  return divided;
}

double NtkBase(double base, double factor, int64_t dimensions) {
  const auto d = static_cast<double>(dimensions);
  return base * std::pow(factor, dimensions > 2 ? d / (d - 2) : 1.0);
}

double DynamicNtkBase(double base, double factor, int64_t dimensions, double original_context,
                      double tokens) {
  const double stretch = std::max(tokens, original_context) / original_context;
  return NtkBase(base, factor * stretch - (factor - 1), dimensions);
}

std::string_view YarnFormName(YarnForm form) {
  switch (form) {
    case YarnForm::kRepo:
      return "repo";
    case YarnForm::kPaper:
      return "paper";
    case YarnForm::kCream:
      return "cream";
  }
  return "";
}

YarnRange YarnCorrectionRange(double base, int64_t dimensions, const YarnSettings& settings) {
  const auto pair = [&](double rotations) {
    return YarnPair(base, dimensions, settings.original_context, rotations);
  };
  double low = pair(settings.beta_fast);
  double high = pair(settings.beta_slow);
  if (settings.truncate) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  YarnRange range{std::max(low, 0.0), std::min(high, static_cast<double>(dimensions - 1))};
  if (range.low == range.high) range.high += 0.001;  // avoids division by zero
  return range;
}

namespace {

// Returns the ramp's value at a pair: 0 up to `low`, 1 from `high` on, linear between them.
double Ramp(const YarnRange& range, size_t pair) {
  return std::clamp((static_cast<double>(pair) - range.low) / (range.high - range.low), 0.0, 1.0);
}

}  // namespace

std::vector<double> NtkByPartsFrequencies(double base, int64_t dimensions, double factor,
                                          double original_context) {
  YarnSettings linear;
  linear.original_context = original_context;
  linear.beta_fast = 1.25;
  linear.beta_slow = 0.75;
  YarnSettings plain = linear;
  plain.beta_fast = 16;
  plain.beta_slow = 2;
  const YarnRange to_linear = YarnCorrectionRange(base, dimensions, linear);
  const YarnRange from_plain = YarnCorrectionRange(base, dimensions, plain);
  const std::vector<double> ntk = PlainFrequencies(NtkBase(base, factor, dimensions), dimensions);
  std::vector<double> frequencies = PlainFrequencies(base, dimensions);
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    const double divided = Ramp(to_linear, pair);
    const double stretched = Ramp(from_plain, pair);
    const double mixed = divided * frequencies[pair] / factor + (1 - divided) * ntk[pair];
    frequencies[pair] = stretched * mixed + (1 - stretched) * frequencies[pair];
  }
  return frequencies;
}

std::vector<double> YarnFrequencies(double base, int64_t dimensions, const YarnSettings& settings) {
  const YarnRange range = YarnCorrectionRange(base, dimensions, settings);
  const double factor = settings.factor;
  std::vector<double> frequencies = PlainFrequencies(base, dimensions);
  for (size_t pair = 0; pair < frequencies.size(); ++pair) {
    double& frequency = frequencies[pair];
    // The pair's position on the ramp. 0: frequency unchanged, 1: divided by the factor.
    double ramp = Ramp(range, pair);
    if (settings.form == YarnForm::kPaper) {
      const double rotations = settings.original_context * frequency / kTurn;
      ramp = (settings.beta_fast - rotations) / (settings.beta_fast - settings.beta_slow);
      ramp = std::clamp(ramp, 0.0, 1.0);
    }
    if (settings.form == YarnForm::kCream) {
      frequency /= ramp * factor + (1 - ramp);
    } else {
      frequency *= ramp / factor + (1 - ramp);
    }
  }
  return frequencies;
}

double YarnMagnitude(double factor) { return factor > 1 ? 0.1 * std::log(factor) + 1.0 : 1.0; }

}  // namespace midscope
