// SPDX-License-Identifier: MIT
#include "core/plan/context_limit.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "core/plan/scheme_plans.h"

namespace midscope {
namespace {

// By what a scheme stretches the trained context; infinite where it follows the sequence.
struct Stretch {
  const ModelConfig& config;

  double operator()(const NoScheme&) const { return 1; }
  double operator()(const PositionInterpolation& scheme) const { return scheme.ratio; }
  // The factor whose NTK-aware base this is.
  double operator()(const BaseChange& scheme) const {
    const auto d = static_cast<double>(config.rope_dimensions);
    return std::pow(scheme.base / config.rope_base, d > 2 ? (d - 2) / d : 1.0);
  }
  double operator()(const Ntk& scheme) const { return scheme.factor; }
  double operator()(const DynamicNtk&) const { return HUGE_VAL; }
  double operator()(const DynamicLinear&) const { return HUGE_VAL; }
  double operator()(const Yarn& scheme) const {
    return scheme.factor * static_cast<double>(OriginalContext(scheme, config)) /
           static_cast<double>(config.trained_context);
  }
  double operator()(const NoRotation&) const { return 1; }
  double operator()(const HeadRatioTable& scheme) const {
    return scheme.ratios.empty() ? 1
                                 : *std::min_element(scheme.ratios.begin(), scheme.ratios.end());
  }
  // Layers that are left alone do not count: the public scripts leave the first two.
  double operator()(const MsPoe& scheme) const { return std::min(scheme.min, scheme.max); }
  double operator()(const SelfExtend&) const { return HUGE_VAL; }
  double operator()(const InfiniAttention&) const { return HUGE_VAL; }
};

}  // namespace

int64_t ContextOf(const Intervention& intervention, const ModelConfig& config) {
  if (config.positions == PositionKind::kAlibi) return INT64_MAX;
  const double stretch = std::visit(Stretch{config}, intervention.positions);
  const double tokens = stretch * static_cast<double>(config.trained_context);
  // NaN too, of a base that is none.
  if (!(tokens > static_cast<double>(config.trained_context))) return config.trained_context;
  return tokens < 0x1p62 ? static_cast<int64_t>(tokens * (1 + 1e-12)) : INT64_MAX;
}

int64_t LongestRun(const Intervention& intervention, const ModelConfig& config) {
  return config.beyond_context ? INT64_MAX : ContextOf(intervention, config);
}

std::string ContextHolds(const Intervention& intervention, const ModelConfig& config) {
  const int64_t longest = ContextOf(intervention, config);
  return "the model's context holds " + std::to_string(longest) +
         (longest > config.trained_context ? " under this position scheme" : "");
}

bool IsBeyondContext(int64_t tokens, const Intervention& intervention, const ModelConfig& config) {
  return tokens > ContextOf(intervention, config);
}

std::string BeyondContextText(int64_t tokens, const Intervention& intervention,
                              const ModelConfig& config) {
  return std::to_string(tokens) +
         " tokens are beyond the context: " + ContextHolds(intervention, config) + ". " +
         kBeyondContextMeaning;
}

}  // namespace midscope
