// SPDX-License-Identifier: MIT
#include "probes/engine/kept_channel_search.h"

#include <utility>

namespace midscope {

std::vector<Record> KeptChannelSearch::Run(FindChannelsRun run, const JobContext& context) {
  if (states_ != run.search.states) {
    sums_ = HiddenSums();
    states_ = run.search.states;
  }
  std::string plan_json = FindChannelsPlanJson(run);
  if (plan_json != plan_json_) {
    trials_ = KeptSweeps();
    plan_json_ = std::move(plan_json);
  }
  run.sums = &sums_;
  run.run_trials = [this](SweepRun trials, const JobContext& job) {
    return trials_.Run(std::move(trials), job);
  };
  std::vector<Record> records = FindChannels(run, context);
  const auto bytes = static_cast<int64_t>(sums_.sums.size() * sizeof(double));
  if (bytes > kFinishedBytes) sums_ = HiddenSums();
  return records;
}

}  // namespace midscope
