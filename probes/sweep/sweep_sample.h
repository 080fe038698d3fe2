// SPDX-License-Identifier: MIT
// The unit of work of a sweep: one sample at all places, under all settings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/run/scoring.h"
#include "core/tokenizer/prompt.h"
#include "data/store/record_reader.h"
#include "probes/prompt/task_prompt.h"
#include "probes/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_plan.h"

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
// likelihood arm; generation_score, generated_tokens, generated_text of the generation arm, and
// generation_rouge [setting, place, rouge] where the score is the geometric mean of three. And
// prompt_tokens, answer_tokens, gold_token_begin, gold_token_end [place]; with `attention`
// last_query_attention [layer, head, key] of the first setting given at the first place.
//
// A setting whose context (LongestRun) does not hold one of the prompts with what follows is not
// run at any of the places, which are compared on the same samples: its numbers are NaN (correct 0,
// texts empty, counts 0) and setting_failure [setting] says why. That array stands where contexts
// of the settings differ. Where the decoder runs beyond the context, beyond_context [setting] says
// whether a prompt was longer than that.
//
// Throws Error where no setting's context holds the prompts (what() begins with kTooLong),
// Cancelled.
Record RunSample(const std::shared_ptr<const Decoder>& decoder, const SampleRequest& request,
                 const JobContext& context);

// What a prompt came out with: its score, or NaN where it has no answer.
double AnswerNll(const Prompt& prompt, const AnswerScore& score);

// Record `outcome` of `settings` x `places` (both row-major arrays, [setting, place]).
Record OutcomeRecord(const std::vector<std::string>& settings, const std::vector<int64_t>& places,
                     std::vector<double> answer_nll, std::vector<uint8_t> correct);

// Whether ReadOutcome looks at the array of this name.
bool IsOutcome(const std::string& array);

// What such a record says. Throws Error (failure) where it holds something else.
SampleOutcome ReadOutcome(int64_t sample, const Record& record);

// Reads the stored sample samples[index], of its arrays those that are `wanted`.
using StoredSampleReader = std::function<Record(size_t index, const ArrayFilter& wanted)>;
// What stored samples of these numbers say, read without their large arrays. Throws as ReadOutcome
// and `read` do.
std::vector<SampleOutcome> ReadOutcomes(const std::vector<int64_t>& samples,
                                        const StoredSampleReader& read);

}  // namespace midscope
