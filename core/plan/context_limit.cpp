// SPDX-License-Identifier: MIT
#include "core/plan/context_limit.h"

#include <fmt/format.h>

#include "core/intervention/term_type.h"

namespace midscope {

int64_t ContextOf(const Intervention& intervention, const ModelConfig& config) {
  if (config.positions == PositionKind::kAlibi) return INT64_MAX;
  if (config.positions == PositionKind::kLearned) return config.trained_context;
  const Term* scheme = PositionScheme(intervention);
  const double stretch = scheme ? scheme->type().stretch(*scheme, config) : 1;
  const double tokens = stretch * static_cast<double>(config.trained_context);
  // Also catches NaN, from a base that is not valid.
  if (!(tokens > static_cast<double>(config.trained_context))) return config.trained_context;
  return tokens < 0x1p62 ? static_cast<int64_t>(tokens * (1 + 1e-12)) : INT64_MAX;
}

int64_t LongestRun(const Intervention& intervention, const ModelConfig& config) {
  const bool any = config.beyond_context && config.positions != PositionKind::kLearned;
  return any ? INT64_MAX : ContextOf(intervention, config);
}

std::string ContextHolds(const Intervention& intervention, const ModelConfig& config) {
  const int64_t longest = ContextOf(intervention, config);
  if (config.positions == PositionKind::kLearned) {
    return fmt::format(
        "the model's context holds {}: its positions are learned, and it has no embeddings of more",
        longest);
  }
  return fmt::format("the model's context holds {}{}", longest,
                     longest > config.trained_context ? " under this position scheme" : "");
}

bool IsBeyondContext(int64_t tokens, const Intervention& intervention, const ModelConfig& config) {
  return tokens > ContextOf(intervention, config);
}

std::string BeyondContextText(int64_t tokens, const Intervention& intervention,
                              const ModelConfig& config) {
  const std::string what = !intervention.Find<GivenPositions>()
                               ? fmt::format("{} tokens", tokens)
                               : fmt::format("position ids up to {}", tokens - 1);
  return fmt::format("{} are beyond the context: {}. {}", what, ContextHolds(intervention, config),
                     kBeyondContextMeaning);
}

}  // namespace midscope
