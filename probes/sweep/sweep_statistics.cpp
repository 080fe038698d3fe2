// SPDX-License-Identifier: MIT
#include "probes/sweep/sweep_statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "core/base/record.h"
#include "core/base/record_names.h"
#include "probes/base/parallel_tasks.h"
#include "probes/base/records.h"

namespace midscope {
namespace {

// Returns, for every sample, the difference of two settings' means over the places of the rows.
std::vector<double> SampleDifferences(const MeasureRows& rows, const MeasureRows& others) {
  std::vector<double> differences;
  differences.reserve(rows.samples());
  const size_t columns = rows.columns();
  for (size_t begin = 0; begin < rows.values.size(); begin += columns) {
    const auto mean = [&](const MeasureRows& one) {
      return Mean(std::span(one.values).subspan(begin, columns));
    };
    differences.push_back(mean(rows) - mean(others));
  }
  return differences;
}

// Returns the standard deviation of the differences between two places within samples, pooled over
// all pairs of places: the square root of twice the residual variance of samples x places.
double PlaceDeviation(const MeasureRows& rows) {
  const size_t places = rows.columns();
  const size_t samples = rows.samples();
  if (places < 2 || samples < 2) return kUndefined;
  const std::vector<double> columns = ColumnMeans(rows.values, places);
  const double all = Mean(columns);
  double squares = 0;
  for (size_t sample = 0; sample < samples; ++sample) {
    const std::span<const double> row = std::span(rows.values).subspan(sample * places, places);
    const double offset = Mean(row) - all;
    for (size_t place = 0; place < places; ++place) {
      const double residual = row[place] - offset - columns[place];
      squares += residual * residual;
    }
  }
  return std::sqrt(2 * squares / static_cast<double>((samples - 1) * (places - 1)));
}

// Returns the elements of an array of doubles in a file's record; null if the record or the array
// is missing or has another length.
const std::vector<double>* Doubles(const Record* record, const std::string& name, size_t count) {
  const Array* array = record ? record->FindArray(name) : nullptr;
  const auto* values = array ? std::get_if<std::vector<double>>(&array->data) : nullptr;
  return values && values->size() == count ? values : nullptr;
}

bool Same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// Numbers at one index of the arrays of a file's record, if it has them.
class StoredNumbers {
 public:
  StoredNumbers(const Record* record, std::string prefix, size_t index, size_t count)
      : record_(record), prefix_(std::move(prefix)), index_(index), count_(count) {}
  bool Are(const std::vector<std::pair<const char*, double>>& expected) const {
    return std::all_of(expected.begin(), expected.end(), [&](const auto& one) {
      const auto* values = Doubles(record_, prefix_ + one.first, count_);
      return values && Same((*values)[index_], one.second);
    });
  }
  bool Take(const std::vector<std::pair<const char*, double*>>& wanted) const {
    for (const auto& [name, number] : wanted) {
      const auto* values = Doubles(record_, prefix_ + name, count_);
      if (!values) return false;
      *number = (*values)[index_];
    }
    return true;
  }

 private:
  const Record* record_;
  std::string prefix_;
  size_t index_;
  size_t count_;
};

// Computes the statistics of one measure of a sweep.
class Analysis {
 public:
  Analysis(const SweepPlan& plan, const OutcomeMeasure& measure)
      : plan_(plan),
        measure_(measure),
        settings_(plan.settings.size()),
        places_(plan.places.size()) {
    for (size_t i = 0; i < settings_; ++i) {
      SettingStatistics one;
      one.measure = measure_.name;
      one.setting = i;
      of_settings_.push_back(std::move(one));
    }
    for (size_t i = 1; i < settings_; ++i) AddComparisons(i, 0);
    for (size_t i = 1; i < settings_; ++i) {
      const std::string& of = plan_.settings[i].control_of;
      for (size_t j = 1; j < settings_ && !of.empty(); ++j) {
        if (plan_.settings[j].text == of) AddComparisons(j, i);
      }
    }
  }

  size_t comparisons() const { return comparisons_.size(); }
  // Number of tests of settings and comparisons, which can run in parallel.
  size_t tests() const { return settings_ + comparisons_.size(); }
  // Runs one test. `first`: number of comparisons of earlier measures in a file; `all`: number of
  // comparisons of all measures.
  void RunTest(size_t test, const std::vector<Record>& stored, size_t first, size_t all) {
    if (test < settings_) {
      Run(of_settings_[test], FindRecord(stored, kSettingStatistics));
      return;
    }
    const size_t i = test - settings_;
    const size_t of_each_pair = places_ < 2 ? places_ : places_ + 2;  // places, mean, gap
    Run(comparisons_[i], i % of_each_pair,
        {FindRecord(stored, kSettingComparisons), "", first + i, all});
  }

