// SPDX-License-Identifier: MIT
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/record_names.h"
#include "probes/cli/commands/sweep_table.h"
#include "probes/cli/text/generated_table.h"
#include "probes/cli/text/record_text.h"
#include "probes/sweep/place_verdict.h"
#include "probes/sweep/plan_texts.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

void AddMean(const std::string& name, double mean, const Interval& interval, Json& json) {
  json[name] = NumberOrNull(mean);
  json[name + "_low"] = NumberOrNull(interval.low);
  json[name + "_high"] = NumberOrNull(interval.high);
}

Json RowJson(const CellReport& report, size_t i, bool several) {
  const SweepPlan& plan = report.plan;
  const SweepSetting& setting = plan.settings[i / plan.places.size()];
  const CellStatistics& cell = report.means[i];
  Json row = {{"setting", setting.text},
              {"setting_canonical", setting.canonical()},
              {"place", plan.places[i % plan.places.size()]},
              {"place_share", NumberOrNull(PlaceShare(plan, plan.places[i % plan.places.size()]))},
              {"samples", cell.samples},
              {"accuracy", NumberOrNull(cell.accuracy)},
              {kAnswerNll, NumberOrNull(cell.answer_nll)},
              {"accuracy_low", NumberOrNull(cell.accuracy_interval.low)},
              {"accuracy_high", NumberOrNull(cell.accuracy_interval.high)},
              {"answer_nll_low", NumberOrNull(cell.answer_nll_interval.low)},
              {"answer_nll_high", NumberOrNull(cell.answer_nll_interval.high)},
              {"answer_nll_difference", NumberOrNull(cell.difference)},
              {"answer_nll_difference_low", NumberOrNull(cell.difference_interval.low)},
              {"answer_nll_difference_high", NumberOrNull(cell.difference_interval.high)}};
  if (std::isfinite(cell.choice_accuracy)) {
    AddMean("choice_accuracy", cell.choice_accuracy, cell.choice_interval, row);
  }
  if (std::isfinite(cell.perplexity)) {
    AddMean("perplexity", cell.perplexity, cell.perplexity_interval, row);
  }
  if (std::isfinite(cell.document_perplexity)) {
    AddMean("document_perplexity", cell.document_perplexity, cell.document_perplexity_interval,
            row);
  }
  if (std::isfinite(cell.right_share)) {
    AddMean("right_share", cell.right_share, cell.right_share_interval, row);
  }
  if (std::isfinite(cell.generation_score)) {
    AddMean("generation_score", cell.generation_score, cell.generation_interval, row);
  }
  AddGeneratedCell(report.generated, i, row);
  if (cell.samples < report.statistics.samples) {
    row["not_run_samples"] = report.statistics.samples - cell.samples;
  }
  const size_t place = i % plan.places.size();
  if (report.cuts.cut[place] > 0) row["cut_samples"] = report.cuts.cut[place];
  if (report.cuts.gold_cut[place] > 0) row["gold_cut_samples"] = report.cuts.gold_cut[place];
  if (cell.beyond_context > 0) row["beyond_context_samples"] = cell.beyond_context;
  if (!setting.control_of.empty()) row["control_of"] = setting.control_of;
  if (several) {
    row["model"] = report.cell.model;
    row["task"] = plan.task;
    row["seed"] = plan.seed;
  }
  return row;
}

Json SettingJson(const SweepPlan& plan, const SettingStatistics& setting) {
  Json json = {{"measure", setting.measure}, {"setting", plan.settings[setting.setting].text}};
  json["samples"] = setting.samples;
  AddMean("mean", setting.mean, setting.mean_interval, json);
  AddMean("gap", setting.gap, setting.gap_interval, json);
  json["gap_by_chance"] = NumberOrNull(setting.chance_gap);
  json["best_place"] = setting.best_place ? Json(*setting.best_place) : Json(nullptr);
  json["worst_place"] = setting.worst_place ? Json(*setting.worst_place) : Json(nullptr);
  json["place_p"] = NumberOrNull(setting.place_p);
  json["place_p_holm"] = NumberOrNull(setting.place_p_holm);
  return json;
}

Json ComparisonJson(const SweepPlan& plan, const SettingComparison& comparison) {
  Json json = {{"measure", comparison.measure},
               {"setting", plan.settings[comparison.setting].text},
               {"against", plan.settings[comparison.against].text},
               {"what", comparison.what}};
  json["samples"] = comparison.samples;
  AddMean("difference", comparison.difference, comparison.interval, json);
  json["p"] = NumberOrNull(comparison.p);
  json["p_holm"] = NumberOrNull(comparison.p_holm);
  json["smallest_p"] = NumberOrNull(comparison.smallest_p);
  return json;
}

