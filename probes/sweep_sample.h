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
#include "probes/task_prompt.h"

namespace midscope {

// Traces of one sample's prompts may take so much together; prompts beyond it run in full each
// time.
inline constexpr int64_t kTraceMemoryBytes = int64_t{3} << 30;

struct SampleRequest {
  std::vector<TaskQuestion> questions;  // one a place
  std::vector<int64_t> places;
  std::vector<SweepSetting> settings;
  ScoreArms score = {};
  bool attention = false;
  int64_t trace_memory_bytes = kTraceMemoryBytes;
};

// All places packed in one batch, settings in EvaluationOrder on kept traces. Record `outcome`, all
// [setting, place]: answer_nll, correct and, where there are choices, choice_correct of the
// likelihood arm; generation_score, generated_tokens, generated_text of the generation arm. And
// prompt_tokens, answer_tokens, gold_token_begin, gold_token_end [place]; with `attention`
// last_query_attention [layer, head, key] of the first setting given at the first place. Throws
// Error (of a prompt that with what is to be generated is longer than LongestRun of one of the
// settings: what() begins with kTooLong), Cancelled.
Record RunSample(const std::shared_ptr<const Decoder>& decoder, const SampleRequest& request,
                 const JobContext& context);

inline constexpr const char* kTooLong = "prompt too long";

// Throws that Error where the model's context does not hold one of the prompts with what follows
// under all settings.
void CheckFits(const std::vector<TaskQuestion>& questions,
               const std::vector<SweepSetting>& settings, const ScoreArms& score,
               const ModelConfig& config);

// What a prompt came out with: its score, or NaN where it has no answer.
double AnswerNll(const Prompt& prompt, const AnswerScore& score);

// Record `outcome` of `settings` x `places` (both row-major arrays, [setting, place]).
Record OutcomeRecord(const std::vector<std::string>& settings, const std::vector<int64_t>& places,
                     std::vector<double> answer_nll, std::vector<uint8_t> correct);

// Whether ReadOutcome looks at the array of this name.
bool IsOutcome(const std::string& array);

// What such a record says. Throws Error (failure) where it holds something else.
SampleOutcome ReadOutcome(int64_t sample, const Record& record);

}  // namespace midscope