  void Join(SweepStatistics& statistics) {
    Adjust(of_settings_, &SettingStatistics::place_p, &SettingStatistics::place_p_holm);
    Adjust(comparisons_, &SettingComparison::p, &SettingComparison::p_holm);
    Advise(statistics);
    statistics.methods.push_back(
        {measure_.name, MeanMethod(measure_.kind, false), MeanMethod(measure_.kind, true),
         DifferenceMethod(measure_.kind, false), DifferenceMethod(measure_.kind, true)});
    std::move(of_settings_.begin(), of_settings_.end(), std::back_inserter(statistics.settings));
    std::move(comparisons_.begin(), comparisons_.end(), std::back_inserter(statistics.comparisons));
  }

 private:
  template <typename T>
  static void Adjust(std::vector<T>& tests, double T::*p, double T::*adjusted) {
    std::vector<double> values;
    values.reserve(tests.size());
    for (const T& test : tests) values.push_back(test.*p);
    const std::vector<double> holm = HolmAdjusted(values);
    for (size_t i = 0; i < tests.size(); ++i) tests[i].*adjusted = holm[i];
  }

  // Returns the values at places [place, place + count), for samples run under `setting` and
  // `with`.
  MeasureRows Rows(size_t setting, size_t with, size_t place, size_t count) const {
    return RowsOf(measure_, setting, places_, place, count, {with});
  }

  void Run(SettingStatistics& result, const Record* stored) const {
    const MeasureRows rows = Rows(result.setting, result.setting, 0, places_);
    const MeanWithInterval mean = MeanOf(rows, plan_.seed);
    result.samples = static_cast<int64_t>(rows.samples());
    result.mean = mean.mean;
    result.mean_interval = mean.interval;
    result.gap = GapOf(rows);
    if (result.gap > 0) {
      const std::vector<double> means = PlaceMeans(rows);
      const auto [low, high] = std::ranges::minmax(means);
      for (size_t i = 0; i < means.size(); ++i) {
        const auto [worst, best] =
            measure_.higher_is_better ? std::pair(low, high) : std::pair(high, low);
        if (means[i] == best) result.best_places.push_back(plan_.places[i]);
        if (means[i] == worst) result.worst_places.push_back(plan_.places[i]);
      }
      result.best_place = result.best_places.front();
      result.worst_place = result.worst_places.front();
    }
    if (rows.width == 1) {
      result.detectable_gap = DetectableDifference(PlaceDeviation(rows), result.samples);
    }
    const StoredNumbers file(stored, measure_.name, result.setting, settings_);
    if (file.Are({{"_mean", result.mean},
                  {"_mean_low", result.mean_interval.low},
                  {"_mean_high", result.mean_interval.high},
                  {"_gap", result.gap}}) &&
        file.Take({{"_gap_low", &result.gap_interval.low},
                   {"_gap_high", &result.gap_interval.high},
                   {"_gap_by_chance", &result.chance_gap},
                   {"_place_p", &result.place_p}})) {
      return;
    }
    const ColumnEffect effect = PlaceEffect(rows, plan_.seed);
    result.gap_interval = GapInterval(rows, plan_.seed);
    result.chance_gap = effect.chance_gap;
    result.place_p = effect.p;
  }

  void AddComparisons(size_t setting, size_t against) {
    const auto add = [&](std::string what) {
      SettingComparison one;
      one.measure = measure_.name;
      one.setting = setting;
      one.against = against;
      one.what = std::move(what);
      comparisons_.push_back(std::move(one));
    };
    for (const int64_t place : plan_.places) add(fmt::format("place {}", place));
    if (places_ < 2) return;
    add("mean");
    add("gap");
  }

  // Runs a comparison. `number`: index of the comparison among those of the two settings, in the
  // order of AddComparisons.
  void Run(SettingComparison& result, size_t number, const StoredNumbers& file) const {
    const bool of_place = number < places_;
    const size_t place = of_place ? number : 0;
    const size_t count = of_place ? 1 : places_;
    const MeasureRows rows = Rows(result.setting, result.against, place, count);
    const MeasureRows others = Rows(result.against, result.setting, place, count);
    const bool of_gaps = number > places_;
    result.samples = static_cast<int64_t>(rows.samples());
    result.smallest_p = SmallestSignFlipP(result.samples);
    if (of_gaps) {
      result.difference = GapOf(rows) - GapOf(others);
    } else {
      const MeanWithInterval difference = DifferenceOf(rows, others, plan_.seed);
      result.difference = difference.mean;
      result.interval = difference.interval;
    }
    if (file.Are({{"difference", result.difference}, {"smallest_p", result.smallest_p}}) &&
        (of_gaps || file.Are({{"difference_low", result.interval.low},
                              {"difference_high", result.interval.high}})) &&
        file.Take({{"difference_low", &result.interval.low},
                   {"difference_high", &result.interval.high},
                   {"p", &result.p}})) {
      return;
    }
    if (of_gaps) result.interval = GapDifferenceInterval(rows, others, plan_.seed);
    result.p = of_gaps ? GapDifferencePValue(rows, others, plan_.seed)
                       : DifferencePValue(rows, others, plan_.seed);
  }

