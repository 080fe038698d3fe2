// SPDX-License-Identifier: MIT
#include "probes/run_probe.h"

#include <algorithm>
#include <memory>
#include <string>

#include "core/context_limit.h"
#include "core/error.h"
#include "core/passage.h"
#include "core/scoring.h"
#include "probes/answer_record.h"
#include "probes/prompt_record.h"

namespace midscope {
namespace {

int64_t TokensToRun(const Prompt& prompt) {
  return static_cast<int64_t>(IdsToScore(prompt.ids, prompt.answer_ids).size());
}

}  // namespace

void CheckPromptFits(const ModelConfig& config, const Prompt& prompt,
                     const Intervention& intervention) {
  const int64_t tokens = TokensToRun(prompt);
  const int64_t longest = LongestRun(intervention, config);
  if (tokens <= longest) return;
  throw UsageError("prompt",
                   "it has " + std::to_string(tokens) + " tokens (answer included), " +
                       ContextHolds(intervention, config),
                   "Shorten the prompt by " + std::to_string(tokens - longest) +
                       " tokens or more, choose a position scheme that reaches further, such as "
                       "self-extend; probe, whatif, sweep and generate have --beyond-context");
}

bool PromptIsBeyondContext(const ModelConfig& config, const Prompt& prompt,
                           const Intervention& intervention) {
  return IsBeyondContext(TokensToRun(prompt), intervention, config);
}

void LogBeyondContext(const ModelConfig& config, const Prompt& prompt,
                      const Intervention& intervention, const JobContext& context) {
  if (!PromptIsBeyondContext(config, prompt, intervention)) return;
  context.Log("warning: " + BeyondContextText(TokensToRun(prompt), intervention, config));
}

std::vector<Record> RunProbes(const Decoder& decoder, const Prompt& prompt,
                              const Intervention& intervention, const ProbeRegistry& probes,
                              const OptionSet& options, const JobContext& context) {
  const std::vector<const ProbeType*> types = probes.Selected(options);
  const bool shared_run = std::any_of(types.begin(), types.end(),
                                      [](const ProbeType* type) { return !type->own_runs; });
  if (shared_run && decoder.config().beyond_context) {
    LogBeyondContext(decoder.config(), prompt, intervention, context);
  }
  return RunProbeTypes(decoder, prompt, intervention, types, options, context);
}

std::vector<Record> RunProbeTypes(const Decoder& decoder, const Prompt& prompt,
                                  const Intervention& intervention,
                                  const std::vector<const ProbeType*>& types,
                                  const OptionSet& options, const JobContext& context) {
  const bool shared_run = std::any_of(types.begin(), types.end(),
                                      [](const ProbeType* type) { return !type->own_runs; });
  if (shared_run) CheckPromptFits(decoder.config(), prompt, intervention);
  LogBytesWithoutToken(prompt, context);
  const Intervention resolved = ResolvePassages(intervention, prompt);
  const ProbeInput input{decoder, prompt, resolved, options, &context};
  std::vector<std::unique_ptr<Probe>> running;
  RunRequest request;
  for (const ProbeType* type : types) {
    running.push_back(type->make(input));
    const std::vector<Hook*> hooks = running.back()->Hooks();
    request.hooks.insert(request.hooks.end(), hooks.begin(), hooks.end());
  }
  const std::vector<int32_t> ids = IdsToScore(prompt.ids, prompt.answer_ids);
  request.ids = ids;
  request.prompt_tokens = input.prompt_tokens();
  request.intervention = resolved;
  RunResult result;
  if (shared_run) result = decoder.RunOne(request, context);

  std::vector<Record> records;
  records.reserve(running.size() + 1);
  for (const std::unique_ptr<Probe>& probe : running) records.push_back(probe->Finish(result));
  if (shared_run && !prompt.answer_ids.empty()) {
    records.push_back(
        AnswerRecord(prompt, ScoreAnswer(result, input.prompt_tokens(), prompt.answer_ids)));
  }
  if (shared_run && decoder.config().beyond_context) {
    const bool beyond = PromptIsBeyondContext(decoder.config(), prompt, intervention);
    for (size_t i = 0; i < records.size(); ++i) {
      // Probes with runs of their own say it themselves.
      if (i < types.size() && types[i]->own_runs) continue;
      records[i].attributes["beyond_context"] = int64_t{beyond ? 1 : 0};
    }
  }
  return records;
}

}  // namespace midscope
