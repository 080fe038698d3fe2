// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/group_means.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "probes/base/records.h"
#include "probes/measure/statistics/statistics.h"

namespace midscope {
namespace {

std::string ParentOf(const std::string& data_set) {
  const size_t slash = data_set.rfind('/');
  return slash == std::string::npos ? "" : data_set.substr(0, slash);
}

// The outcomes of each data set, by name.
using OutcomesOf = std::vector<std::pair<std::string, std::vector<SampleOutcome>>>;

OutcomesOf ByDataSet(const std::vector<SampleOutcome>& outcomes) {
  std::map<std::string, std::vector<SampleOutcome>> sorted;
  for (const SampleOutcome& outcome : outcomes) sorted[outcome.group].push_back(outcome);
  return {sorted.begin(), sorted.end()};
}

const OutcomeMeasure* MeasureNamed(const std::vector<OutcomeMeasure>& measures,
                                   const std::string& name) {
  const auto found = std::find_if(measures.begin(), measures.end(),
                                  [&](const OutcomeMeasure& each) { return each.name == name; });
  return found == measures.end() ? nullptr : &*found;
}

// Returns the means of a measure over samples and places, [setting].
std::vector<double> SetMeansOf(const std::vector<SampleOutcome>& outcomes, const std::string& name,
                               size_t settings, size_t places) {
  const std::vector<OutcomeMeasure> measures = MeasuresOf(outcomes);
  const OutcomeMeasure* measure = MeasureNamed(measures, name);
  std::vector<double> means(settings, kUndefined);
  for (size_t setting = 0; measure && setting < settings; ++setting) {
    const MeasureRows rows = RowsOf(*measure, setting, places, 0, places);
    if (!rows.values.empty()) means[setting] = Mean(PlaceMeans(rows));
  }
  return means;
}

// Returns the averages over groups, [setting]; NaN if one of them is NaN.
std::vector<double> GroupAverage(const std::vector<const GroupMean*>& of, size_t settings) {
  std::vector<double> average(settings);
  for (const GroupMean* one : of) {
    for (size_t i = 0; i < settings; ++i) {
      average[i] += one->mean[i] / static_cast<double>(of.size());
    }
  }
  return average;
}

// Returns the mean over the groups `of`. `outcomes`: all samples of these groups.
GroupMean JoinedGroup(const std::string& name, GroupKind kind,
                      const std::vector<const GroupMean*>& of,
                      const std::vector<SampleOutcome>& outcomes, const std::string& measure,
                      size_t settings, size_t places) {
  GroupMean joined{name,
                   kind,
                   0,
                   0,
                   GroupAverage(of, settings),
                   SetMeansOf(outcomes, measure, settings, places)};
  for (const GroupMean* one : of) {
    joined.data_sets += one->data_sets;
    joined.samples += one->samples;
  }
  return joined;
}

std::vector<GroupMean> GroupsOf(const std::string& measure, const OutcomesOf& sets,
                                const std::vector<SampleOutcome>& outcomes, size_t settings,
                                size_t places) {
  std::vector<GroupMean> of_sets;
  std::set<std::string> parents;
  for (const auto& [name, of_set] : sets) {
    const std::vector<double> means = SetMeansOf(of_set, measure, settings, places);
    of_sets.push_back({name, GroupKind::kDataSet, 1, std::ssize(of_set), means, means});
    parents.insert(ParentOf(name));
  }
  std::vector<GroupMean> groups;
  std::vector<GroupMean> of_parents;
  for (const std::string& parent : parents) {
    std::vector<const GroupMean*> inside;
    std::vector<SampleOutcome> samples;
    for (size_t i = 0; i < sets.size(); ++i) {
      if (ParentOf(sets[i].first) != parent) continue;
      inside.push_back(&of_sets[i]);
      samples.insert(samples.end(), sets[i].second.begin(), sets[i].second.end());
    }
    if (!parent.empty()) {
      of_parents.push_back(
          JoinedGroup(parent, GroupKind::kGroup, inside, samples, measure, settings, places));
      groups.push_back(of_parents.back());
    }
    for (const GroupMean* one : inside) groups.push_back(*one);
  }
  const auto all = [&](const std::string& name, GroupKind kind,
                       const std::vector<GroupMean>& of_each) {
    std::vector<const GroupMean*> each;
    each.reserve(of_each.size());
    for (const GroupMean& one : of_each) each.push_back(&one);
    groups.push_back(JoinedGroup(name, kind, each, outcomes, measure, settings, places));
  };
  all("all data sets", GroupKind::kAllDataSets, of_sets);
  if (of_parents.size() > 1 && !parents.contains("")) {
    all("all groups", GroupKind::kAllGroups, of_parents);
  }
  return groups;
}

}  // namespace

std::vector<MeasureGroups> GroupMeansOf(const std::vector<SampleOutcome>& outcomes, size_t settings,
                                        size_t places) {
  const OutcomesOf sets = ByDataSet(outcomes);
  std::vector<MeasureGroups> means;
  if (sets.size() < 2) return means;
  for (const OutcomeMeasure& measure : MeasuresOf(outcomes)) {
    means.push_back({measure.name, measure.description,
                     GroupsOf(measure.name, sets, outcomes, settings, places)});
  }
  return means;
}

Record GroupMeansRecord(const std::vector<std::string>& settings,
                        const std::vector<MeasureGroups>& means) {
  Record record;
  record.name = kGroupMeans;
  std::vector<std::string> names;
  std::vector<int64_t> data_sets;
  std::vector<int64_t> samples;
  for (const GroupMean& group : means.front().groups) {
    names.push_back(group.name);
    data_sets.push_back(group.data_sets);
    samples.push_back(group.samples);
  }
  record.axes = {LabelledAxis("group", names), LabelledAxis("setting", settings)};
  for (const MeasureGroups& measure : means) {
    std::vector<double> mean;
    std::vector<double> pooled;
    for (const GroupMean& group : measure.groups) {
      mean.insert(mean.end(), group.mean.begin(), group.mean.end());
      pooled.insert(pooled.end(), group.pooled.begin(), group.pooled.end());
    }
    record.arrays.push_back({measure.measure,
                             {"group", "setting"},
                             std::move(mean),
                             "",
                             measure.description + "; of a group the mean over its data sets"});
    record.arrays.push_back({measure.measure + "_pooled",
                             {"group", "setting"},
                             std::move(pooled),
                             "",
                             "the same over all samples of the group alike"});
  }
  record.arrays.push_back({"data_sets", {"group"}, std::move(data_sets), "", "in the mean"});
  record.arrays.push_back({"samples", {"group"}, std::move(samples), "", "in the means"});
  record.signal = means.back().measure;
  return record;
}

}  // namespace midscope
