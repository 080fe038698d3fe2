// SPDX-License-Identifier: MIT
#include "probes/sweep/stored_result.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/record.h"
#include "data/sweep/sweep_store.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_statistics.h"

namespace midscope {

namespace {

// Returns whether the file's plan is a sweep's: another program may have written the samples.
bool HasSweepPlan(const RunReader& reader) {
  const nlohmann::json plan = nlohmann::json::parse(reader.plan_json(), nullptr, false);
  return plan.is_object() && plan.contains("task") && plan.contains("settings");
}

}  // namespace

bool IsStoredSweep(const RunReader& reader) {
  return reader.Has(kSweepRecord) && reader.Has(kOutcomeMeans) && HasSweepPlan(reader);
}

SweepResult ReadStoredResult(const RunReader& reader) {
  SweepResult result;
  const Record frame = reader.Describe(kSweepRecord);
  const Axis& axis = AxisOf(frame, "sample");
  std::vector<int64_t> samples(axis.values.begin(), axis.values.end());
  if (samples.empty()) {
    samples.resize(static_cast<size_t>(axis.size));
    std::iota(samples.begin(), samples.end(), 0);
  }
  result.outcomes = ReadOutcomes(samples, [&](size_t index, const ArrayFilter& wanted) {
    return reader.ReadSample(kSweepRecord, static_cast<int64_t>(index), wanted);
  });
  if (reader.Has(kFailuresRecord)) result.failures = ReadFailures(reader);
  result.tests = ReadTests(reader);
  return result;
}

std::vector<Record> ReadTests(const RunReader& reader) {
  std::vector<Record> tests;
  for (const char* name : {kSettingStatistics, kSettingComparisons}) {
    if (reader.Has(name)) tests.push_back(reader.Read(name));
  }
  return tests;
}

namespace {

template <typename T>
bool Contains(const std::vector<T>& items, const T& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

}  // namespace

SweepAddition JoinPlans(const SweepPlan& stored, const SweepPlan& requested) {
  SweepAddition addition{stored};
  SweepPlan& plan = addition.plan;
  plan.samples = std::max(stored.samples, requested.samples);
  addition.more_samples = plan.samples > stored.samples;
  for (const SweepSetting& setting : requested.settings) {
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
  for (const int64_t place : requested.places) {
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
