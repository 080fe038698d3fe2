// SPDX-License-Identifier: MIT
// Runs samples for the window's requests and keeps the finished ones in memory: a request that was
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

// Runs probes on several prompts, and keeps the records of finished prompts in memory.
class KeptProbes {
 public:
  using OnRecord = std::function<void(const Record&)>;

  // Returns the records that summarise all samples of the batch (ProbeType::summarise), with the
  // attributes `samples` and `complete` (0 or 1); no records if no probe summarises. `so_far` gets
  // the records after every sample but the last; may be empty. Throws Error in the same cases as
  // RunProbes; Cancelled.
  std::vector<Record> Run(const Decoder& decoder, const ProbeBatch& batch,
                          const Intervention& intervention, const ProbeRegistry& probes,
                          const OptionSet& options, const OnRecord& so_far,
                          const JobContext& context);

  // Maximum number of settings, with options, whose prompts are kept; the oldest is dropped first.
  static constexpr size_t kMostSettings = 8;

 private:
  PromptsInMemory& PromptsOf(const std::string& key);

  std::map<std::string, PromptsInMemory> prompts_;  // keyed by setting and options
  std::vector<std::string> order_;                  // keys of prompts_, the oldest first
};

// Runs comparisons and scans and keeps finished samples in memory; for a scan, also the finished
// settings of the next sample.
class KeptSweeps {
 public:
  // Runs the samples of run.plan that are not finished yet; run.on_sample is also called for
  // finished samples. Returns the first run.plan.samples samples. Throws in the same cases as
  // RunSweep: after an Error, samples from before the call are kept; after Cancelled, all finished
  // ones.
  SweepResult Run(SweepRun run, const JobContext& context);
  // Returns the finished samples of the plan's settings at its places.
  SweepResult Finished(const SweepPlan& plan) const;
  // Returns the results so far of the first sample that is not finished.
  const LikelihoodArrays& Unfinished(const SweepPlan& plan) const;
  // Returns the kept comparisons, keyed by places and settings.
  const std::map<std::string, Comparison>& comparisons() const { return comparisons_; }

 private:
  std::map<std::string, Comparison> comparisons_;
  std::map<std::string, LikelihoodArrays> unfinished_;  // same keys as comparisons_
};

// Searches for channels in the window. Finished parts of a search are kept in memory, so that an
// interrupted search continues, and another ranking of the same hidden states needs no run.
class KeptChannelSearch {
 public:
  // Calls FindChannels without files. Keeps the sums of hidden states of a finished search if they
  // need at most kFinishedBytes bytes.
  std::vector<Record> Run(FindChannelsRun run, const JobContext& context);

  static constexpr int64_t kFinishedBytes = int64_t{1} << 30;

 private:
  HiddenSumsPlan states_;
  HiddenSums sums_;        // sums of hidden states for plan states_
  std::string plan_json_;  // the plan of trials_
  KeptSweeps trials_;
};

}  // namespace midscope
