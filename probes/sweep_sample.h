// SPDX-License-Identifier: MIT
// The unit of work of a sweep: one sample at all places, under all settings.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/decoder.h"
#include "core/job.h"
#include "core/prompt.h"
#include "core/record.h"
#include "core/scoring.h"
#include "probes/outcome_statistics.h"
#include "probes/sweep_plan.h"

namespace midscope {

// Traces of one sample's prompts may take so much together; prompts beyond it run in full each
// time.
inline constexpr int64_t kTraceMemoryBytes = int64_t{3} << 30;

struct SampleRequest {
  std::vector<Prompt> prompts;  // one a place, each with an answer
  std::vector<int64_t> places;
  std::vector<SweepSetting> settings;
  bool attention = false;
  int64_t trace_memory_bytes = kTraceMemoryBytes;
};

// All places packed in one batch, settings in EvaluationOrder on kept traces. Record `outcome`:
// answer_nll, correct [setting, place]; prompt_tokens, answer_tokens, gold_token_begin,
// gold_token_end [place]; with `attention` last_query_attention [layer, head, key] of the first
// setting given at the first place. Throws Error, Cancelled.
Record RunSample(const std::shared_ptr<const Decoder>& decoder, const SampleRequest& request,
                 const JobContext& context);

// What a prompt came out with: its score, or NaN where it has no answer.
double AnswerNll(const Prompt& prompt, const AnswerScore& score);

// Record `outcome` of `settings` x `places` (both row-major arrays, [setting, place]).
Record OutcomeRecord(const std::vector<std::string>& settings, const std::vector<int64_t>& places,
                     std::vector<double> answer_nll, std::vector<uint8_t> correct);

// What such a record says. Throws Error (failure) where it holds something else.
SampleOutcome ReadOutcome(int64_t sample, const Record& record);

}  // namespace midscope
