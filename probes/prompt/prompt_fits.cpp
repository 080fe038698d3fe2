// SPDX-License-Identifier: MIT
#include "probes/prompt/prompt_fits.h"

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/plan/run_positions.h"
#include "core/run/scoring.h"

namespace midscope {
namespace {

int64_t TokensToRun(const Prompt& prompt) {
  return static_cast<int64_t>(IdsToScore(prompt.ids, prompt.answer_ids).size());
}

int64_t PromptTokens(const Prompt& prompt) { return static_cast<int64_t>(prompt.ids.size()); }

int64_t PositionsToRun(const Prompt& prompt, const Intervention& intervention) {
  return PositionsTaken(intervention, PromptTokens(prompt), TokensToRun(prompt));
}

}  // namespace

void CheckPromptFits(const ModelConfig& config, const Prompt& prompt,
                     const Intervention& intervention) {
  const int64_t tokens = TokensToRun(prompt);
  const int64_t longest = LongestRun(intervention, config);
  if (tokens <= longest) {
    CheckPositionsHeld(intervention, config, PromptTokens(prompt), tokens);
    return;
  }
  throw UsageError(
      "prompt",
      fmt::format("it has {} tokens (answer included), {}", tokens,
                  ContextHolds(intervention, config)),
      fmt::format("Shorten the prompt by {} tokens or more, choose a position scheme that reaches "
                  "further, such as self-extend, or switch on --beyond-context",
                  tokens - longest));
}

bool PromptIsBeyondContext(const ModelConfig& config, const Prompt& prompt,
                           const Intervention& intervention) {
  return IsBeyondContext(PositionsToRun(prompt, intervention), intervention, config);
}

void LogBeyondContext(const ModelConfig& config, const Prompt& prompt,
                      const Intervention& intervention, const JobContext& context) {
  if (!PromptIsBeyondContext(config, prompt, intervention)) return;
  context.Warn("warning: " +
               BeyondContextText(PositionsToRun(prompt, intervention), intervention, config));
}

}  // namespace midscope
