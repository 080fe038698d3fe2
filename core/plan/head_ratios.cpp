// SPDX-License-Identifier: MIT
// Assigns the ratios of Ms-PoE's ramp to heads; declared in attention_plan.h.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/intervention/head_ratio_file.h"
#include "core/plan/attention_plan.h"
#include "kernels/position_awareness.h"

namespace midscope {
namespace {

// Returns the ramp's value at `index` of `count`. The public code divides by count, so that max is
// never reached; the paper by count - 1.
double Ramp(const MsPoe& scheme, int64_t index, int64_t count) {
  const int64_t divisor = scheme.mode == MsPoeMode::kCode ? count : std::max<int64_t>(count - 1, 1);
  return scheme.min +
         (scheme.max - scheme.min) * static_cast<double>(index) / static_cast<double>(divisor);
}

// Returns items by falling value, ties in their own order: order[rank] = item.
std::vector<int64_t> ByFallingValue(std::span<const double> values) {
  std::vector<int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return values[static_cast<size_t>(a)] > values[static_cast<size_t>(b)];
  });
  return order;
}

// Returns the ramp's indices, ordered by how close their ratio is to 1.
std::vector<int64_t> NearestToOne(const MsPoe& scheme, size_t count) {
  std::vector<double> nearness;
  nearness.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    nearness.push_back(
        -std::abs(Ramp(scheme, static_cast<int64_t>(i), static_cast<int64_t>(count)) - 1));
  }
  return ByFallingValue(nearness);
}

// Returns the ramp index of each of `scores.size()` items.
std::vector<int64_t> RampIndices(const RatioRule& rule, std::span<const double> scores) {
  const MsPoe& scheme = rule.scheme;
  const auto items = static_cast<int64_t>(scores.size());
  if (scheme.order == MsPoeOrder::kRandom)
    return RandomHeadOrder(scheme.seed, rule.layer, scores.size());
  std::vector<int64_t> index(scores.size());
  std::iota(index.begin(), index.end(), 0);
  if (scheme.order == MsPoeOrder::kReversed) std::reverse(index.begin(), index.end());
  if (RatiosAreFixed(rule)) return index;

  const std::vector<int64_t> order = ByFallingValue(scores);
  // The ramp's indices in the order in which items get them.
  std::vector<int64_t> handed = index;
  if (scheme.order == MsPoeOrder::kEntropy) handed = NearestToOne(scheme, scores.size());
  const bool by_count = scheme.order != MsPoeOrder::kEntropy;
  for (int64_t rank = 0; rank < items; ++rank) {
    // The public code indexes the ramp by the sorted order itself, not by its inverse (seed-facts
    // A.3 #1). The public code has no order by entropy.
    if (scheme.mode == MsPoeMode::kCode && by_count) {
      index[static_cast<size_t>(rank)] = order[static_cast<size_t>(rank)];
    } else {
      index[static_cast<size_t>(order[static_cast<size_t>(rank)])] =
          handed[static_cast<size_t>(rank)];
    }
  }
  if (scheme.order == MsPoeOrder::kScoreReversed) {
    for (int64_t& i : index) i = items - 1 - i;
  }
  return index;
}

}  // namespace

kernels::AwarenessThreshold AwarenessRule(const MsPoe& scheme) {
  return {scheme.mode == MsPoeMode::kCode ? kernels::ThresholdRule::kGreater
                                          : kernels::ThresholdRule::kAtLeast,
          scheme.alpha};
}

kernels::AwarenessThreshold AwarenessRule(const Intervention& intervention) {
  const auto* scheme = intervention.Find<MsPoe>();
  return scheme ? AwarenessRule(*scheme) : kernels::AwarenessThreshold();
}

bool RatiosAreFixed(const RatioRule& rule) {
  return rule.scheme.order == MsPoeOrder::kSequential ||
         rule.scheme.order == MsPoeOrder::kReversed || rule.scheme.order == MsPoeOrder::kRandom;
}

HeadRatios ResolveRatios(const RatioRule& rule, std::span<const double> scores,
                         int64_t key_value_heads) {
  const MsPoe& scheme = rule.scheme;
  const auto heads = static_cast<int64_t>(scores.size());
  const int64_t group = heads / key_value_heads;
  HeadRatios ratios;
  ratios.q.resize(scores.size());
  if (scheme.mode == MsPoeMode::kGroup) {
    std::vector<double> sums(static_cast<size_t>(key_value_heads), 0);
    for (int64_t head = 0; head < heads; ++head)
      sums[static_cast<size_t>(head / group)] += scores[static_cast<size_t>(head)];
    const std::vector<int64_t> index = RampIndices(rule, sums);
    for (int64_t head = 0; head < heads; ++head) {
      ratios.q[static_cast<size_t>(head)] =
          Ramp(scheme, index[static_cast<size_t>(head / group)], key_value_heads);
    }
  } else {
    const std::vector<int64_t> index = RampIndices(rule, scores);
    for (size_t head = 0; head < index.size(); ++head)
      ratios.q[head] = Ramp(scheme, index[head], heads);
  }
  ratios.k = scheme.mode == MsPoeMode::kCode ? FirstOfGroup(ratios.q, key_value_heads) : ratios.q;
  return ratios;
}

HeadRatios ResolveRatios(const RatioRule& rule, std::span<const int64_t> attended_keys,
                         int64_t key_value_heads) {
  // Counts are far below 2^53: exact.
  const std::vector<double> scores(attended_keys.begin(), attended_keys.end());
  return ResolveRatios(rule, scores, key_value_heads);
}

HeadRatios ResolveRatiosOfRow(const RatioRule& rule, const float* last_row, int64_t keys,
                              int64_t heads, int64_t key_value_heads) {
  if (rule.scheme.order == MsPoeOrder::kEntropy) {
    std::vector<double> entropies;
    for (int64_t head = 0; head < heads; ++head)
      entropies.push_back(kernels::RowEntropy(last_row + head * keys, keys));
    return ResolveRatios(rule, entropies, key_value_heads);
  }
  std::vector<int64_t> counts(static_cast<size_t>(heads));
  kernels::CountAttendedKeys(last_row, heads, keys, AwarenessRule(rule.scheme), counts.data());
  return ResolveRatios(rule, counts, key_value_heads);
}

std::vector<double> FirstOfGroup(std::span<const double> of_heads, int64_t key_value_heads) {
  const size_t group = of_heads.size() / static_cast<size_t>(key_value_heads);
  std::vector<double> first;
  first.reserve(of_heads.size());
  for (size_t head = 0; head < of_heads.size(); ++head)
    first.push_back(of_heads[head / group * group]);
  return first;
}

}  // namespace midscope
