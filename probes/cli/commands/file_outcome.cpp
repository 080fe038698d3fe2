// SPDX-License-Identifier: MIT
#include "probes/cli/commands/file_outcome.h"

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/base/record.h"
#include "core/base/record_names.h"
#include "core/terms/intervention_text.h"
#include "data/sweep/plan_difference.h"
#include "probes/measure/statistics/document_perplexity.h"
#include "probes/measure/statistics/group_means.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/sweep_statistics.h"

namespace midscope::cli {
namespace {

// Returns the `count` numbers of an array; empty if the record has no such array of that size.
std::vector<double> NumbersOf(const Record& record, const std::string& name, size_t count) {
  const Array* array = record.FindArray(name);
  const auto* values = array ? std::get_if<std::vector<double>>(&array->data) : nullptr;
  return values && values->size() == count ? *values : std::vector<double>();
}

// Returns the intervals in arrays NAME_low and NAME_high; NaN if the record lacks them.
std::vector<Interval> IntervalsOf(const Record& record, const std::string& name, size_t count) {
  const std::vector<double> low = NumbersOf(record, name + "_low", count);
  const std::vector<double> high = NumbersOf(record, name + "_high", count);
  std::vector<Interval> intervals(count, {kUndefined, kUndefined});
  if (low.empty() || high.empty()) return intervals;
  for (size_t i = 0; i < count; ++i) intervals[i] = {low[i], high[i]};
  return intervals;
}

// Reads the means over places, and the means by data set.
void AddMeans(const RunReader& reader, FileOutcome& outcome) {
  const size_t settings = outcome.settings.size();
  outcome.mean.assign(settings, kUndefined);
  outcome.mean_interval.assign(settings, {kUndefined, kUndefined});
  if (reader.Has(kSettingStatistics)) {
    const Record statistics = reader.Read(kSettingStatistics);
    const std::string name = outcome.answered_measure + "_mean";
    const std::vector<double> means = NumbersOf(statistics, name, settings);
    if (!means.empty()) outcome.mean = means;
    outcome.mean_interval = IntervalsOf(statistics, name, settings);
  }
  if (!reader.Has(kGroupMeans)) return;
  const Record groups = reader.Read(kGroupMeans);
  const Axis* axis = groups.FindAxis("group");
  if (!axis) return;
  const std::vector<double> means =
      NumbersOf(groups, outcome.answered_measure, axis->labels.size() * settings);
  for (size_t i = 0; !means.empty() && i < axis->labels.size(); ++i) {
    const std::string& label = axis->labels[i];
    const auto begin = means.begin() + static_cast<std::ptrdiff_t>(i * settings);
    outcome.sets[label.substr(label.rfind('/') + 1)] = {
        begin, begin + static_cast<std::ptrdiff_t>(settings)};
  }
}

}  // namespace

int64_t FileOutcome::Cell(const std::string& setting, int64_t place) const {
  const auto row = std::find_if(settings.begin(), settings.end(), [&](const std::string& other) {
    return SameSetting(other, setting);
  });
  const auto column = std::find(places.begin(), places.end(), place);
  if (row == settings.end() || column == places.end()) return -1;
  return (row - settings.begin()) * static_cast<int64_t>(places.size()) + (column - places.begin());
}

nlohmann::json PlanOf(const RunReader& reader) {
  nlohmann::json plan = nlohmann::json::parse(reader.plan_json(), nullptr, false);
  return plan.is_object() ? plan : nlohmann::json::object();
}

bool HasOutcome(const RunReader& reader) { return reader.Has(kOutcomeMeans); }

FileOutcome ReadFileOutcome(const RunReader& reader) {
  if (!HasOutcome(reader)) {
    throw Failure(reader.path(), "does not contain means over samples",
                  "Give a file of midscope sweep");
  }
  const Record means = reader.Read(kOutcomeMeans);
  const Axis* settings = means.FindAxis("setting");
  const Axis* places = means.FindAxis("place");
  const Array* accuracy = means.FindArray("accuracy");
  const Array* nll = means.FindArray(kAnswerNll);
  const auto* accuracy_values =
      accuracy ? std::get_if<std::vector<double>>(&accuracy->data) : nullptr;
  const auto* nll_values = nll ? std::get_if<std::vector<double>>(&nll->data) : nullptr;
  const size_t cells = settings && places ? settings->labels.size() * places->values.size() : 0;
  if (cells == 0 || !accuracy_values || !nll_values || accuracy_values->size() != cells ||
      nll_values->size() != cells) {
    throw Failure(reader.path(), "its means have another form than this version reads");
  }
  FileOutcome outcome;
  const nlohmann::json plan = PlanOf(reader);
  if (plan.contains("task") && plan["task"].is_string()) outcome.task = plan["task"];
  outcome.asked = outcome.task;
  const nlohmann::json task = ComparablePlan(plan).value("task", nlohmann::json());
  if (task != plan.value("task", nlohmann::json()))
    outcome.asked = task.dump() + plan["task_files_hash"].get<std::string>();
  if (plan.contains("seed") && plan["seed"].is_number_integer()) outcome.seed = plan["seed"];
  const Array* names = means.FindArray("place_text");
  const auto* texts = names ? std::get_if<std::vector<std::string>>(&names->data) : nullptr;
  if (texts && texts->size() == places->values.size()) outcome.place_texts = *texts;
  outcome.bos = AttributeText(means, "bos");
  outcome.chat_template = AttributeText(means, "chat_template");
  outcome.settings = settings->labels;
  outcome.places.assign(places->values.begin(), places->values.end());
  outcome.accuracy = *accuracy_values;
  outcome.answer_nll = *nll_values;
  outcome.answered = outcome.accuracy;
  for (const char* name : {"right_share", "choice_accuracy", "generation_score"}) {
    const std::vector<double> scores = NumbersOf(means, name, cells);
    if (scores.empty()) continue;
    outcome.answered = scores;
    outcome.answered_measure = name;
  }
  outcome.answered_interval = IntervalsOf(means, outcome.answered_measure, cells);
  outcome.perplexity = NumbersOf(means, "perplexity", cells);
  outcome.perplexity_interval = IntervalsOf(means, "perplexity", cells);
  outcome.document_perplexity = NumbersOf(means, kDocumentPerplexity, cells);
  outcome.document_perplexity_interval = IntervalsOf(means, kDocumentPerplexity, cells);
  outcome.seconds = NumbersOf(means, kSettingSeconds, settings->labels.size());
  if (plan.contains("recipe")) {
    outcome.recipe = ParseTuningRecipe(plan["recipe"].dump(), reader.path());
  }
  AddMeans(reader, outcome);
  const Array* samples = means.FindArray("samples");
  const auto* counts = samples ? std::get_if<std::vector<int64_t>>(&samples->data) : nullptr;
  if (counts && !counts->empty()) outcome.samples = counts->front();
  return outcome;
}

std::vector<FileOutcome> ReadFileOutcomes(const std::vector<RunReader>& readers) {
  std::vector<FileOutcome> outcomes;
  outcomes.reserve(readers.size());
  for (const RunReader& reader : readers) outcomes.push_back(ReadFileOutcome(reader));
  return outcomes;
}

}  // namespace midscope::cli
