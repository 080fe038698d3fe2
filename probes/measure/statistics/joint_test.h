// SPDX-License-Identifier: MIT
// Tests many paired differences of the same samples together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {

// Returns the p value of each column of `differences` [sample, column] for a mean of 0, adjusted
// for the number of columns by the single-step maxT method of Westfall and Young (1993, ch. 2),
// with Student's t as the statistic. p is the share of `permutations` random sign changes,
// including the observed signs, whose largest |t| over columns is at least the column's |t|. A
// sample's sign is changed in all columns together, so that correlated columns (heads of one layer)
// cost less power than with Holm's adjustment; the probability of any false finding is at most the
// level that p is compared with. For a column of zeros p is 1; all p are NaN for fewer than two
// samples or if a value is NaN. Throws Cancelled.
std::vector<double> JointPValues(std::span<const double> differences, size_t columns, uint64_t seed,
                                 int permutations = kPermutations, const JobContext& context = {});

}  // namespace midscope
