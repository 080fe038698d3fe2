// SPDX-License-Identifier: MIT
// The statistics of a sweep beyond single cells: means over places, gaps, whether the place has an
// effect, and differences of settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// One setting by one measure, over the samples on which it was run.
struct SettingStatistics {
  std::string measure;
  size_t setting = 0;
  int64_t samples = 0;
  double mean = 0;  // over places
  Interval mean_interval;
  // Best minus worst place, of the places' means: never negative, and above 0 by chance alone, so
  // that its interval (bootstrap) is about its size and place_p tests its existence.
  double gap = 0;
  Interval gap_interval;
  double chance_gap = 0;  // mean gap where a sample's places are permuted; NaN for one place
  // nullopt if all places are equal.
  std::optional<int64_t> best_place;
  std::optional<int64_t> worst_place;
  double place_p = 0;  // ColumnEffect::p over places; NaN for one place
  double place_p_holm = 0;
};

// One setting against another by one measure, over the samples on which both were run.
struct SettingComparison {
  std::string measure;
  size_t setting = 0;
  size_t against = 0;  // the first setting, or a control of `setting`
  std::string what;    // "place 5", "mean", "gap"
  int64_t samples = 0;
  double difference = 0;
  Interval interval;
  double p = 0;  // DifferencePValue; for gaps GapDifferencePValue
  double p_holm = 0;
  double smallest_p = 0;  // the smallest possible with that number of samples
};

// The detectable difference, by the largest standard deviation among the paired differences. With
// fewer than kAdviceSamples samples that is too uncertain to be used.
inline constexpr int64_t kAdviceSamples = 5;
struct SampleAdvice {
  std::string measure;
  int64_t samples = 0;
  double standard_deviation = 0;
  double detectable = 0;  // with the present samples
  double wanted = 0;      // 0.04 of a share, 0.1 nats
  int64_t samples_for_wanted = 0;
};

// Holm's adjustment is over all comparisons of a measure, and over its settings for place_p.
struct SweepStatistics {
  // The methods of one measure's intervals.
  struct Methods {
    std::string measure;
    std::string mean;  // of a cell
    std::string mean_over_places;
    std::string difference;  // at one place
    std::string difference_over_places;
  };

  int64_t samples = 0;
  std::vector<Methods> methods;
  std::vector<SettingStatistics> settings;
  std::vector<SettingComparison> comparisons;
  std::vector<SampleAdvice> advice;
};

inline constexpr const char* kSettingStatistics = "setting_statistics";
inline constexpr const char* kSettingComparisons = "setting_comparisons";

// Deterministic in the outcomes and the plan's seed, in any order of the samples. `tests`: the two
// records below from a file of the sweep; results of 10,000 permutations are taken from them where
// their means are those of the outcomes, and computed where not. The tests run on all the machine's
// threads. Throws Cancelled.
SweepStatistics AnalyseSweep(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                             const std::vector<Record>& tests = {}, const JobContext& context = {});

// Record setting_statistics: MEASURE_samples, _mean, _mean_low, _mean_high, _gap, _gap_low,
// _gap_high, _gap_by_chance, _best_place, _worst_place, _place_p, _place_p_holm [setting].
// Attributes MEASURE_mean_interval and gap_interval name the methods of the intervals.
Record SettingStatisticsRecord(const SweepPlan& plan, const SweepStatistics& statistics);
// Record setting_comparisons: measure, setting, against, what, difference, difference_low,
// difference_high, p, p_holm, samples, smallest_p [comparison]. Attributes
// MEASURE_place_difference_interval, MEASURE_mean_difference_interval and gap_difference_interval
// name the methods of the intervals.
Record SettingComparisonsRecord(const SweepPlan& plan, const SweepStatistics& statistics);

}  // namespace midscope
