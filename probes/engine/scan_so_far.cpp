// SPDX-License-Identifier: MIT
#include "probes/engine/scan_so_far.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "probes/sweep/scan_effects.h"

namespace midscope {
namespace {

constexpr auto kTellInterval = std::chrono::milliseconds(100);

Record WithCompleteness(Record record, bool complete) {
  record.attributes["complete"] = int64_t{complete ? 1 : 0};
  return record;
}

}  // namespace

std::vector<size_t> ScanOrder(const Scan& scan, const std::vector<std::string>& first) {
  std::vector<size_t> order(scan.items.size() + 1);
  std::iota(order.begin(), order.end(), size_t{0});
  const auto rank = [&](size_t setting) {
    if (setting == 0) return std::ptrdiff_t{-1};
    return std::find(first.begin(), first.end(), scan.items[setting - 1].id) - first.begin();
  };
  std::vector<std::ptrdiff_t> ranks;
  ranks.reserve(order.size());
  for (const size_t setting : order) ranks.push_back(rank(setting));
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return ranks[a] < ranks[b]; });
  return order;
}

Record CompleteScan(const SweepPlan& plan, const SweepResult& result) {
  return WithCompleteness(ScanEffectsRecord(plan, ScanEffectsOf(plan, result.outcomes)), true);
}

ScanSoFar::ScanSoFar(const SweepPlan& plan, SweepResult finished, const LikelihoodArrays& running,
                     std::function<void(Record record)> tell)
    : plan_(plan), tell_(std::move(tell)), finished_(std::move(finished.outcomes)) {
  running_.answer_nll = running.nll;
  run_ = std::count_if(running.nll.begin(), running.nll.end(),
                       [](double nll) { return !std::isnan(nll); });
}

void ScanSoFar::Report(const JobContext& context) const {
  const auto of_sample = static_cast<int64_t>(plan_.settings.size() * plan_.places.size());
  const auto finished = static_cast<int64_t>(finished_.size());
  context.Report({"scan", finished * of_sample + run_, plan_.samples * of_sample, "runs"});
}

void ScanSoFar::Watch(SweepRun& run, const JobContext& context) {
  run.on_sample = [this, &context](const SweepResult& result) {
    finished_ = result.outcomes;
    running_.answer_nll.clear();
    run_ = 0;
    Report(context);
    Tell();
  };
  run.on_answer_nll = [this, &context](int64_t /*sample*/, size_t setting, size_t place,
                                       double nll) {
    running_.answer_nll.resize(plan_.settings.size() * plan_.places.size(),
                               std::numeric_limits<double>::quiet_NaN());
    running_.answer_nll[setting * plan_.places.size() + place] = nll;
    ++run_;
    Report(context);
    // Unfinished samples are only shown before the first one has finished, because items are
    // compared over the same samples.
    const auto since = std::chrono::steady_clock::now() - reported_;
    if (finished_.empty() && since >= kTellInterval) Tell();
  };
  if (!finished_.empty() || run_ > 0) Tell();
}

void ScanSoFar::Tell() {
  const ScanEffects effects =
      ScanEffectsSoFar(plan_, finished_.empty() ? std::vector{running_} : finished_);
  tell_(WithCompleteness(ScanEffectsRecord(plan_, effects), false));
  reported_ = std::chrono::steady_clock::now();
}

}  // namespace midscope
