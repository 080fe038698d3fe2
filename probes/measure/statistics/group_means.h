// SPDX-License-Identifier: MIT
// Means over the data sets and groups of a task that has several, as published tables have them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/measure/statistics/outcome_measures.h"

namespace midscope {

enum class GroupKind { kDataSet, kGroup, kAllDataSets, kAllGroups };

struct GroupMean {
  std::string name;  // "STEM/astronomy", "STEM", "all data sets", "all groups"
  GroupKind kind = GroupKind::kDataSet;
  int64_t data_sets = 1;
  int64_t samples = 0;
  // [setting], over places: for a data set the mean over its samples, for a group that over its
  // data sets, for all groups that over groups. NaN if a setting was not run on one of them.
  std::vector<double> mean;
  // As above, with all samples weighted equally, however many a data set has.
  std::vector<double> pooled;
};

struct MeasureGroups {
  std::string measure;
  std::string description;
  std::vector<GroupMean> groups;  // each group with its data sets behind it, then all
};

// One per measure of the outcomes; empty if the samples are of fewer than two data sets.
std::vector<MeasureGroups> GroupMeansOf(const std::vector<SampleOutcome>& outcomes, size_t settings,
                                        size_t places);

inline constexpr const char* kGroupMeans = "group_means";

// Record group_means: MEASURE and MEASURE_pooled [group, setting], data_sets and samples [group].
Record GroupMeansRecord(const std::vector<std::string>& settings,
                        const std::vector<MeasureGroups>& means);

}  // namespace midscope