  // Computes the advice on sample sizes from the largest standard deviation of differences from the
  // first setting or, for a single setting, of differences between two places.
  void Advise(SweepStatistics& statistics) const {
    if (measure_.kind == MeasureKind::kRouge) return;  // differences are not means over samples
    double widest = 0;
    int64_t samples = 0;
    const auto look = [&](const MeasureRows& rows, const MeasureRows& others) {
      const auto count = static_cast<int64_t>(rows.samples());
      const double deviation = StandardDeviation(SampleDifferences(rows, others));
      if (count < kAdviceSamples || !(deviation > widest)) return;
      widest = deviation;
      samples = count;
    };
    const auto at = [&](size_t setting, size_t place, size_t with) {
      return Rows(setting, with, place, 1);
    };
    for (size_t i = 1; i < settings_; ++i) {
      for (size_t place = 0; place < places_; ++place) look(at(i, place, 0), at(0, place, i));
    }
    for (size_t place = 1; place < places_ && settings_ == 1; ++place) {
      look(at(0, place, 0), at(0, 0, 0));
    }
    if (widest == 0) return;
    constexpr double kPoints = 0.04;
    constexpr double kNats = 0.1;
    const double wanted = measure_.unit == "nats" ? kNats : kPoints;
    statistics.advice.push_back({measure_.name, samples, widest,
                                 DetectableDifference(widest, samples), wanted,
                                 SamplesForDifference(widest, wanted)});
  }

