// SPDX-License-Identifier: MIT
// Makes the record of a running scan; items appear as they finish.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/sweep/sweep.h"

namespace midscope {

// Returns an order of settings (0: none, 1 + i: item i) that begins with the items of these ids;
// ids that the scan lacks are ignored.
std::vector<size_t> ScanOrder(const Scan& scan, const std::vector<std::string>& first);

// Returns record `scan` of a finished scan, with intervals and the attribute `complete` 1.
Record CompleteScan(const SweepPlan& plan, const SweepResult& result);

class ScanSoFar {
 public:
  // `tell` gets the record with the attribute `complete` 0, at most ten times a second. `finished`:
  // samples of earlier runs; `running`: what these know of the next one. `plan` must outlive this
  // object.
  ScanSoFar(const SweepPlan& plan, SweepResult finished, const LikelihoodArrays& running,
            std::function<void(Record record)> tell);
  // Sets the run's on_sample and on_answer_nll. They report the progress to `context` in items
  // times places, because a sample of a large model takes minutes. This object must outlive the
  // run.
  void Watch(SweepRun& run, const JobContext& context);

 private:
  void Tell();
  void Report(const JobContext& context) const;

  const SweepPlan& plan_;
  std::function<void(Record record)> tell_;
  std::vector<SampleOutcome> finished_;
  SampleOutcome running_;  // NaN: not run yet
  int64_t run_ = 0;        // finished settings, counted per place, of the running sample
  std::chrono::steady_clock::time_point reported_{};
};

}  // namespace midscope
