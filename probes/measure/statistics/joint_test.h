// SPDX-License-Identifier: MIT
// Many paired differences of the same samples tested together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {

// p values of the columns' means of `differences` [sample, column], each against a mean of 0,
// adjusted for all columns: the single-step maxT of Westfall and Young (1993, ch. 2) with Student's
// t as the statistic. A sample's signs are changed in all columns together, so that columns that go
// along with each other (heads of one layer) cost less than with Holm's adjustment; the probability
// of any false finding stays below the level that p is compared with. The share of `permutations`
// drawn changes, the observed one counted, whose largest |t| of any column is at least the
// column's. A column of zeros has p 1; all are NaN for fewer than two samples, and where a value is
// NaN. Throws Cancelled.
std::vector<double> JointPValues(std::span<const double> differences, size_t columns, uint64_t seed,
                                 int permutations = kPermutations, const JobContext& context = {});

}  // namespace midscope
