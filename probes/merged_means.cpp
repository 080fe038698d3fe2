// SPDX-License-Identifier: MIT
#include "probes/merged_means.h"

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "probes/sweep.h"

namespace midscope {

SweepPlan ReadPlan(const std::string& path, const std::string& plan_json) {
  try {
    const nlohmann::json json = nlohmann::json::parse(plan_json);
    SweepPlan plan;
    plan.task = json.at("task");
    plan.seed = json.at("seed");
    plan.samples = json.at("samples");
    plan.places = json.at("places").get<std::vector<int64_t>>();
    for (const std::string text : json.at("settings")) plan.settings.push_back(ReadSetting(text));
    plan.attention = json.value("attention", false);
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw Failure(path, std::string("holds no plan of a sweep: ") + error.what());
  }
}

Record MergedMeans(const SweepMerge& merge) {
  const std::string& path = merge.inputs().front().path();
  SweepResult result;
  for (const int64_t sample : merge.samples()) {
    result.outcomes.push_back(ReadOutcome(sample, merge.ReadSample(sample)));
  }
  result.failures = merge.failures();
  return MeansRecord(ReadPlan(path, merge.plan_json()), result);
}

std::vector<Record> MergedSummaries(const SweepMerge& merge) {
  return {MergedMeans(merge), MergedFromRecord(merge)};
}

}  // namespace midscope
