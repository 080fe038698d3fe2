// SPDX-License-Identifier: MIT
// Samples x places x settings, paired: every setting runs the same samples at the same places.
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

// The questions of one sample, one per place.
using QuestionSource = std::function<std::vector<TaskQuestion>(int64_t sample)>;
// A sample's prompt with the gold piece at any place of the task. After the last sample comes the
// first.
using PromptSource = std::function<Prompt(int64_t sample, int64_t place)>;

struct SweepResult {
  std::vector<SampleOutcome> outcomes;      // finished samples, in the order of completion
  std::map<int64_t, std::string> failures;  // samples for which no setting was run, with the reason
  std::vector<Record> tests = {};           // of a file with these samples (AnalyseSweep)

  // Number of samples that are done or failed.
  int64_t done() const { return static_cast<int64_t>(outcomes.size() + failures.size()); }
  // Number of failures because a prompt exceeds the model's context.
  int64_t too_long() const;
  // Samples of `outcomes` on which some settings were not run.
  int64_t partly_failed() const;
};

struct SweepRun {
  std::shared_ptr<const Decoder> decoder;
  SweepPlan plan;
  QuestionSource questions;
  PromptSource prompt_at = nullptr;  // for patches; empty: they take from the plan's places alone
  std::vector<std::pair<std::string, Prompt>> source_prompts = {};  // patch(from=source:NAME)
  SweepStore* store = nullptr;  // not owned; null: results stay in memory
  // Not owned. Set: this process runs a part of the sweep, takes its samples from this source, and
  // leaves the store unfinished. Null: all samples that the store does not have.
  SampleSource* source = nullptr;
  int64_t done_before = 0;  // samples in the files of earlier jobs, for the progress
  int64_t trace_memory_bytes = kTraceMemoryBytes;
  int64_t checkpoint_samples =
      20;  // moves finished samples into the file after this many (0: never) ...
  double checkpoint_seconds = 30;  // ... or after so long, whichever comes first
  // Called after every sample with all results so far; may be empty.
  std::function<void(const SweepResult&)> on_sample;
  // As in SampleRequest.
  std::vector<size_t> order = {};
  std::function<void(int64_t sample, size_t setting, size_t place, double answer_nll)>
      on_answer_nll = nullptr;
};

// Runs the plan's samples that the store does not have. A failing sample is recorded and the sweep
// continues. On cancellation a checkpoint is written and Cancelled rethrown. Throws Error if every
// sample fails, and if the store cannot be written.
SweepResult RunSweep(const SweepRun& run, const JobContext& context);

// A store's samples: their outcomes and failures.
SweepResult StoredResult(const SweepStore& store);

// Throws Error (failure) if no sample succeeded and some failed.
void CheckSomeSamples(const SweepResult& result);

// Which samples failed for another reason than the length of their prompts; "" for none.
std::string FailedSamplesText(const SweepResult& result);
// Throws Error (failure) if that text is not empty: a table that misses samples is not a success.
void CheckAllSamples(const std::string& failed);

// The summaries of a whole sweep's file: means, tests of settings and places, and record
// setting_failures (failed_sample, failed_setting, failure_message [failure]) where settings could
// not be run on some of the samples. Throws Cancelled.
std::vector<Record> SweepSummaries(const SweepPlan& plan, const SweepResult& result,
                                   const JobContext& context = {});

// The means of a result, with intervals (outcome_statistics.h).
std::vector<CellStatistics> Summarise(const SweepPlan& plan, const SweepResult& result);
Record MeansRecord(const SweepPlan& plan, const SweepResult& result);

// The mean used for generation_score, if it is not the mean of samples' scores: ZeroSCROLLS'
// geometric mean of mean ROUGE scores; "" otherwise.
std::string GenerationMeanText(const SweepResult& result);

}  // namespace midscope
