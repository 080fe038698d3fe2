// SPDX-License-Identifier: MIT
// The record of a scan while it runs: items appear as they are done.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/sweep/sweep.h"

namespace midscope {

// The order of settings (0: none, 1 + i: item i) in which the items with these ids come first; ids
// that the scan does not have are passed over.
std::vector<size_t> ScanOrder(const Scan& scan, const std::vector<std::string>& first);

// Record `scan` of a finished scan, with intervals; attribute `complete` 1.
Record CompleteScan(const SweepPlan& plan, const SweepResult& result);

class ScanSoFar {
 public:
  // `tell` gets the record with the attribute `complete` 0, at most ten times a second. `finished`:
  // samples of an earlier run. `plan` must outlive it.
  ScanSoFar(const SweepPlan& plan, SweepResult finished, std::function<void(Record record)> tell)
      : plan_(plan), tell_(std::move(tell)), finished_(std::move(finished.outcomes)) {}
  // Sets the run's on_sample and on_answer_nll, which report items at all places of all samples as
  // the context's progress: a sample of a large model takes minutes. Must outlive the run.
  void Watch(SweepRun& run, const JobContext& context);

 private:
  void Tell();
  void Report(const JobContext& context) const;

  const SweepPlan& plan_;
  std::function<void(Record record)> tell_;
  std::vector<SampleOutcome> finished_;
  SampleOutcome running_;  // NaN if nothing has been run
  int64_t run_ = 0;        // settings at a place of the running sample
  std::chrono::steady_clock::time_point reported_{};
};

}  // namespace midscope
