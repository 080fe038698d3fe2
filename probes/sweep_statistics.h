// SPDX-License-Identifier: MIT
// What a sweep says beyond its single cells: means over places, gaps, whether the place matters,
// and how settings differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/record.h"
#include "probes/outcome_statistics.h"
#include "probes/statistics.h"
#include "probes/sweep_plan.h"

namespace midscope {

// One setting by one measure.
struct SettingStatistics {
  std::string measure;
  size_t setting = 0;
  double mean = 0;  // over places
  Interval mean_interval;
  // Best place less worst place, of the places' means: never negative, and above 0 by chance alone,
  // so that its interval says how large it is and place_p whether there is one.
  double gap = 0;
  Interval gap_interval;
  int64_t best_place = 0;
  int64_t worst_place = 0;
  double place_p = 0;  // ColumnEffectPValue over places; NaN for one place
  double place_p_holm = 0;
};

// One setting against another by one measure, sample by sample.
struct SettingComparison {
  std::string measure;
  size_t setting = 0;
  size_t against = 0;  // the first setting, or a control of `setting`
  std::string what;    // "place 5", "mean", "gap"
  double difference = 0;
  Interval interval;
  double p = 0;  // SignFlipPValue; of gaps SwapPValue
  double p_holm = 0;
};

// How finely differences show: of the widest spread among the paired differences that were taken.
struct SampleAdvice {
  std::string measure;
  double standard_deviation = 0;
  double detectable = 0;  // with the samples that there are
  double wanted = 0;      // 0.04 of a share, 0.1 nats
  int64_t samples_for_wanted = 0;
};

// Holm's adjustment is taken over all comparisons of a measure, and over its settings for place_p.
struct SweepStatistics {
  int64_t samples = 0;
  std::vector<SettingStatistics> settings;
  std::vector<SettingComparison> comparisons;
  std::vector<SampleAdvice> advice;
};

// Deterministic in the outcomes and the plan's seed, whatever order the samples came in.
SweepStatistics AnalyseSweep(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes);

// Record setting_statistics: MEASURE_mean, _low, _high, MEASURE_gap, _low, _high,
// MEASURE_place_p, _place_p_holm [setting].
Record SettingStatisticsRecord(const SweepPlan& plan, const SweepStatistics& statistics);
// Record setting_comparisons: measure, setting, against, what, difference, difference_low,
// difference_high, p, p_holm [comparison].
Record SettingComparisonsRecord(const SweepPlan& plan, const SweepStatistics& statistics);

}  // namespace midscope
