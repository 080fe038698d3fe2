// SPDX-License-Identifier: MIT
#include "probes/sweep/merged_means.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/sweep.h"

namespace midscope {
namespace {

// As PlanJson writes it.
Scan ReadScan(const nlohmann::json& json, size_t settings) {
  Scan scan;
  const ScanKind& kind = FindScanKind(json.at("over").get<std::string>());
  scan.kind = kind.name;
  scan.term = json.at("with");
  for (const nlohmann::json& one : json.at("items")) {
    ScanItem item;
    item.id = one.at(0);
    for (size_t axis = 0; axis < kind.axes.size(); ++axis) item.at.push_back(one.at(1 + axis));
    scan.items.push_back(std::move(item));
  }
  if (scan.items.size() + 1 != settings)
    throw Failure("scan", "its items are not the settings behind the first");
  return scan;
}

// Throws Error (failure).
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
    plan.source_prompts = json.value("source_prompts", plan.source_prompts);
    for (const ScoreArms arms : {ScoreArms{true, false}, {false, true}, {true, true}}) {
      if (ScoreArmsName(arms) == json.value("score", ScoreArmsName({}))) plan.score = arms;
    }
    plan.format = ReadPromptFormat(json);
    if (json.contains("scan")) plan.scan = ReadScan(json.at("scan"), plan.settings.size());
    return plan;
  } catch (const nlohmann::json::exception& error) {
    throw Failure(path, std::string("holds no plan of a sweep: ") + error.what());
  }
}

// Restores the file's texts of settings and places.
void ReadTexts(const RunReader& file, SweepPlan& plan) {
  if (file.Has(kOutcomeMeans)) ReadPlanTexts(file.Read(kOutcomeMeans), plan);
}

}  // namespace

SweepPlan StoredPlan(const RunReader& file) {
  SweepPlan plan = ReadPlan(file.path(), file.plan_json());
  ReadTexts(file, plan);
  return plan;
}

std::vector<Record> MergedSummaries(const SweepMerge& merge, const SweepPlan& plan,
                                    const JobContext& context) {
  SweepResult result;
  const std::vector<int64_t> samples = merge.samples();
  result.outcomes = ReadOutcomes(samples, [&](size_t index, const ArrayFilter& wanted) {
    return merge.ReadSample(samples[index], wanted);
  });
  result.failures = merge.failures();
  return SweepSummaries(plan, result, context);
}

std::vector<Record> MergedSummaries(const SweepMerge& merge, const JobContext& context) {
  SweepPlan plan = ReadPlan(merge.inputs().front().path(), merge.plan_json());
  for (const SweepStore& input : merge.inputs()) {
    if (input.file()) ReadTexts(*input.file(), plan);
  }
  std::vector<Record> records = MergedSummaries(merge, plan, context);
  records.push_back(MergedFromRecord(merge));
  return records;
}

}  // namespace midscope
