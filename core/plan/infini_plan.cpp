// SPDX-License-Identifier: MIT
#include "core/plan/infini_plan.h"

#include <algorithm>

namespace midscope {
int64_t SegmentStart(const CompressiveMemory& memory, int64_t row) {
  return row / memory.segment * memory.segment;
}

std::vector<RowRange> SegmentParts(const CompressiveMemory& memory, RowRange rows) {
  std::vector<RowRange> parts;
  for (int64_t first = rows.first; first < rows.last; first = parts.back().last)
    parts.push_back({first, std::min(rows.last, SegmentStart(memory, first) + memory.segment)});
  return parts;
}

std::vector<float> LocalShares(const CompressiveMemory& memory) {
  std::vector<float> shares(memory.gates.size());
  std::transform(memory.gates.begin(), memory.gates.end(), shares.begin(),
                 [](double gate) { return static_cast<float>(1.0 - gate); });
  return shares;
}

}  // namespace midscope
