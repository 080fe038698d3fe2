// SPDX-License-Identifier: MIT
#include "probes/sweep/scan_effects.h"

#include <algorithm>
#include <functional>
#include <set>
#include <span>
#include <utility>

#include "probes/base/record_axes.h"
#include "probes/statistics/intervals.h"
#include "probes/statistics/joint_test.h"

namespace midscope {
namespace {

// Differences of the samples on which every setting was run, in ascending order. [sample, item,
// place]
std::vector<double> Differences(const SweepPlan& plan, std::vector<SampleOutcome> outcomes) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const auto& a, const auto& b) { return a.sample < b.sample; });
  const size_t places = plan.places.size();
  std::vector<double> differences;
  for (const SampleOutcome& outcome : outcomes) {
    bool all = true;
    for (size_t setting = 0; setting < plan.settings.size(); ++setting)
      all = all && outcome.Ran(setting);
    for (size_t cell = places; all && cell < outcome.answer_nll.size(); ++cell)
      differences.push_back(outcome.answer_nll[cell] - outcome.answer_nll[cell % places]);
  }
  return differences;
}

// One number of each row of `places` numbers.
std::vector<double> OfPlaces(std::span<const double> differences, size_t places,
                             const std::function<double(std::span<const double>)>& number) {
  std::vector<double> numbers;
  numbers.reserve(differences.size() / places);
  for (size_t begin = 0; begin < differences.size(); begin += places)
    numbers.push_back(number(differences.subspan(begin, places)));
  return numbers;
}

// differences [sample, column]
std::vector<ScanEffect> EffectsOf(std::span<const double> differences, size_t columns,
                                  uint64_t seed) {
  const std::vector<double> p = JointPValues(differences, columns, seed);
  std::vector<ScanEffect> effects(columns);
  std::vector<double> column;
  for (size_t i = 0; i < columns; ++i) {
    column.clear();
    for (size_t at = i; at < differences.size(); at += columns) column.push_back(differences[at]);
    effects[i] = {Mean(column), MeanInterval(column), p[i]};
  }
  return effects;
}

// The axes of a kind's items, and where each item stands in arrays over them.
struct Grid {
  std::vector<Axis> axes;
  std::vector<size_t> index;  // [item]
  size_t size = 1;
};

Grid GridOf(const Scan& scan) {
  const ScanKind& kind = FindScanKind(scan.kind);
  Grid grid;
  grid.index.assign(scan.items.size(), 0);
  for (size_t axis = 0; axis < kind.axes.size(); ++axis) {
    std::set<int64_t> values;
    for (const ScanItem& item : scan.items) values.insert(item.at[axis]);
    const std::vector<int64_t> places(values.begin(), values.end());
    for (size_t i = 0; i < scan.items.size(); ++i) {
      const auto at = std::lower_bound(places.begin(), places.end(), scan.items[i].at[axis]);
      grid.index[i] = grid.index[i] * places.size() + static_cast<size_t>(at - places.begin());
    }
    grid.size *= places.size();
    grid.axes.push_back(ValuedAxis(kind.axes[axis], places));
  }
  if (kind.axes.size() == 1 && kind.axes.front() == "span") {
    std::vector<std::string> names;
    for (const ScanItem& item : scan.items) names.push_back(item.id);
    grid.axes.front() = LabelledAxis("span", std::move(names));
  }
  return grid;
}

// Adds NAME, NAME_low, NAME_high and NAME_p over the grid, and `per_item` numbers of each item.
void AddArrays(const std::string& name, const std::string& description, const Grid& grid,
               const std::vector<ScanEffect>& effects, size_t per_item,
               const std::vector<std::string>& axes, Record& record) {
  const auto add = [&](const std::string& array, const std::string& unit, const std::string& text,
                       const auto& number) {
    std::vector<double> values(grid.size * per_item, kUndefined);
    for (size_t i = 0; i < effects.size(); ++i)
      values[grid.index[i / per_item] * per_item + i % per_item] = number(effects[i]);
    record.arrays.push_back({array, axes, std::move(values), unit, text});
  };
  add(name, "nats", description, [](const ScanEffect& one) { return one.effect; });
  add(name + "_low", "nats", "lower end of its 95 % interval, Student's t",
      [](const ScanEffect& one) { return one.interval.low; });
  add(name + "_high", "nats", "upper end of its 95 % interval, Student's t",
      [](const ScanEffect& one) { return one.interval.high; });
  add(name + "_p", "", "p of an effect of 0, adjusted for all of them (Westfall and Young's maxT)",
      [](const ScanEffect& one) { return one.p; });
}

}  // namespace

ScanEffects ScanEffectsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes) {
  const std::vector<double> differences = Differences(plan, outcomes);
  const size_t places = plan.places.size();
  const size_t items = plan.scan->items.size();
  ScanEffects effects;
  effects.samples = static_cast<int64_t>(differences.size() / (items * places));
  effects.places = EffectsOf(differences, items * places, plan.seed);
  effects.means = EffectsOf(OfPlaces(differences, places, Mean), items, plan.seed);
  if (places < 3) return effects;
  const auto middle = [](std::span<const double> row) {
    return row[row.size() / 2] - (row.front() + row.back()) / 2;
  };
  effects.middles = EffectsOf(OfPlaces(differences, places, middle), items, plan.seed);
  return effects;
}

Record ScanEffectsRecord(const SweepPlan& plan, const ScanEffects& effects) {
  const Grid grid = GridOf(*plan.scan);
  Record record;
  record.name = kScanRecord;
  record.axes = grid.axes;
  std::vector<std::string> axes;
  for (const Axis& axis : grid.axes) axes.push_back(axis.name);
  record.axes.push_back(ValuedAxis("place", plan.places));
  record.axes.back().unit = "rank";
  std::vector<std::string> with_place = axes;
  with_place.emplace_back("place");
  AddArrays("effect", "answer_nll with the change minus without it, by place of the gold piece",
            grid, effects.places, plan.places.size(), with_place, record);
  AddArrays("mean_effect", "mean of the effect over places", grid, effects.means, 1, axes, record);
  if (!effects.middles.empty()) {
    AddArrays("middle_effect",
              "effect at the middle place minus the mean of those at the first and the last", grid,
              effects.middles, 1, axes, record);
  }
  record.attributes["over"] = plan.scan->kind;
  record.attributes["with"] = plan.scan->term;
  record.attributes["samples"] = effects.samples;
  record.attributes["task"] = plan.task;
  record.signal = "effect";
  return record;
}

}  // namespace midscope
