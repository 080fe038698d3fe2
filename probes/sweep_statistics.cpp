// SPDX-License-Identifier: MIT
#include "probes/sweep_statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "probes/record_axes.h"

namespace midscope {
namespace {

double Average(std::span<const double> means) { return Mean(means); }

double Gap(std::span<const double> means) {
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  return *high - *low;
}

// The numbers of one measure under one setting, [sample, place].
std::vector<double> RowsOf(const OutcomeMeasure& measure, size_t setting, size_t places) {
  std::vector<double> rows;
  rows.reserve(measure.values.size() * places);
  for (const std::vector<double>& sample : measure.values) {
    const auto begin = sample.begin() + static_cast<std::ptrdiff_t>(setting * places);
    rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(places));
  }
  return rows;
}

std::vector<double> Difference(std::span<const double> a, std::span<const double> b) {
  std::vector<double> difference(a.size());
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

std::vector<double> Column(std::span<const double> rows, size_t places, size_t place) {
  std::vector<double> column;
  column.reserve(rows.size() / places);
  for (size_t i = place; i < rows.size(); i += places) column.push_back(rows[i]);
  return column;
}

std::vector<double> RowMeans(std::span<const double> rows, size_t places) {
  std::vector<double> means;
  means.reserve(rows.size() / places);
  for (size_t begin = 0; begin < rows.size(); begin += places) {
    means.push_back(Mean(rows.subspan(begin, places)));
  }
  return means;
}

// One measure of one sweep.
class Analysis {
 public:
  Analysis(const SweepPlan& plan, const OutcomeMeasure& measure)
      : plan_(plan), measure_(measure), places_(plan.places.size()) {
    rows_.reserve(plan.settings.size());
    for (size_t i = 0; i < plan.settings.size(); ++i) rows_.push_back(RowsOf(measure, i, places_));
  }

  void Run(SweepStatistics& statistics) const {
    std::vector<SettingStatistics> settings;
    settings.reserve(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) settings.push_back(Setting(i));
    Adjust(settings, &SettingStatistics::place_p, &SettingStatistics::place_p_holm);
    std::vector<SettingComparison> comparisons;
    for (size_t i = 1; i < rows_.size(); ++i) Compare(i, 0, comparisons);
    for (size_t i = 1; i < rows_.size(); ++i) {
      const std::string& of = plan_.settings[i].control_of;
      for (size_t j = 1; j < rows_.size() && !of.empty(); ++j) {
        if (plan_.settings[j].text == of) Compare(j, i, comparisons);
      }
    }
    Adjust(comparisons, &SettingComparison::p, &SettingComparison::p_holm);
    Advise(statistics);
    std::move(settings.begin(), settings.end(), std::back_inserter(statistics.settings));
    std::move(comparisons.begin(), comparisons.end(), std::back_inserter(statistics.comparisons));
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

  SettingStatistics Setting(size_t setting) const {
    const std::vector<double>& rows = rows_[setting];
    const std::vector<double> means = ColumnMeans(rows, places_);
    const auto [low, high] = std::minmax_element(means.begin(), means.end());
    const int64_t lowest = plan_.places[static_cast<size_t>(low - means.begin())];
    const int64_t highest = plan_.places[static_cast<size_t>(high - means.begin())];
    const bool higher = measure_.higher_is_better;
    return {measure_.name,
            setting,
            Average(means),
            BootstrapMeanInterval(RowMeans(rows, places_), plan_.seed),
            Gap(means),
            BootstrapRowsInterval(rows, places_, plan_.seed, Gap),
            higher ? highest : lowest,
            higher ? lowest : highest,
            ColumnEffectPValue(rows, places_, plan_.seed),
            0};
  }

  void Compare(size_t setting, size_t against, std::vector<SettingComparison>& comparisons) const {
    const std::vector<double> difference = Difference(rows_[setting], rows_[against]);
    const auto add = [&](const std::string& what, const std::vector<double>& values) {
      comparisons.push_back({measure_.name, setting, against, what, Mean(values),
                             BootstrapMeanInterval(values, plan_.seed),
                             SignFlipPValue(values, plan_.seed), 0});
    };
    for (size_t place = 0; place < places_; ++place) {
      add("place " + std::to_string(plan_.places[place]), Column(difference, places_, place));
    }
    if (places_ < 2) return;
    add("mean", RowMeans(difference, places_));
    comparisons.push_back(
        {measure_.name, setting, against, "gap",
         Gap(ColumnMeans(rows_[setting], places_)) - Gap(ColumnMeans(rows_[against], places_)),
         GapDifferenceInterval(setting, against),
         SwapPValue(rows_[setting], rows_[against], places_, plan_.seed, Gap), 0});
  }

  // A sample's rows of both settings side by side are drawn together.
  Interval GapDifferenceInterval(size_t setting, size_t against) const {
    std::vector<double> both;
    both.reserve(2 * rows_[setting].size());
    for (size_t begin = 0; begin < rows_[setting].size(); begin += places_) {
      for (const size_t one : {setting, against}) {
        const auto row = rows_[one].begin() + static_cast<std::ptrdiff_t>(begin);
        both.insert(both.end(), row, row + static_cast<std::ptrdiff_t>(places_));
      }
    }
    return BootstrapRowsInterval(both, 2 * places_, plan_.seed, [&](std::span<const double> means) {
      return Gap(means.first(places_)) - Gap(means.subspan(places_));
    });
  }

  // By the widest spread: of the differences to the first setting, or where there is but one, of
  // those between two places.
  void Advise(SweepStatistics& statistics) const {
    double widest = 0;
    const auto look = [&](const std::vector<double>& values) {
      const double deviation = StandardDeviation(values);
      if (deviation > widest) widest = deviation;
    };
    for (size_t i = 1; i < rows_.size(); ++i) {
      const std::vector<double> difference = Difference(rows_[i], rows_[0]);
      for (size_t place = 0; place < places_; ++place) look(Column(difference, places_, place));
    }
    for (size_t place = 1; place < places_ && rows_.size() == 1; ++place) {
      look(Difference(Column(rows_[0], places_, place), Column(rows_[0], places_, 0)));
    }
    if (widest == 0) return;
    constexpr double kPoints = 0.04;
    constexpr double kNats = 0.1;
    const double wanted = measure_.unit == "nats" ? kNats : kPoints;
    statistics.advice.push_back({measure_.name, widest,
                                 DetectableDifference(widest, statistics.samples), wanted,
                                 SamplesForDifference(widest, wanted)});
  }

  const SweepPlan& plan_;
  const OutcomeMeasure& measure_;
  size_t places_;
  std::vector<std::vector<double>> rows_;  // [setting][sample, place]
};

}  // namespace

SweepStatistics AnalyseSweep(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes) {
  SweepStatistics statistics;
  statistics.samples = static_cast<int64_t>(outcomes.size());
  if (outcomes.empty()) return statistics;
  for (const OutcomeMeasure& measure : MeasuresOf(outcomes))
    Analysis(plan, measure).Run(statistics);
  return statistics;
}

Record SettingStatisticsRecord(const SweepPlan& plan, const SweepStatistics& statistics) {
  Record record;
  record.name = "setting_statistics";
  record.axes = {LabelledAxis("setting", plan.CanonicalSettings())};
  const size_t settings = plan.settings.size();
  for (size_t begin = 0; begin + settings <= statistics.settings.size(); begin += settings) {
    const std::string measure = statistics.settings[begin].measure;
    const std::string unit = measure == "answer_nll" ? "nats" : "";
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
    const char* low = "lower end of the 95 % bootstrap interval";
    const char* high = "upper end of the 95 % bootstrap interval";
    add("_mean", unit, "mean over places", [](const Setting& s) { return s.mean; });
    add("_mean_low", unit, low, [](const Setting& s) { return s.mean_interval.low; });
    add("_mean_high", unit, high, [](const Setting& s) { return s.mean_interval.high; });
    add("_gap", unit, "best place less worst place, of the means",
        [](const Setting& s) { return s.gap; });
    add("_gap_low", unit, low, [](const Setting& s) { return s.gap_interval.low; });
    add("_gap_high", unit, high, [](const Setting& s) { return s.gap_interval.high; });
    add("_place_p", "", "permutation test over places within samples",
        [](const Setting& s) { return s.place_p; });
    add("_place_p_holm", "", "the same, adjusted over settings (Holm)",
        [](const Setting& s) { return s.place_p_holm; });
  }
  if (!record.arrays.empty()) record.signal = record.arrays.front().name;
  return record;
}

Record SettingComparisonsRecord(const SweepPlan& plan, const SweepStatistics& statistics) {
  Record record;
  record.name = "setting_comparisons";
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
  using Comparison = SettingComparison;
  texts("measure", "what is compared", [](const Comparison& c) { return c.measure; });
  texts("setting", "the setting",
        [&](const Comparison& c) { return plan.settings[c.setting].canonical(); });
  texts("against", "what it is compared with",
        [&](const Comparison& c) { return plan.settings[c.against].canonical(); });
  texts("what", "a place, the mean over places, or the gap between places",
        [](const Comparison& c) { return c.what; });
  numbers("difference", "mean paired difference", [](const Comparison& c) { return c.difference; });
  numbers("difference_low", "lower end of the 95 % bootstrap interval",
          [](const Comparison& c) { return c.interval.low; });
  numbers("difference_high", "upper end of the 95 % bootstrap interval",
          [](const Comparison& c) { return c.interval.high; });
  numbers("p", "two-sided permutation test", [](const Comparison& c) { return c.p; });
  numbers("p_holm", "the same, adjusted over the comparisons of the measure (Holm)",
          [](const Comparison& c) { return c.p_holm; });
  record.signal = "difference";
  return record;
}

}  // namespace midscope
