// SPDX-License-Identifier: MIT
// Relative distances that samples of position ids show: how often each distance between a query and
// a key occurs, and CREAM's Theorem B.1 on the most that one sample can show.
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/positions/cream_segments.h"

namespace midscope {

// Consecutive position ids: first, first + 1, ..., `count` of them.
struct IdRun {
  int64_t first = 0;
  int64_t count = 0;
  bool operator==(const IdRun&) const = default;
};

// The ids as runs, in order; the ids increase strictly.
std::vector<IdRun> IdRuns(const std::vector<int64_t>& ids);

// How many pairs of a query and a key at or before it have each distance.
class DistanceCounts {
 public:
  // Counts of ids below `context`.
  explicit DistanceCounts(int64_t context);
  // Adds all pairs of a sample, whose ids increase strictly. Work grows with the square of the
  // number of runs, not of tokens.
  void Add(const std::vector<int64_t>& ids);
  // [context]: by distance, over all samples so far.
  std::vector<int64_t> Counts() const;

 private:
  std::vector<int64_t> second_differences_;  // [context + 2], of the counts
};

// The result of Theorem B.1 of CREAM (arXiv 2406.07138, Appendix B) for segments of one token or
// more each. Ranges are inclusive, and empty where the first is above the last.
struct LargestCoverage {
  int64_t longest = 0;    // MAX: the largest distance within a segment
  int64_t distances = 0;  // the most that |D_r| can be: MAX + 2 N - 2 with N ids (the paper prints
                          // MAX + 2 N, as its Eq. 1 counts one id too few)
  // The ranges of P_s for which |D_r| is that: (10) and (11).
  std::array<std::pair<int64_t, int64_t>, 2> starts{};
  int64_t middle_positions = 0;  // |S_m| of (16): positions that such middles hold
};
LargestCoverage CreamLargestCoverage(const CreamSegments& segments, int64_t context);

}  // namespace midscope
