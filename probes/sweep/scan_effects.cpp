// SPDX-License-Identifier: MIT
#include "probes/sweep/scan_effects.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/base/text.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"
#include "probes/measure/statistics/joint_test.h"

namespace midscope {

namespace {

// Returns the samples on which every setting was run, in ascending order.
std::vector<SampleOutcome> Complete(const SweepPlan& plan, std::vector<SampleOutcome> outcomes) {
  std::erase_if(outcomes, [&](const SampleOutcome& outcome) {
    bool all = true;
    for (size_t setting = 0; setting < plan.settings.size(); ++setting)
      all = all && outcome.Ran(setting);
    return !all;
  });
  std::sort(outcomes.begin(), outcomes.end(),
            [](const auto& a, const auto& b) { return a.sample < b.sample; });
  return outcomes;
}

// Returns the differences of answer_nll from the scan's base, [sample, item, place].
std::vector<double> Differences(const std::vector<SampleOutcome>& outcomes, size_t places) {
  std::vector<double> differences;
  for (const SampleOutcome& outcome : outcomes) {
    for (size_t cell = places; cell < outcome.answer_nll.size(); ++cell)
      differences.push_back(outcome.answer_nll[cell] - outcome.answer_nll[cell % places]);
  }
  return differences;
}

// Returns answer_nll in the source run of patches minus that under the scan's base, [sample,
// place]; empty if nothing is patched.
std::vector<double> SourceDifferences(const std::vector<SampleOutcome>& outcomes, size_t places) {
  std::vector<double> differences;
  for (const SampleOutcome& outcome : outcomes) {
    if (outcome.source_nll.size() != places) return {};
    for (size_t place = 0; place < places; ++place)
      differences.push_back(outcome.source_nll[place] - outcome.answer_nll[place]);
  }
  return differences;
}

// Computes one number from each row of `places` values.
std::vector<double> OfPlaces(std::span<const double> differences, size_t places,
                             const std::function<double(std::span<const double>)>& number) {
  std::vector<double> numbers;
  numbers.reserve(differences.size() / places);
  for (size_t begin = 0; begin < differences.size(); begin += places)
    numbers.push_back(number(differences.subspan(begin, places)));
  return numbers;
}

// Computes effects and tests of differences [sample, column].
std::vector<ScanEffect> EffectsOf(std::span<const double> differences, size_t columns,
                                  uint64_t seed, const JobContext& context) {
  const std::vector<double> p = JointPValues(differences, columns, seed, kPermutations, context);
  std::vector<ScanEffect> effects(columns);
  std::vector<double> column;
  for (size_t i = 0; i < columns; ++i) {
    column.clear();
    for (size_t at = i; at < differences.size(); at += columns) column.push_back(differences[at]);
    effects[i] = {Mean(column), MeanInterval(column), p[i]};
  }
  return effects;
}

// Computes recovered shares from differences [sample, column] and source [sample, of_source].
// Column i of differences belongs to column i % of_source of source.
std::vector<RecoveredShare> SharesOf(std::span<const double> differences, size_t columns,
                                     std::span<const double> source, size_t of_source) {
  std::vector<RecoveredShare> shares(columns);
  const auto column = [](std::span<const double> rows, size_t first, size_t width) {
    std::vector<double> values;
    for (size_t at = first; at < rows.size(); at += width) values.push_back(rows[at]);
    return values;
  };
  for (size_t i = 0; i < columns; ++i)
    shares[i] = ShareOf(column(differences, i, columns), column(source, i % of_source, of_source));
  return shares;
}

// The axes of a kind's items, and the index of each item in arrays over these axes.
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
  for (size_t axis = 0; axis < kind.axes.size(); ++axis) {
    if (kind.axes[axis] != "span") continue;
    std::vector<std::string> names(static_cast<size_t>(grid.axes[axis].size));
    for (const ScanItem& item : scan.items)
      names[static_cast<size_t>(item.at[axis])] = SpanOf(item);
    grid.axes[axis] = LabelledAxis("span", std::move(names));
  }
  return grid;
}

// Adds arrays NAME, NAME_low, NAME_high and NAME_p over the axes of the items, with `per_item`
// numbers per item.
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

// Adds arrays NAME, NAME_low and NAME_high.
void AddShareArrays(const std::string& name, const std::string& description, const Grid& grid,
                    const std::vector<RecoveredShare>& shares, size_t per_item,
                    const std::vector<std::string>& axes, Record& record) {
  const auto add = [&](const std::string& array, const std::string& text, const auto& number) {
    std::vector<double> values(grid.size * per_item, kUndefined);
    for (size_t i = 0; i < shares.size(); ++i)
      values[grid.index[i / per_item] * per_item + i % per_item] = number(shares[i]);
    record.arrays.push_back({array, axes, std::move(values), "", text});
  };
  add(name, description, [](const RecoveredShare& one) { return one.share; });
  add(name + "_low", "lower end of its 95 % interval, Student's t",
      [](const RecoveredShare& one) { return one.interval.low; });
  add(name + "_high", "upper end of its 95 % interval, Student's t",
      [](const RecoveredShare& one) { return one.interval.high; });
}

}  // namespace

