// SPDX-License-Identifier: MIT
// The unit of work of a sweep: one sample at all places, under all settings.
#pragma once

#include <cstddef>
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

// Memory limit, in bytes, of the traces of one sample's prompts; prompts whose traces exceed it run
// in full under every setting.
inline constexpr int64_t kTraceMemoryBytes = int64_t{3} << 30;

// Likelihoods of a running sample, by setting and place.
struct LikelihoodArrays {
  std::vector<double> nll;  // [setting, place]; NaN: not known
  std::vector<uint8_t> correct;
  std::vector<double> choice_score;  // [setting, place], by the task's rule; empty: no choices
  std::vector<double> choice_nll;    // nats, [setting, place, choice]
  std::vector<float> attention;
  std::vector<double> source_nll;  // [place]; empty: nothing is patched
  std::vector<size_t> runs;        // [setting]: number of prompts that were run
};

struct SampleRequest {
  std::vector<TaskQuestion> questions;  // one per place
  std::vector<int64_t> places;
  std::vector<SweepSetting> settings;
  ScoreArms score = {};
  bool attention = false;
  int64_t trace_memory_bytes = kTraceMemoryBytes;
  // Whether settings that change only the last rows run as rows of one batch
  // (WhatIf::EvaluateEach). The last bits of their results then depend on the other settings.
  bool together = false;
  // For patches: returns the prompt of the sample whose number is larger by `samples_on`, with its
  // gold piece at any place. Empty: patches use only this sample at `places`.
  std::function<Prompt(int64_t place, int64_t samples_on)> prompt_at = nullptr;
  std::vector<std::pair<std::string, Prompt>> source_prompts = {};  // patch(from=source:NAME)
  // The order in which settings run, as indices into `settings`; empty: EvaluationOrder.
  std::vector<size_t> order = {};
  // Called with every answer_nll as soon as it is known; may be empty.
  std::function<void(size_t setting, size_t place, double answer_nll)> on_answer_nll = nullptr;
  // Receives results as they come, with `together`; settings that an earlier, cancelled run of the
  // same request has stored there are not run again. Not owned.
  LikelihoodArrays* unfinished = nullptr;
};

// Runs one sample: all places packed in one batch, with the settings in EvaluationOrder on cached
// traces. Returns record `outcome`, [setting, place] unless stated otherwise: answer_nll, correct
// and, if there are choices, choice_correct or (depending on the rule) right_share, choice_nll
// [setting, place, choice] and choice_right [place, choice], by likelihood; generation_score,
// generated_tokens, generated_text, generation_cut, generation_empty, by generation;
// generation_rouge [setting, place, rouge] if the score is the geometric mean of three;
// answered_place with first_piece_place and last_piece_place [place] if the pieces have answers
// (sample_generation.h). Also setting_seconds [setting] except in a scan, prompt_tokens,
// answer_tokens, gold_token_begin, gold_token_end, gold_rank (if the pieces are ranked) and the
// texts question_text, answer_text, expected_answers (a JSON list) [place]; with `attention`
// last_query_attention [layer, head, key] of the first given setting at the first place.
//
// A setting whose context (LongestRun) is too short for one of the prompts with its answer is not
// run at any place, so that places are compared on the same samples: its numbers are NaN (correct
// 0, texts empty, counts 0), and setting_failure [setting] has the reason. That array exists if the
// settings' contexts differ. If the decoder runs beyond the context, beyond_context [setting]
// states whether a prompt exceeded it.
//
// In a scan (`together`) of patches, source_nll [place] is answer_nll of the prompt's answer in the
// source run.
//
// Places whose prompts are equal (FirstEqualPlaces) run once.
//
// Throws Error if the prompts exceed the context of every setting (what() begins with kTooLong);
// Cancelled.
Record RunSample(const std::shared_ptr<const Decoder>& decoder, const SampleRequest& request,
                 const JobContext& context);

// Returns the answer's negative log-likelihood in `score`; NaN if the prompt has no answer.
double AnswerNll(const Prompt& prompt, const AnswerScore& score);

// Makes record `outcome` of `settings` x `places`; both arrays are row-major, [setting, place].
Record OutcomeRecord(const std::vector<std::string>& settings, const std::vector<int64_t>& places,
                     std::vector<double> answer_nll, std::vector<uint8_t> correct);

// Returns whether ReadOutcome uses the array of this name.
bool IsOutcome(const std::string& array);

// Reads a sample's outcome from its record `outcome`. Throws Error (failure) for another form.
SampleOutcome ReadOutcome(int64_t sample, const Record& record);

// Reads the record of stored sample samples[index], only the `wanted` arrays.
using StoredSampleReader = std::function<Record(size_t index, const ArrayFilter& wanted)>;
// Reads the outcomes of the stored samples with these numbers, without their large arrays. Throws
// in the same cases as ReadOutcome and `read`.
std::vector<SampleOutcome> ReadOutcomes(const std::vector<int64_t>& samples,
                                        const StoredSampleReader& read);

// Returns, for each question, the index of the first one with its gold rank and tokens: its own
// index if there is no earlier one. Several have the same rank in tasks by depth whose samples have
// few pieces, such as 0 % and 25 % of three documents: their prompts are equal.
std::vector<size_t> FirstEqualPlaces(const std::vector<TaskQuestion>& questions);

// Returns whether a place repeats an earlier one. `first`: the result of FirstEqualPlaces.
bool HasRepeatedPlaces(const std::vector<size_t>& first);

// Returns the request without places whose prompts repeat an earlier place; `first`: from
// FirstEqualPlaces. on_answer_nll is called for each of the equal places.
SampleRequest WithoutRepeatedPlaces(const SampleRequest& request, const std::vector<size_t>& first);

// Returns the record of a request made by WithoutRepeatedPlaces, extended to all `places`: each
// repeated place gets the values of the first equal place.
Record WithRepeatedPlaces(Record record, const std::vector<int64_t>& places,
                          const std::vector<size_t>& first);

}  // namespace midscope
