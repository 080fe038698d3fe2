// SPDX-License-Identifier: MIT
#include "core/positions/relative_distances.h"

#include <algorithm>

namespace midscope {
namespace {

// Returns the number of positions in at least one of two inclusive ranges.
int64_t UnionSize(const std::pair<int64_t, int64_t>& a, const std::pair<int64_t, int64_t>& b) {
  const auto size = [](int64_t first, int64_t last) {
    return std::max<int64_t>(last - first + 1, 0);
  };
  const int64_t both = size(a.first, a.second) > 0 && size(b.first, b.second) > 0
                           ? size(std::max(a.first, b.first), std::min(a.second, b.second))
                           : 0;
  return size(a.first, a.second) + size(b.first, b.second) - both;
}

}  // namespace

std::vector<IdRun> IdRuns(const std::vector<int64_t>& ids) {
  std::vector<IdRun> runs;
  for (const int64_t id : ids) {
    if (runs.empty() || runs.back().first + runs.back().count != id) runs.push_back({id, 0});
    ++runs.back().count;
  }
  return runs;
}

DistanceCounts::DistanceCounts(int64_t context)
    : second_differences_(static_cast<size_t>(context) + 2) {}

void DistanceCounts::Add(const std::vector<int64_t>& ids) {
  const std::vector<IdRun> runs = IdRuns(ids);
  const auto at = [this](int64_t distance) -> int64_t& {
    return second_differences_[static_cast<size_t>(distance)];
  };
  for (size_t i = 0; i < runs.size(); ++i) {
    // Within a run, there are count - d pairs with distance d.
    at(0) += runs[i].count;
    at(1) -= runs[i].count + 1;
    at(runs[i].count + 1) += 1;
    // Between two runs, the counts form a trapezoid over the distance.
    for (size_t j = i + 1; j < runs.size(); ++j) {
      const int64_t shortest = runs[j].first - (runs[i].first + runs[i].count - 1);
      at(shortest) += 1;
      at(shortest + runs[i].count) -= 1;
      at(shortest + runs[j].count) -= 1;
      at(shortest + runs[i].count + runs[j].count) += 1;
    }
  }
}

std::vector<int64_t> DistanceCounts::Counts() const {
  std::vector<int64_t> counts(second_differences_.size() - 2);
  int64_t slope = 0;
  int64_t count = 0;
  for (size_t distance = 0; distance < counts.size(); ++distance) {
    slope += second_differences_[distance];
    count += slope;
    counts[distance] = count;
  }
  return counts;
}

LargestCoverage CreamLargestCoverage(const CreamSegments& segments, int64_t context) {
  const auto& [head, middle, tail] = segments;
  LargestCoverage largest;
  largest.longest = std::max({head, middle, tail}) - 1;
  largest.distances = largest.longest + 2 * (head + middle + tail) - 2;
  // Conditions: P_e < (L - L_t) / 2; (L + L_h) / 2 - 1 < P_s.
  const int64_t last_end = (context - tail + 1) / 2 - 1;
  largest.starts[0] = {largest.longest + head, last_end - middle + 1};
  largest.starts[1] = {(context + head) / 2, context - tail - largest.longest - middle};
  const auto held = [middle = middle](const std::pair<int64_t, int64_t>& starts) {
    return starts.first > starts.second ? std::pair<int64_t, int64_t>{0, -1}
                                        : std::pair{starts.first, starts.second + middle - 1};
  };
  largest.middle_positions = UnionSize(held(largest.starts[0]), held(largest.starts[1]));
  return largest;
}

}  // namespace midscope
