// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_addition.h"

#include <algorithm>

namespace midscope {
namespace {

template <typename T>
bool Contains(const std::vector<T>& items, const T& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

SweepAddition JoinPlans(const SweepPlan& stored, const SweepPlan& asked) {
  SweepAddition addition{stored};
  SweepPlan& plan = addition.plan;
  plan.samples = std::max(stored.samples, asked.samples);
  addition.more_samples = plan.samples > stored.samples;
  for (const SweepSetting& setting : asked.settings) {
    const auto same = std::find_if(
        plan.settings.begin(), plan.settings.end(),
        [&](const SweepSetting& other) { return other.intervention == setting.intervention; });
    if (same == plan.settings.end()) {
      plan.settings.push_back(setting);
      addition.more_cells = true;
    } else {
      same->control_of = setting.control_of;
    }
  }
  const std::vector<int64_t> before = plan.places;
  for (const int64_t place : asked.places) {
    if (Contains(plan.places, place)) continue;
    plan.places.push_back(place);
    addition.more_cells = true;
  }
  if (std::is_sorted(before.begin(), before.end())) {
    std::sort(plan.places.begin(), plan.places.end());
  }
  return addition;
}

std::string AdditionPath(const std::string& path) { return path + ".adding"; }

}  // namespace midscope
