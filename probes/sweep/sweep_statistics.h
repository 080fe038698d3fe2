// SPDX-License-Identifier: MIT
// Statistics of a sweep beyond single cells: means over places, gaps between places, tests of the
// effect of the place, and differences between settings.
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

// Statistics of one measure for one setting, over the samples on which it was run.
struct SettingStatistics {
  std::string measure;
  size_t setting = 0;
  int64_t samples = 0;
  double mean = 0;  // mean over places
  Interval mean_interval;
  // Mean at the best place minus that at the worst place. It is never negative and exceeds 0 even
  // by chance: its interval (bootstrap) describes its size, and place_p tests whether it exists.
  double gap = 0;
  Interval gap_interval;
  double chance_gap = 0;  // mean gap if places are permuted; NaN for one place
  // The first place with the best mean; nullopt if all places are equal.
  std::optional<int64_t> best_place;
  std::optional<int64_t> worst_place;
  // All places with the best and with the worst mean; empty if all are equal.
  std::vector<int64_t> best_places;
  std::vector<int64_t> worst_places;
  double place_p = 0;  // p of PlaceEffect; NaN for one place
  double place_p_holm = 0;
  // Difference between two places that this number of samples detects with 80 % power at the 5 %
  // level, from the standard deviation of the differences within samples, pooled over all pairs of
  // places. NaN for one place, fewer than two samples, and ROUGE scores, whose gaps are not
  // differences of means.
  double detectable_gap = kUndefined;
};

// Comparison of one measure between two settings, over the samples on which both were run.
struct SettingComparison {
  std::string measure;
  size_t setting = 0;
  size_t against = 0;  // the first setting, or a control of `setting`
  std::string what;    // "place 5", "mean", "gap"
  int64_t samples = 0;
  double difference = 0;
  Interval interval;
  double p = 0;  // from DifferencePValue or, for gaps, GapDifferencePValue
  double p_holm = 0;
  double smallest_p = 0;  // smallest possible p with that number of samples
};

// Minimum number of samples for SampleAdvice, which is computed from the largest standard deviation
// of the paired differences; with fewer samples, that deviation is too uncertain.
inline constexpr int64_t kAdviceSamples = 5;
struct SampleAdvice {
  std::string measure;
  int64_t samples = 0;
  double standard_deviation = 0;
  double detectable = 0;  // detectable difference with these samples
  double wanted = 0;      // difference to detect: 0.04 for shares, 0.1 nats
  int64_t samples_for_wanted = 0;
};

// p_holm is adjusted for all comparisons of a measure, place_p_holm for all settings of a measure.
struct SweepStatistics {
  // Methods of the intervals of one measure.
  struct Methods {
    std::string measure;
    std::string mean;  // method for the mean of a cell
    std::string mean_over_places;
    std::string difference;  // method for the difference at one place
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

// Computes the statistics of a sweep. The result depends only on the outcomes, in any order, and on
// the plan's seed. `tests`: records setting_statistics and setting_comparisons in the sweep's file.
// If their means are equal to those of the outcomes, the results of the 10,000 permutations are
// taken from these records; otherwise the tests are computed on all hardware threads. Throws
// Cancelled.
SweepStatistics AnalyseSweep(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                             const std::vector<Record>& tests = {}, const JobContext& context = {});

// Makes record setting_statistics: MEASURE_samples, _mean, _mean_low, _mean_high, _gap, _gap_low,
// _gap_high, _gap_by_chance, _best_place, _worst_place, _place_p, _place_p_holm [setting].
// Attributes MEASURE_mean_interval and gap_interval name the methods of the intervals.
Record SettingStatisticsRecord(const SweepPlan& plan, const SweepStatistics& statistics);
// Makes record setting_comparisons: measure, setting, against, what, difference, difference_low,
// difference_high, p, p_holm, samples, smallest_p [comparison]. Attributes
// MEASURE_place_difference_interval, MEASURE_mean_difference_interval and gap_difference_interval
// name the methods of the intervals.
Record SettingComparisonsRecord(const SweepPlan& plan, const SweepStatistics& statistics);

}  // namespace midscope
