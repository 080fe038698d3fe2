// SPDX-License-Identifier: MIT
// How much of the difference between two runs a patch brings over: (outcome(patched) -
// outcome(target)) / (outcome(source) - outcome(target)), with answer_nll as the outcome (as in
// Meng et al. 2022, arXiv 2202.05262, of their probability; here of means over samples). 0:
// nothing, 1: the patched run is as good, or as bad, as the source.
#pragma once

#include <span>

#include "probes/statistics/statistics.h"

namespace midscope {

// Where source and target differ by less on the mean there is nothing to bring over: the place of
// the source itself.
inline constexpr double kLeastDifference = 0.01;  // nats

struct RecoveredShare {
  double share = 0;   // of the means; NaN for a difference below kLeastDifference
  Interval interval;  // 95 %: Student's t of what `patched` has beyond share * `source`; or NaN
};

// One number a sample: of the patched run and of the source, each minus that of the target.
RecoveredShare ShareOf(std::span<const double> patched, std::span<const double> source);

}  // namespace midscope
