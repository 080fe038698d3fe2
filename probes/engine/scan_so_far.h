// SPDX-License-Identifier: MIT
// Makes partial records of a running scan; items appear as they finish.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/sweep/sweep.h"

namespace midscope {

// Returns an order in which a scan's settings run (0: none, 1 + i: item i) that begins with the
// items whose ids are in `first`; ids that the scan does not contain are ignored.
std::vector<size_t> ScanOrder(const Scan& scan, const std::vector<std::string>& first);

// Returns record `scan` of a finished scan, with intervals and the attribute `complete` 1.
Record CompleteScan(const SweepPlan& plan, const SweepResult& result);

class ScanSoFar {
 public:
  // `tell` gets record scan with the attribute `complete` 0, at most ten times a second.
  // `finished`: samples of earlier runs; `running`: known results of the next sample. `plan` must
  // outlive this object.
  ScanSoFar(const SweepPlan& plan, SweepResult finished, const LikelihoodArrays& running,
            std::function<void(Record record)> tell);
  // Sets the run's callbacks on_sample and on_answer_nll. They report progress to `context` in
  // items times places, because a sample of a large model takes minutes. Must outlive the run.
  void Watch(SweepRun& run, const JobContext& context);

 private:
  void Tell();
  void Report(const JobContext& context) const;

  const SweepPlan& plan_;
  std::function<void(Record record)> tell_;
  std::vector<SampleOutcome> finished_;
  SampleOutcome running_;  // results of the running sample; NaN: not run yet
  int64_t run_ = 0;        // settings of the running sample that have finished, counted per place
  std::chrono::steady_clock::time_point reported_{};
};

}  // namespace midscope
