// SPDX-License-Identifier: MIT
// Runs over samples of the window's prompt request that keep the finished ones: a request that was
// cancelled, or is repeated with more samples, continues from them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/record.h"
#include "core/decoder/decoder.h"
#include "core/intervention/intervention.h"
#include "probes/engine/kept_prompts.h"
#include "probes/engine/probe_batch.h"
#include "probes/measure/builtin/probe_registry.h"
#include "probes/measure/channels/find_channels.h"
#include "probes/sweep/merged_means.h"
#include "probes/sweep/sweep.h"

namespace midscope {

// Runs probes, and keeps the records of finished prompts.
class KeptProbes {
 public:
  using OnRecord = std::function<void(const Record&)>;

  // Returns the records that summarise all samples of the batch (ProbeType::summarise), with the
  // attributes `samples` and `complete` (0 or 1); none if no probe summarises. `so_far` gets them
  // after every sample but the last; may be empty. Throws Error, as RunProbes; Cancelled.
  std::vector<Record> Run(const Decoder& decoder, const ProbeBatch& batch,
                          const Intervention& intervention, const ProbeRegistry& probes,
                          const OptionSet& options, const OnRecord& so_far,
                          const JobContext& context);

  // Settings (with their options) whose prompts are kept; the oldest is dropped first.
  static constexpr size_t kMostSettings = 8;

 private:
  PromptsInMemory& PromptsOf(const std::string& key);

  std::map<std::string, PromptsInMemory> prompts_;  // by setting and options
  std::vector<std::string> order_;                  // keys of prompts_, the oldest first
};

// Runs comparisons and scans, and also keeps the finished settings of a scan's next sample.
class KeptSweeps {
 public:
  // Runs the samples of run.plan that are not finished yet; run.on_sample also gets those that are.
  // Returns the first run.plan.samples samples. Throws in the same cases as RunSweep: after an
  // Error, the samples from before this call are kept; after Cancelled, all finished samples.
  SweepResult Run(SweepRun run, const JobContext& context);
  // Returns the finished samples of the plan's settings at its places.
  SweepResult Finished(const SweepPlan& plan) const;
  // Returns the results so far of the first sample that is not finished.
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
