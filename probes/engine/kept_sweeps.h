// SPDX-License-Identifier: MIT
// Runs comparisons and scans over samples of the window's prompt request, and keeps finished
// samples, and the finished settings of a scan's next sample: a request that was cancelled, or is
// repeated with more samples, continues from them.
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
  // Runs the samples of run.plan that are not finished yet; run.on_sample also gets those that are.
  // Returns the first run.plan.samples samples. Throws in the same cases as RunSweep: after an
  // Error, the samples from before this call are kept; after Cancelled, all finished samples.
  SweepResult Run(SweepRun run, const JobContext& context);
  // Returns the finished samples of the plan's settings at its places.
  SweepResult Finished(const SweepPlan& plan) const;
  // Returns what is known of the sample after those.
  const LikelihoodArrays& Unfinished(const SweepPlan& plan) const;
  // Keyed by places and settings.
  const std::map<std::string, Comparison>& comparisons() const { return comparisons_; }

 private:
  std::map<std::string, Comparison> comparisons_;
  std::map<std::string, LikelihoodArrays> unfinished_;  // by the same keys
};

// Searches for channels in the window. Finished parts of a search are kept in memory, so that an
// interrupted search continues, and another ranking of the same hidden states needs no run.

class KeptChannelSearch {
 public:
  // Calls FindChannels without files. Keeps the sums of a finished search if they need at most
  // kFinishedBytes.
  std::vector<Record> Run(FindChannelsRun run, const JobContext& context);

  static constexpr int64_t kFinishedBytes = int64_t{1} << 30;

 private:
  HiddenSumsPlan states_;
  HiddenSums sums_;        // sums for states_
  std::string plan_json_;  // the plan of trials_
  KeptSweeps trials_;
};

}  // namespace midscope
