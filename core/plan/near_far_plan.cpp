// SPDX-License-Identifier: MIT
#include "core/plan/near_far_plan.h"

#include <algorithm>

#include <fmt/format.h>

namespace midscope {

namespace {

constexpr const char* kSelfExtendTerm = "self-extend";

// Returns the length of the longest run whose distances, after the rule, stay below `distance`.
int64_t Reach(const SelfExtend& scheme, int64_t distance) {
  return (distance - scheme.window) * scheme.group + scheme.window;
}

}  // namespace

RowPositions FarQueries(const NearFarRule& rule, const PositionIds& ids) {
  return {rule.group, rule.window - rule.window / rule.group, ids};
}

RowPositions FarKeys(const NearFarRule& rule, const PositionIds& ids) {
  return {rule.group, 0, ids};
}

std::vector<NearRows> NearParts(const NearFarRule& rule, const PositionIds& ids, RowRange rows) {
  if (rows.empty()) return {};
  if (!ids.given()) return {{rows, rule.window}};
  std::vector<NearRows> parts;
  int64_t first_near = 0;
  for (int64_t row = rows.first; row < rows.last; ++row) {
    while (ids.At(row) - ids.At(first_near) >= static_cast<double>(rule.window)) ++first_near;
    const int64_t near = row - first_near + 1;
    // A row whose keys are all near fits into any part with at least as many near keys.
    const bool all = first_near == 0;
    if (!parts.empty() && (parts.back().near == near || (all && parts.back().near > near))) {
      parts.back().rows.last = row + 1;
    } else {
      parts.push_back({{row, row + 1}, all ? std::max(near, rule.window) : near});
    }
  }
  return parts;
}

std::string SelfExtendAdvice(const SelfExtend& scheme, const ModelConfig& config, int64_t tokens) {
  const int64_t trained = config.trained_context;
  if (tokens <= trained || tokens <= scheme.window) return "";
  const auto beyond = [&](int64_t distance) {
    return fmt::format(" beyond {} tokens group={} and window={}",
                       std::max(trained, Reach(scheme, distance)), scheme.group, scheme.window);
  };
  if (tokens > Reach(scheme, trained)) {
    return fmt::format(
        "{}: warning:{} make distances of more than the trained {}. Take a larger group or a "
        "smaller window",
        kSelfExtendTerm, beyond(trained), trained);
  }
  const int64_t well_trained = 2 * trained / 3;
  if (tokens <= Reach(scheme, well_trained)) return "";
  return fmt::format(
      "{}:{} make distances of more than two thirds of the trained {}, for which models are "
      "trained less "
      "well. A larger group or a smaller window may do better",
      kSelfExtendTerm, beyond(well_trained), trained);
}

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
