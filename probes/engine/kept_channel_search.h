// SPDX-License-Identifier: MIT
// Searches for channels in the window: what an interrupted one had finished is kept in memory, so
// that it goes on, and another ranking of the same hidden states needs no run.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/channels/find_channels.h"
#include "probes/engine/kept_sweeps.h"

namespace midscope {

class KeptChannelSearch {
 public:
  // FindChannels without files. Sums of a finished search are kept where they take no more than
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
