// SPDX-License-Identifier: MIT
#include "core/plan/residual_plan.h"

#include <algorithm>

namespace midscope {
namespace {

bool TakesMeanOf(const ResidualPlan& plan, int64_t channel) {
  return std::any_of(plan.set.begin(), plan.set.end(), [channel](const SetChannel& set) {
    return set.channel == channel && !set.value;
  });
}

bool AddsMean(const ResidualPlan& before, const ResidualPlan& after) {
  return std::any_of(after.set.begin(), after.set.end(), [&](const SetChannel& set) {
    return !set.value && !TakesMeanOf(before, set.channel);
  });
}

// Smallest first row of the entries that one list has and the other has not at the same place.
template <class Entry>
int64_t FirstDifference(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  int64_t first = INT64_MAX;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && a[i] == b[i]) continue;
    if (i < a.size()) first = std::min(first, a[i].rows.first);
    if (i < b.size()) first = std::min(first, b[i].rows.first);
  }
  return first;
}

}  // namespace

bool ResidualPlan::TakesMeans() const {
  return std::any_of(set.begin(), set.end(), [](const SetChannel& one) { return !one.value; });
}

int64_t FirstChangedRow(const ResidualPlan& before, const ResidualPlan& after) {
  // Other vectors change means too.
  const bool other_means = after.TakesMeans() && before.added != after.added;
  if (other_means || AddsMean(before, after)) return 0;
  return std::min(FirstDifference(before.added, after.added),
                  FirstDifference(before.set, after.set));
}

}  // namespace midscope
