// SPDX-License-Identifier: MIT
// Means over data sets and groups, for tasks with several data sets, as in published tables.
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
  // [setting]: mean over places. A data set's mean is over its samples, a group's over its data
  // sets, and that of all groups over the groups. NaN if the setting was not run on one of these.
  std::vector<double> mean;
  // [setting]: mean over places in which all samples have the same weight, whatever their data set.
  std::vector<double> pooled;
};

struct MeasureGroups {
  std::string measure;
  std::string description;
  std::vector<GroupMean> groups;  // each group before its data sets, "all" last
};

// Returns the means by data set and group of each measure of the outcomes; empty if there are fewer
// than two data sets.
std::vector<MeasureGroups> GroupMeansOf(const std::vector<SampleOutcome>& outcomes, size_t settings,
                                        size_t places);

inline constexpr const char* kGroupMeans = "group_means";

// Makes record group_means: MEASURE and MEASURE_pooled [group, setting], data_sets and samples
// [group].
Record GroupMeansRecord(const std::vector<std::string>& settings,
                        const std::vector<MeasureGroups>& means);

}  // namespace midscope