// Returns the means [setting] of every data set and group of a measure.
Json GroupsJson(const MeasureGroups& measure) {
  Json groups = Json::array();
  for (const GroupMean& group : measure.groups) {
    Json means = Json::array();
    Json pooled = Json::array();
    for (const double mean : group.mean) means.push_back(NumberOrNull(mean));
    for (const double mean : group.pooled) pooled.push_back(NumberOrNull(mean));
    groups.push_back({{"measure", measure.measure},
                      {"group", group.name},
                      {"data_sets", group.data_sets},
                      {"samples", group.samples},
                      {"mean", std::move(means)},
                      {"pooled", std::move(pooled)}});
  }
  return groups;
}

Json VerdictsJson(const CellReport& report) {
  const auto place = [](const std::optional<int64_t>& one) { return one ? Json(*one) : Json(); };
  Json verdicts = Json::array();
  for (const PlaceVerdict& one : PlaceVerdicts(report.plan, report.statistics)) {
    verdicts.push_back({{"setting", report.plan.settings[one.setting].text},
                        {"measure", one.measure},
                        {"verdict", one.text},
                        {"matters", one.matters ? Json(*one.matters) : Json()},
                        {"p", NumberOrNull(one.p)},
                        {"p_adjusted", NumberOrNull(one.p_adjusted)},
                        {"best", place(one.best)},
                        {"worst", place(one.worst)},
                        {"gap", NumberOrNull(one.gap)},
                        {"low", NumberOrNull(one.gap_interval.low)},
                        {"high", NumberOrNull(one.gap_interval.high)},
                        {"chance", NumberOrNull(one.chance)},
                        {"detectable", NumberOrNull(one.detectable)}});
  }
  return verdicts;
}

Json ReportJson(const CellReport& report) {
  Json settings = Json::array();
  for (const SettingStatistics& setting : report.statistics.settings) {
    settings.push_back(SettingJson(report.plan, setting));
  }
  Json comparisons = Json::array();
  for (const SettingComparison& comparison : report.statistics.comparisons) {
    comparisons.push_back(ComparisonJson(report.plan, comparison));
  }
  Json advice = Json::array();
  for (const SampleAdvice& one : report.statistics.advice) {
    advice.push_back({{"measure", one.measure},
                      {"samples", one.samples},
                      {"standard_deviation", NumberOrNull(one.standard_deviation)},
                      {"detectable_difference", NumberOrNull(one.detectable)},
                      {"difference", one.wanted},
                      {"samples_for_difference", one.samples_for_wanted}});
  }
  Json intervals = {{"gap", kBootstrapMethod}};
  for (const SweepStatistics::Methods& one : report.statistics.methods) {
    intervals[one.measure] = {{"place", one.mean},
                              {"mean", one.mean_over_places},
                              {"place_difference", one.difference},
                              {"mean_difference", one.difference_over_places}};
  }
  Json json = {{"model", report.cell.model},
               {"task", report.plan.task},
               {"seed", report.plan.seed},
               {"score", ScoreArmsName(report.plan.score)},
               {"samples", report.statistics.samples},
               {"failed_samples", report.failed},
               {"too_long_samples", report.too_long},
               {"adjustment", "Holm, over the comparisons of a measure"},
               {"verdicts", VerdictsJson(report)},
               {"settings", std::move(settings)},
               {"comparisons", std::move(comparisons)},
               {"advice", std::move(advice)},
               {"intervals", std::move(intervals)},
               {"partly_failed_samples", report.partly_failed}};
  for (const MeasureGroups& measure : report.groups) {
    for (Json& group : GroupsJson(measure)) json["groups"].push_back(std::move(group));
  }
  if (!report.chosen_places.empty()) json["chosen_places"] = report.plan.places;
  if (!report.setting_failure.empty()) json["setting_failure"] = report.setting_failure;
  Json answered = AnsweredPlacesJson(report.plan, report.generated);
  if (!answered.empty()) json["answered_place"] = std::move(answered);
  if (!report.generation_mean.empty()) json["generation_score_mean"] = report.generation_mean;
  return json;
}

}  // namespace

std::string SweepJson(const std::vector<CellReport>& reports) {
  Json rows = Json::array();
  Json sweeps = Json::array();
  for (const CellReport& report : reports) {
    for (size_t i = 0; i < report.means.size(); ++i) {
      rows.push_back(RowJson(report, i, reports.size() > 1));
    }
    sweeps.push_back(ReportJson(report));
    // The file's name is only written for several sweeps: a single sweep's output is independent of
    // it.
    if (reports.size() > 1) sweeps.back()["file"] = report.file;
  }
  return Json{{"rows", rows}, {"sweeps", sweeps}}.dump(2, ' ', false,
                                                       Json::error_handler_t::replace) +
         "\n";
}

}  // namespace midscope::cli
