// SPDX-License-Identifier: MIT
#include "core/plan/run_positions.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/intervention/term_type.h"
#include "core/plan/plan_changes.h"
#include "core/positions/position_sampler.h"

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

namespace {

constexpr const char* kPositionsTerm = "positions";

PositionIds OfFile(const GivenPositions& given, int64_t prompt_tokens) {
  const auto count = static_cast<int64_t>(given.ids.size());
  if (count != prompt_tokens) {
    throw UsageError(kPositionsTerm,
                     given.file + " has " + CountText(count, "id") + ", the prompt has " +
                         CountText(prompt_tokens, "token"),
                     "Give one id for each token; midscope probe --json tells their number");
  }
  return PositionIds(given.ids);
}

PositionIds OfSampler(const GivenPositions& given, int64_t prompt_tokens) {
  const PositionSampler* sampler = FindPositionSampler(given.sampler);
  if (!sampler) throw UsageError(kPositionsTerm, "no sampler is named '" + given.sampler + "'");
  OptionSet options(sampler->parameters);
  for (const auto& [name, value] : given.options) options.Set(name, value);
  const double context = std::floor(static_cast<double>(prompt_tokens) * given.factor);
  if (context > static_cast<double>(kLargestPositionContext)) {
    throw UsageError(kPositionsTerm,
                     NumberText(given.factor) + " times " + CountText(prompt_tokens, "token") +
                         " makes more than " + std::to_string(kLargestPositionContext) +
                         " positions",
                     "Give a smaller factor");
  }
  const PositionRequest request{.tokens = prompt_tokens,
                                .context = static_cast<int64_t>(context),
                                .document = 0,
                                .seed = given.seed};
  const std::vector<int64_t> ids = PreparePositions(*sampler, request, options)(0).position_id;
  return PositionIds(std::vector<double>(ids.begin(), ids.end()));
}

}  // namespace

PositionIds PositionIdsOf(const Intervention& intervention, int64_t prompt_tokens) {
  const auto* given = intervention.Find<GivenPositions>();
  if (!given) return {};
  if (!given->sampler.empty()) return OfSampler(*given, prompt_tokens);
  return given->ids.empty() ? PositionIds() : OfFile(*given, prompt_tokens);
}

RowRange RowsOfIds(const Intervention& intervention, int64_t prompt_tokens) {
  const auto* given = intervention.Find<GivenPositions>();
  return given ? RowsOf(given->rows, prompt_tokens) : kAllRows;
}

int64_t PositionsTaken(const Intervention& intervention, int64_t prompt_tokens, int64_t rows) {
  return PositionIdsOf(intervention, prompt_tokens).Reach(rows);
}

void CheckPositionsHeld(const Intervention& intervention, const ModelConfig& config,
                        int64_t prompt_tokens, int64_t rows) {
  if (!intervention.Find<GivenPositions>()) return;
  const int64_t taken = PositionsTaken(intervention, prompt_tokens, rows);
  if (taken <= LongestRun(intervention, config)) return;
  throw UsageError(kPositionsTerm,
                   "the ids of " + CountText(rows, "token") + " reach " +
                       std::to_string(taken - 1) + ", " + ContextHolds(intervention, config),
                   config.positions == PositionKind::kLearned
                       ? "Give smaller ids, or a smaller factor"
                       : "Give smaller ids, a smaller factor or a position scheme that reaches "
                         "further, or switch on --beyond-context");
}

}  // namespace midscope
