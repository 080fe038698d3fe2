// SPDX-License-Identifier: MIT
#include "probes/sweep/merged_means.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/sweep.h"

namespace midscope {
namespace {

constexpr const char* kOutcomeMeansRecord = "outcome_means";

bool HasMeans(const RunReader& file) {
  const std::vector<std::string>& names = file.record_names();
  return std::find(names.begin(), names.end(), kOutcomeMeansRecord) != names.end();
}

}  // namespace

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
    plan.task_files_hash = json.value("task_files_hash", "");
    for (const ScoreArms arms : {ScoreArms{true, false}, {false, true}, {true, true}}) {
      if (ScoreArmsName(arms) == json.value("score", ScoreArmsName({}))) plan.score = arms;
    }
    plan.format = ReadPromptFormat(json);
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw Failure(path, std::string("holds no plan of a sweep: ") + error.what());
  }
}

std::vector<Record> MergedSummaries(const SweepMerge& merge, const SweepPlan& plan) {
  SweepResult result;
  for (const int64_t sample : merge.samples()) {
    result.outcomes.push_back(ReadOutcome(sample, merge.ReadSample(sample, IsOutcome)));
  }
  result.failures = merge.failures();
  return SweepSummaries(plan, result);
}

std::vector<Record> MergedSummaries(const SweepMerge& merge) {
  SweepPlan plan = ReadPlan(merge.inputs().front().path(), merge.plan_json());
  for (const SweepStore& input : merge.inputs()) {
    if (input.file() && HasMeans(*input.file())) {
      ReadPlanTexts(input.file()->Read(kOutcomeMeansRecord), plan);
    }
  }
  std::vector<Record> records = MergedSummaries(merge, plan);
  records.push_back(MergedFromRecord(merge));
  return records;
}

}  // namespace midscope
