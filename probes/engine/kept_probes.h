// SPDX-License-Identifier: MIT
// Runs probes over samples of the window's prompt request, and keeps the records of finished
// prompts: a request that was cancelled, or is repeated with more samples, continues from them.
#pragma once

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

namespace midscope {

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

}  // namespace midscope
