// SPDX-License-Identifier: MIT
// Runs a sweep: samples x places x settings, paired, i.e. every setting runs the same samples at
// the same places.
//
// Example:
//
// clang-format off
//   const std::unique_ptr<Task> task = MakeTaskFor(decoder->tokenizer(), "list:lines=4", 1);
//   SweepRun run;
//   run.decoder = decoder;
//   run.plan.task = task->name();
//   run.plan.samples = 2;
//   run.plan.places = {1, 4};
//   run.plan.settings = {ReadSetting("none"), ReadSetting("pi(1.5)")};
//   run.questions = [&](int64_t sample) {
//     return TaskQuestions(decoder->tokenizer(), *task, run.plan.places, sample);
//   };
//   const SweepResult result = RunSweep(run, {});
//   const std::vector<CellStatistics> cells = Summarise(run.plan, result);  // [setting, place]
// clang-format on
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "data/sweep/sweep_store.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sample_source.h"
#include "probes/sweep/sweep_plan.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {

// Returns the questions of one sample, one per place.
using QuestionSource = std::function<std::vector<TaskQuestion>(int64_t sample)>;
// Returns a sample's prompt with the gold piece at any place of the task. Sample numbers beyond the
// last sample start again at the first.
using PromptSource = std::function<Prompt(int64_t sample, int64_t place)>;

struct SweepResult {
  std::vector<SampleOutcome> outcomes;      // finished samples, in the order of completion
  std::map<int64_t, std::string> failures;  // samples without any run: reason by sample number
  std::vector<Record> tests = {};  // tests read from the file of these samples (AnalyseSweep)

  // Number of samples that have finished or failed.
  int64_t done() const { return static_cast<int64_t>(outcomes.size() + failures.size()); }
  // Number of samples that failed because a prompt exceeds the model's context.
  int64_t too_long() const;
  // Number of samples in `outcomes` on which some settings were not run.
  int64_t partly_failed() const;
};

struct SweepRun {
  std::shared_ptr<const Decoder> decoder;
  SweepPlan plan;
  QuestionSource questions;
  PromptSource prompt_at = nullptr;  // for patches; empty: only at the plan's places
  std::vector<std::pair<std::string, Prompt>> source_prompts = {};  // patch(from=source:NAME)
  SweepStore* store = nullptr;  // not owned; null: results stay in memory
  // Source of sample numbers, not owned. If set, this process runs only these samples and does not
  // call SweepStore::Finish. If null, it runs all samples that the store does not have.
  SampleSource* source = nullptr;
  int64_t done_before = 0;  // samples in files of earlier jobs; counted in the progress
  int64_t trace_memory_bytes = kTraceMemoryBytes;
  int64_t checkpoint_samples = 20;  // samples after which a checkpoint is written; 0: never
  double checkpoint_seconds = 30;   // seconds after which one is written, if that is earlier
  // Called after every sample with all results so far; may be empty.
  std::function<void(const SweepResult&)> on_sample;
  // Order in which settings run, and callback for each answer_nll (SampleRequest).
  std::vector<size_t> order = {};
  std::function<void(int64_t sample, size_t setting, size_t place, double answer_nll)>
      on_answer_nll = nullptr;
  // Results of the first sample that is run, as they come (SampleRequest). Empty after each sample.
  LikelihoodArrays* unfinished = nullptr;
};

// Runs the plan's samples that the store does not have. If a sample fails, stores the reason and
// continues. On cancellation, writes a checkpoint and rethrows Cancelled. Throws Error if every
// sample fails or the store cannot be written.
SweepResult RunSweep(const SweepRun& run, const JobContext& context);

// Reads the outcomes and failures of a store's samples.
SweepResult StoredResult(const SweepStore& store);

// Throws Error (failure) if no sample succeeded and some failed.
void CheckSomeSamples(const SweepResult& result);

// Returns a text about the samples that failed for reasons other than the length of their prompts;
// "" if there are none.
std::string FailedSamplesText(const SweepResult& result);
// Throws Error (failure) if `failed`, from FailedSamplesText, is not empty, so that a sweep with
// missing samples does not end as a success.
void CheckAllSamples(const std::string& failed);

// Returns the summaries for the file of a complete sweep: means, tests of settings and places, and,
// if settings could not be run on some samples, record setting_failures (failed_sample,
// failed_setting, failure_message [failure]). Throws Cancelled.
std::vector<Record> SweepSummaries(const SweepPlan& plan, const SweepResult& result,
                                   const JobContext& context = {});

// Returns the means of a sweep's result by setting and place, with intervals
// (outcome_statistics.h).
std::vector<CellStatistics> Summarise(const SweepPlan& plan, const SweepResult& result);
Record MeansRecord(const SweepPlan& plan, const SweepResult& result);

// Returns a note that the mean of generation_score is ZeroSCROLLS' geometric mean of mean ROUGE
// scores; "" if it is the mean of the samples' scores.
std::string GenerationMeanText(const SweepResult& result);

}  // namespace midscope
