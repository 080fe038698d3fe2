// SPDX-License-Identifier: MIT
#include "probes/sweep/recovered_share.h"

#include <cmath>
#include <vector>

#include "probes/statistics/intervals.h"

namespace midscope {

RecoveredShare ShareOf(std::span<const double> patched, std::span<const double> source) {
  const double whole = Mean(source);
  if (!(std::abs(whole) >= kLeastDifference)) return {kUndefined, {kUndefined, kUndefined}};
  const double share = Mean(patched) / whole;
  std::vector<double> beyond;
  beyond.reserve(patched.size());
  for (size_t i = 0; i < patched.size(); ++i) beyond.push_back(patched[i] - share * source[i]);
  // Of mean 0; the ratio's error is this, divided by the mean of `source`.
  const Interval interval = MeanInterval(beyond);
  const double half = (interval.high - interval.low) / 2 / std::abs(whole);
  return {share, {share - half, share + half}};
}

}  // namespace midscope
