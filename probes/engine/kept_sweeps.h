// SPDX-License-Identifier: MIT
// Comparisons and scans over samples of the window's prompt request. Finished samples are kept: one
// that was cancelled, or that is asked for again with more samples, goes on from them.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "probes/sweep/means_beside.h"
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

}  // namespace midscope
