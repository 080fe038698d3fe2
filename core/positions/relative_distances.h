// SPDX-License-Identifier: MIT
// Relative distances in samples of position ids: how often each distance between a query and a key
// occurs, and CREAM's Theorem B.1 on the largest number of distances in one sample.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/positions/cream.h"

namespace midscope {

// A run of `count` consecutive position ids: first, first + 1, ...
struct IdRun {
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const IdRun&) const = default;
};

// Returns the ids as runs, in order; the ids must increase strictly.
std::vector<IdRun> IdRuns(const std::vector<int64_t>& ids);

// Counts the pairs of a query and a key at or before it, by their distance.
class DistanceCounts {
 public:
  // For ids below `context`.
  explicit DistanceCounts(int64_t context);
  // Adds all pairs of a sample, whose ids must increase strictly. Time is quadratic in the number
  // of runs, not of tokens.
  void Add(const std::vector<int64_t>& ids);
  // Returns [context]: the counts by distance, over all samples so far.
  std::vector<int64_t> Counts() const;

 private:
  std::vector<int64_t> second_differences_;  // [context + 2], of the counts
};

// The result of Theorem B.1 of CREAM (arXiv 2406.07138, Appendix B) for segments of at least one
// token each. Ranges are inclusive, and empty if the first number is above the last.
struct LargestCoverage {
  int64_t longest = 0;    // MAX: the largest distance within a segment
  int64_t distances = 0;  // the largest possible |D_r|: MAX + 2 N - 2 with N ids (the paper prints
                          // MAX + 2 N, because its Eq. 1 counts one id too few)
  // The ranges of P_s that give this |D_r|: (10) and (11).
  std::array<std::pair<int64_t, int64_t>, 2> starts{};
  int64_t middle_positions = 0;  // |S_m| of (16): number of positions in such middles
};
LargestCoverage CreamLargestCoverage(const CreamSegments& segments, int64_t context);

}  // namespace midscope
