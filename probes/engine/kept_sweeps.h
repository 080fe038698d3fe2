// SPDX-License-Identifier: MIT
// Comparisons and scans over samples of the window's prompt request. Finished samples are kept: one
// that was cancelled, or that is requested again with more samples, continues from them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/measure/channels/find_channels.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/sweep.h"

namespace midscope {

class KeptSweeps {
 public:
  // Runs the samples of run.plan that are not there yet; run.on_sample gets those that were, too.
  // Returns the first run.plan.samples samples. Throws what RunSweep throws: after an Error, what
  // was kept before is left; after Cancelled, the finished samples are.
  SweepResult Run(SweepRun run, const JobContext& context);
  // The finished samples of these settings at these places.
  SweepResult Finished(const SweepPlan& plan) const;
  // By their places and settings.
  const std::map<std::string, Comparison>& comparisons() const { return comparisons_; }

 private:
  std::map<std::string, Comparison> comparisons_;
};

// Searches for channels in the window: the finished part of an interrupted one is kept in memory,
// so that it continues, and another ranking of the same hidden states needs no run.

class KeptChannelSearch {
 public:
  // FindChannels without files. Sums of a finished search are kept if they take no more than
  // kFinishedBytes.
  std::vector<Record> Run(FindChannelsRun run, const JobContext& context);

  static constexpr int64_t kFinishedBytes = int64_t{1} << 30;

 private:
  HiddenSumsPlan states_;
  HiddenSums sums_;        // of states_
  std::string plan_json_;  // whose trials are kept
  KeptSweeps trials_;
};

}  // namespace midscope