  const SweepPlan& plan_;
  const OutcomeMeasure& measure_;
  size_t settings_;
  size_t places_;
  std::vector<SettingStatistics> of_settings_;
  std::vector<SettingComparison> comparisons_;
};

}  // namespace

SweepStatistics AnalyseSweep(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                             const std::vector<Record>& tests, const JobContext& context) {
  SweepStatistics statistics;
  statistics.samples = static_cast<int64_t>(outcomes.size());
  if (outcomes.empty()) return statistics;
  const std::vector<OutcomeMeasure> measures = MeasuresOf(outcomes);
  std::vector<Analysis> analyses;
  analyses.reserve(measures.size());
  for (const OutcomeMeasure& measure : measures) analyses.emplace_back(plan, measure);
  if (analyses.empty()) return statistics;
  // Every measure has the same number of tests.
  const size_t of_each = analyses.front().tests();
  const size_t comparisons = analyses.front().comparisons();
  RunInParallel(
      analyses.size() * of_each,
      [&](size_t i) {
        const size_t measure = i / of_each;
        analyses[measure].RunTest(i % of_each, tests, measure * comparisons,
                                  analyses.size() * comparisons);
      },
      "statistics", "tests", context);
  for (Analysis& analysis : analyses) analysis.Join(statistics);
  return statistics;
}

Record SettingStatisticsRecord(const SweepPlan& plan, const SweepStatistics& statistics) {
  Record record;
  record.name = kSettingStatistics;
  record.axes = {LabelledAxis("setting", plan.CanonicalSettings())};
  const size_t settings = plan.settings.size();
  for (size_t begin = 0; begin + settings <= statistics.settings.size(); begin += settings) {
    const std::string measure = statistics.settings[begin].measure;
    const std::string unit = measure == kAnswerNll ? "nats" : "";
    const auto add = [&](const std::string& name, const std::string& of_unit,
                         const char* description,
                         const std::function<double(const SettingStatistics&)>& value) {
      std::vector<double> values;
      values.reserve(settings);
      for (size_t i = 0; i < settings; ++i) values.push_back(value(statistics.settings[begin + i]));
      record.arrays.push_back(
          {measure + name, {"setting"}, std::move(values), of_unit, description});
    };
    using Setting = SettingStatistics;
    const char* low = "lower end of the 95 % interval";
    const char* high = "upper end of the 95 % interval";
    std::vector<int64_t> samples;
    samples.reserve(settings);
    for (size_t i = 0; i < settings; ++i) {
      samples.push_back(statistics.settings[begin + i].samples);
    }
    record.arrays.push_back({measure + "_samples",
                             {"setting"},
                             std::move(samples),
                             "",
                             "samples on which the setting was run"});
    add("_mean", unit, "mean over places", [](const Setting& s) { return s.mean; });
    add("_mean_low", unit, low, [](const Setting& s) { return s.mean_interval.low; });
    add("_mean_high", unit, high, [](const Setting& s) { return s.mean_interval.high; });
    add("_gap", unit, "best place less worst place, of the means; never negative",
        [](const Setting& s) { return s.gap; });
    add("_gap_low", unit, low, [](const Setting& s) { return s.gap_interval.low; });
    add("_gap_high", unit, high, [](const Setting& s) { return s.gap_interval.high; });
    add("_gap_by_chance", unit, "mean gap where each sample's places are permuted",
        [](const Setting& s) { return s.chance_gap; });
    const auto add_place = [&](const char* name, const char* description,
                               std::optional<int64_t> Setting::*place) {
      std::vector<int64_t> places;
      for (size_t i = 0; i < settings; ++i) {
        places.push_back((statistics.settings[begin + i].*place).value_or(kNoPlace));
      }
      record.arrays.push_back(
          {measure + name, {"setting"}, std::move(places), "rank", description});
    };
    add_place("_best_place", "place with the best mean; -1: all are equal", &Setting::best_place);
    add_place("_worst_place", "place with the worst mean; -1: all are equal",
              &Setting::worst_place);
    add("_place_p", "", "permutation test over places within samples",
        [](const Setting& s) { return s.place_p; });
    add("_place_p_holm", "", "the same, adjusted over settings (Holm)",
        [](const Setting& s) { return s.place_p_holm; });
  }
  for (const SweepStatistics::Methods& methods : statistics.methods) {
    record.attributes[methods.measure + "_mean_interval"] = methods.mean_over_places;
  }
  record.attributes["gap_interval"] = std::string(kBootstrapMethod);
  if (!statistics.settings.empty()) record.signal = statistics.settings.front().measure + "_mean";
  return record;
}

Record SettingComparisonsRecord(const SweepPlan& plan, const SweepStatistics& statistics) {
  Record record;
  record.name = kSettingComparisons;
  record.axes = {CountedAxis("comparison", static_cast<int64_t>(statistics.comparisons.size()))};
  const auto texts = [&](const char* name, const char* description, const auto& value) {
    std::vector<std::string> values;
    values.reserve(statistics.comparisons.size());
    for (const SettingComparison& c : statistics.comparisons) values.push_back(value(c));
    record.arrays.push_back({name, {"comparison"}, std::move(values), "", description});
  };
  const auto numbers = [&](const char* name, const char* description, const auto& value) {
    std::vector<double> values;
    values.reserve(statistics.comparisons.size());
    for (const SettingComparison& c : statistics.comparisons) values.push_back(value(c));
    record.arrays.push_back({name, {"comparison"}, std::move(values), "", description});
  };
  texts("measure", "what is compared", [](const SettingComparison& c) { return c.measure; });
  texts("setting", "the setting",
        [&](const SettingComparison& c) { return plan.settings[c.setting].canonical(); });
  texts("against", "what it is compared with",
        [&](const SettingComparison& c) { return plan.settings[c.against].canonical(); });
  texts("what", "a place, the mean over places, or the gap between places",
        [](const SettingComparison& c) { return c.what; });
  numbers("difference", "mean paired difference",
          [](const SettingComparison& c) { return c.difference; });
  numbers("difference_low", "lower end of the 95 % interval",
          [](const SettingComparison& c) { return c.interval.low; });
  numbers("difference_high", "upper end of the 95 % interval",
          [](const SettingComparison& c) { return c.interval.high; });
  numbers("p", "two-sided permutation test", [](const SettingComparison& c) { return c.p; });
  numbers("p_holm", "the same, adjusted over the comparisons of the measure (Holm)",
          [](const SettingComparison& c) { return c.p_holm; });
  std::vector<int64_t> samples;
  samples.reserve(statistics.comparisons.size());
  for (const SettingComparison& c : statistics.comparisons) samples.push_back(c.samples);
  record.arrays.push_back(
      {"samples", {"comparison"}, std::move(samples), "", "samples on which both were run"});
  numbers("smallest_p", "the least p that so many samples allow",
          [](const SettingComparison& c) { return c.smallest_p; });
  for (const SweepStatistics::Methods& methods : statistics.methods) {
    record.attributes[methods.measure + "_place_difference_interval"] = methods.difference;
    record.attributes[methods.measure + "_mean_difference_interval"] =
        methods.difference_over_places;
  }
  record.attributes["gap_difference_interval"] = std::string(kBootstrapMethod);
  record.signal = "difference";
  return record;
}

}  // namespace midscope
