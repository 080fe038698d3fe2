// SPDX-License-Identifier: MIT
// The unit of work of a sweep: one sample at all places, under all settings.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/run/scoring.h"
#include "core/tokenizer/prompt.h"
#include "data/store/record_reader.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Memory limit in bytes of the traces of one sample's prompts; prompts beyond it run in full each
// time.
inline constexpr int64_t kTraceMemoryBytes = int64_t{3} << 30;

struct SampleRequest {
  std::vector<TaskQuestion> questions;  // one per place
  std::vector<int64_t> places;
  std::vector<SweepSetting> settings;
  ScoreArms score = {};
  bool attention = false;
  int64_t trace_memory_bytes = kTraceMemoryBytes;
  // Settings that change the last rows alone run as rows of one batch (WhatIf::EvaluateEach). Then
  // the last bits of a number depend on which settings there are.
  bool together = false;
  // The sample, or the one that is `samples_on` further on, with its gold piece at any place, for
  // patches; empty: this one at `places` alone.
  std::function<Prompt(int64_t place, int64_t samples_on)> prompt_at = nullptr;
  std::vector<std::pair<std::string, Prompt>> source_prompts = {};  // patch(from=source:NAME)
  // The order in which settings run, [index into settings]; empty: EvaluationOrder.
  std::vector<size_t> order = {};
  // Called with every likelihood as soon as it is known; may be empty.
  std::function<void(size_t setting, size_t place, double answer_nll)> on_answer_nll = nullptr;
};

// All places packed in one batch, settings in EvaluationOrder on cached traces. Record `outcome`,
// all [setting, place]: answer_nll, correct and, if there are choices, choice_correct or (by its
// rule) right_share, choice_nll [setting, place, choice] and choice_right [place, choice] by
// likelihood; generation_score, generated_tokens, generated_text, generation_cut, generation_empty
// by generation, generation_rouge [setting, place, rouge] where the score is the geometric mean of
// three, and answered_place with first_piece_place and last_piece_place [place] where the pieces
// have answers (sample_generation.h). And setting_seconds [setting] except in a scan,
// prompt_tokens, answer_tokens, gold_token_begin, gold_token_end and the texts question_text,
// answer_text, expected_answers (a JSON list) [place]; with `attention` last_query_attention
// [layer, head, key] of the first setting given at the first place.
//
// A setting whose context (LongestRun) is too short for one of the prompts with its answer is not
// run at any of the places, so that places are compared on the same samples: its numbers are NaN
// (correct 0, texts empty, counts 0) and setting_failure [setting] has the reason. That array
// exists where contexts of the settings differ. Where the decoder runs beyond the context,
// beyond_context [setting] is whether a prompt was longer than it.
//
// In a scan (`together`) that patches, source_nll [place] is answer_nll of the prompt's answer in
// the source run.
//
// Throws Error if no setting's context holds the prompts (what() begins with kTooLong), Cancelled.
Record RunSample(const std::shared_ptr<const Decoder>& decoder, const SampleRequest& request,
                 const JobContext& context);

// The outcome of a prompt: its score, or NaN if it has no answer.
double AnswerNll(const Prompt& prompt, const AnswerScore& score);

// Record `outcome` of `settings` x `places` (both row-major arrays, [setting, place]).
Record OutcomeRecord(const std::vector<std::string>& settings, const std::vector<int64_t>& places,
                     std::vector<double> answer_nll, std::vector<uint8_t> correct);

// Whether ReadOutcome uses the array of this name.
bool IsOutcome(const std::string& array);

// The outcome in such a record. Throws Error (failure) for another form.
SampleOutcome ReadOutcome(int64_t sample, const Record& record);

// Reads the stored sample samples[index], only the arrays that are `wanted`.
using StoredSampleReader = std::function<Record(size_t index, const ArrayFilter& wanted)>;
// The outcomes of the stored samples with these numbers, read without their large arrays. Throws in
// the same cases as ReadOutcome and `read` do.
std::vector<SampleOutcome> ReadOutcomes(const std::vector<int64_t>& samples,
                                        const StoredSampleReader& read);

}  // namespace midscope