namespace {

// Returns the value at the middle place minus the mean of the first and the last value.
double MiddleOf(std::span<const double> places) {
  return places[places.size() / 2] - (places.front() + places.back()) / 2;
}

// Returns the differences of one item, [sample][place]; empty if a sample lacks a place.
std::vector<std::vector<double>> DifferencesOf(size_t item, size_t places,
                                               const std::vector<SampleOutcome>& outcomes) {
  std::vector<std::vector<double>> rows;
  for (const SampleOutcome& outcome : outcomes) {
    std::vector<double> row(places);
    for (size_t place = 0; place < places; ++place)
      row[place] = outcome.answer_nll[(item + 1) * places + place] - outcome.answer_nll[place];
    const bool whole = std::none_of(row.begin(), row.end(), [](double x) { return std::isnan(x); });
    if (whole) rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace

ScanEffects ScanEffectsSoFar(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes) {
  const size_t places = plan.places.size();
  const auto mean_of = [](const auto& rows, const auto& number) {
    ScanEffect effect{kUndefined, {kUndefined, kUndefined}, kUndefined};
    if (rows.empty()) return effect;
    double sum = 0;
    for (const std::vector<double>& row : rows) sum += number(row);
    effect.effect = sum / static_cast<double>(rows.size());
    return effect;
  };
  ScanEffects effects;
  for (size_t item = 0; item < plan.scan->items.size(); ++item) {
    const std::vector<std::vector<double>> rows = DifferencesOf(item, places, outcomes);
    effects.samples = std::max(effects.samples, static_cast<int64_t>(rows.size()));
    for (size_t place = 0; place < places; ++place)
      effects.places.push_back(mean_of(rows, [place](const auto& row) { return row[place]; }));
    effects.means.push_back(mean_of(rows, [](const auto& row) { return Mean(row); }));
    if (places >= 3) effects.middles.push_back(mean_of(rows, MiddleOf));
  }
  return effects;
}

ScanEffects ScanEffectsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                          const JobContext& context) {
  const size_t places = plan.places.size();
  const std::vector<SampleOutcome> complete = Complete(plan, outcomes);
  const std::vector<double> differences = Differences(complete, places);
  const std::vector<double> source = SourceDifferences(complete, places);
  const size_t items = plan.scan->items.size();
  ScanEffects effects;
  effects.samples = static_cast<int64_t>(differences.size() / (items * places));
  effects.places = EffectsOf(differences, items * places, plan.seed, context);
  effects.means = EffectsOf(OfPlaces(differences, places, Mean), items, plan.seed, context);
  if (!source.empty()) {
    effects.shares = SharesOf(differences, items * places, source, places);
    effects.mean_shares =
        SharesOf(OfPlaces(differences, places, Mean), items, OfPlaces(source, places, Mean), 1);
  }
  if (places < 3) return effects;
  effects.middles = EffectsOf(OfPlaces(differences, places, MiddleOf), items, plan.seed, context);
  return effects;
}

Record ScanEffectsRecord(const SweepPlan& plan, const ScanEffects& effects) {
  const Grid grid = GridOf(*plan.scan);
  Record record;
  record.name = kScanRecord;
  record.axes = grid.axes;
  std::vector<std::string> axes = NamesIn(grid.axes);
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
  if (!effects.shares.empty()) {
    AddShareArrays("share",
                   "of answer_nll that comes back: (patched - none) / (source - none), of means "
                   "over samples",
                   grid, effects.shares, plan.places.size(), with_place, record);
    AddShareArrays("mean_share", "the same of the means over places", grid, effects.mean_shares, 1,
                   axes, record);
  }
  record.attributes["over"] = plan.scan->kind;
  record.attributes["with"] = plan.scan->term;
  if (!plan.scan->base.empty()) record.attributes["base"] = plan.scan->base;
  record.attributes["samples"] = effects.samples;
  record.attributes["task"] = plan.task;
  record.signal = "effect";
  return record;
}

RecoveredShare ShareOf(std::span<const double> patched, std::span<const double> source) {
  const double whole = Mean(source);
  if (!(std::abs(whole) >= kLeastDifference)) return {kUndefined, {kUndefined, kUndefined}};
  const double share = Mean(patched) / whole;
  std::vector<double> beyond;
  beyond.reserve(patched.size());
  for (size_t i = 0; i < patched.size(); ++i) beyond.push_back(patched[i] - share * source[i]);
  // `beyond` has mean 0; the error of the ratio is that of `beyond` over the mean of `source`.
  const Interval interval = MeanInterval(beyond);
  const double half = (interval.high - interval.low) / 2 / std::abs(whole);
  return {share, {share - half, share + half}};
}

}  // namespace midscope
