// SPDX-License-Identifier: MIT
// Samples x places x settings, paired: every setting is asked the same samples at the same places.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/decoder/decoder.h"
#include "data/sweep/sweep_store.h"
#include "probes/statistics/outcome_statistics.h"
#include "probes/sweep/sample_source.h"
#include "probes/sweep/sweep_plan.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {

// What one sample asks, one question a place.
using QuestionSource = std::function<std::vector<TaskQuestion>(int64_t sample)>;

struct SweepResult {
  std::vector<SampleOutcome> outcomes;      // finished samples, in the order they were done
  std::map<int64_t, std::string> failures;  // samples of which no setting was run: why

  // Samples that are done, one way or the other.
  int64_t done() const { return static_cast<int64_t>(outcomes.size() + failures.size()); }
  // Failures of prompts that the model's context does not hold.
  int64_t too_long() const;
  // Samples of `outcomes` on which some settings were not run.
  int64_t partly_failed() const;
};

struct SweepRun {
  std::shared_ptr<const Decoder> decoder;
  SweepPlan plan;
  QuestionSource questions;
  SweepStore* store = nullptr;  // not owned; null: results stay in memory
  // Not owned. Set: this process runs a part of the sweep, takes its samples from here, and leaves
  // the store unfinished. Null: all samples that the store does not hold.
  SampleSource* source = nullptr;
  int64_t trace_memory_bytes = kTraceMemoryBytes;
  int64_t checkpoint_samples =
      20;  // fold finished samples into the file after so many (0: never) ...
  double checkpoint_seconds = 30;  // ... or after so long, whichever comes first
  // Called after every sample, with everything so far; may be empty.
  std::function<void(const SweepResult&)> on_sample;
};

// Runs the plan's samples that the store does not hold yet. A sample that fails is noted and the
// sweep goes on. Cancelled leaves a checkpoint, then Cancelled is thrown on. Throws Error where
// every sample fails, and where the store cannot be written.
SweepResult RunSweep(const SweepRun& run, const JobContext& context);

// What a store holds already: its samples' outcomes and its failures.
SweepResult StoredResult(const SweepStore& store);

// Throws Error (failure) where no sample came out and some failed.
void CheckSomeSamples(const SweepResult& result);

// What a whole sweep's file says beside its samples: means, the tests of settings and places, and
// record setting_failures (failed_sample, failed_setting, failure_message [failure]) where settings
// could not be run on some of the samples.
std::vector<Record> SweepSummaries(const SweepPlan& plan, const SweepResult& result);

// The means of a result, with intervals (outcome_statistics.h).
std::vector<CellStatistics> Summarise(const SweepPlan& plan, const SweepResult& result);
Record MeansRecord(const SweepPlan& plan, const SweepResult& result);

// How generation_score is averaged, where that is not the mean of samples' scores: ZeroSCROLLS'
// geometric mean of mean ROUGE scores, or that a file holds too little to form it; "" else.
std::string GenerationMeanText(const SweepPlan& plan, const SweepResult& result);

}  // namespace midscope
