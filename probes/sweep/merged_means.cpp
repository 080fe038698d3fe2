// SPDX-License-Identifier: MIT
#include "probes/sweep/merged_means.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/outcome_statistics.h"
#include "probes/sweep/plan_texts.h"
#include "probes/sweep/sweep.h"

namespace midscope {

namespace {

// Reads a scan from JSON that PlanJson wrote.
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
    throw Failure("scan", "its items do not match its settings", "Run the scan again");
  return scan;
}

// Parses the plan of the file `path`. Throws Error (failure).
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
    plan.task_files_hash = json.value(kTaskFilesHash, "");
    plan.task_file_bytes = json.value(kTaskFileBytes, int64_t{0});
    plan.task_places = json.value("task_places", int64_t{0});
    plan.source_prompts = json.value("source_prompts", plan.source_prompts);
    for (const ScoreArms arms : {ScoreArms{true, false}, {false, true}, {true, true}}) {
      if (ScoreArmsName(arms) == json.value("score", ScoreArmsName({}))) plan.score = arms;
    }
    plan.format = ReadPromptFormat(json);
    if (json.contains("scan")) plan.scan = ReadScan(json.at("scan"), plan.settings.size());
    return plan;
  } catch (const nlohmann::json::exception&) {
    throw Failure(path, plan_json.empty() ? "has no plan of a sweep" : "its plan is damaged",
                  "Give a file of midscope sweep or scan");
  }
}

// Sets the printed texts of settings and places to those in the file.
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

namespace {

// Returns the statistics of a cell without samples.
CellStatistics Undefined() {
  CellStatistics cell;
  cell.difference = kUndefined;
  cell.difference_interval = {kUndefined, kUndefined};
  return cell;
}

// Appends row `row` of `from`, whose first axis is `setting`, to `to`.
void AppendSetting(const Record& from, size_t row, Record& to) {
  for (Array& array : to.arrays) {
    const Array* source = from.FindArray(array.name);
    const bool by_setting = !array.axes.empty() && array.axes.front() == "setting";
    if (!source || !by_setting || source->data.index() != array.data.index()) continue;
    std::visit(
        [&](auto& values) {
          const auto& more = std::get<std::decay_t<decltype(values)>>(source->data);
          const size_t width = more.size() / static_cast<size_t>(from.FindAxis("setting")->size);
          const auto first = more.begin() + static_cast<std::ptrdiff_t>(row * width);
          values.insert(values.end(), first, first + static_cast<std::ptrdiff_t>(width));
        },
        array.data);
  }
  for (Axis& axis : to.axes) {
    if (axis.name != "setting") continue;
    ++axis.size;
    axis.labels.push_back(from.FindAxis("setting")->labels.at(row));
  }
}

// The samples of one setting in a kept comparison.
struct SamplesOf {
  const Comparison* comparison = nullptr;  // null: not found
  size_t setting = 0;
};

SamplesOf FindIn(const Comparison& comparison, const std::string& setting) {
  const std::vector<std::string> texts = comparison.plan.CanonicalSettings();
  const auto found = std::find(texts.begin(), texts.end(), setting);
  if (found == texts.end()) return {};
  return {&comparison, static_cast<size_t>(found - texts.begin())};
}

SamplesOf FindSamples(const std::map<std::string, Comparison>& comparisons,
                      const Comparison& running, const std::string& setting) {
  if (const SamplesOf found = FindIn(running, setting); found.comparison) return found;
  for (const auto& [key, comparison] : comparisons) {
    const bool same = comparison.plan.places == running.plan.places &&
                      comparison.result.done() >= running.result.done();
    if (!same) continue;
    if (const SamplesOf found = FindIn(comparison, setting); found.comparison) return found;
  }
  return {};
}

const SampleOutcome* OutcomeOf(const Comparison& comparison, int64_t sample) {
  const auto& outcomes = comparison.result.outcomes;
  const auto found =
      std::find_if(outcomes.begin(), outcomes.end(),
                   [sample](const SampleOutcome& outcome) { return outcome.sample == sample; });
  return found == outcomes.end() ? nullptr : &*found;
}

// Returns a sample's outcome in a sweep of two settings; nullopt if it was not run under both.
std::optional<SampleOutcome> PairOf(const SamplesOf& first, const SamplesOf& second,
                                    int64_t sample) {
  SampleOutcome pair;
  pair.sample = sample;
  for (const SamplesOf& one : {first, second}) {
    const SampleOutcome* outcome = OutcomeOf(*one.comparison, sample);
    if (!outcome || !outcome->Ran(one.setting) || outcome->answer_nll.empty()) return std::nullopt;
    const size_t places = one.comparison->plan.places.size();
    const size_t begin = one.setting * places;
    for (size_t place = begin; place < begin + places; ++place) {
      pair.answer_nll.push_back(outcome->answer_nll.at(place));
      pair.correct.push_back(outcome->correct.at(place));
    }
  }
  return pair;
}

// Returns the statistics of the differences, second setting minus first, [place].
std::vector<CellStatistics> PairedCells(const SamplesOf& first, const SamplesOf& second,
                                        const Comparison& running) {
  std::vector<SampleOutcome> pairs;
  for (const SampleOutcome& outcome : running.result.outcomes) {
    if (auto pair = PairOf(first, second, outcome.sample)) pairs.push_back(std::move(*pair));
  }
  const auto places = static_cast<int64_t>(running.plan.places.size());
  if (pairs.empty()) return std::vector<CellStatistics>(static_cast<size_t>(places), Undefined());
  std::vector<CellStatistics> cells =
      SummariseOutcomes(std::move(pairs), 2, places, running.plan.seed);
  cells.erase(cells.begin(), cells.begin() + places);
  return cells;
}

}  // namespace

void SetDifferences(const std::map<std::string, Comparison>& comparisons,
                    const Comparison& comparison, const Intervention& against, Record& means) {
  const std::string text = PrintIntervention(against);
  const SamplesOf first = FindSamples(comparisons, comparison, text);
  const Axis* axis = means.FindAxis("setting");
  if (!first.comparison || !axis) return;
  std::vector<double> values[3];
  for (const std::string& label : axis->labels) {
    const SamplesOf second = FindSamples(comparisons, comparison, label);
    const std::vector<CellStatistics> cells =
        second.comparison ? PairedCells(first, second, comparison)
                          : std::vector<CellStatistics>(comparison.plan.places.size(), Undefined());
    for (const CellStatistics& cell : cells) {
      values[0].push_back(cell.difference);
      values[1].push_back(cell.difference_interval.low);
      values[2].push_back(cell.difference_interval.high);
    }
  }
  const char* names[] = {"answer_nll_difference", "answer_nll_difference_low",
                         "answer_nll_difference_high"};
  for (size_t i = 0; i < std::size(names); ++i) {
    for (Array& array : means.arrays) {
      if (array.name == names[i]) array.data = values[i];
    }
  }
  means.attributes["against"] = text;
}

void AddSamples(const std::map<std::string, Comparison>& comparisons, const Comparison& comparison,
                Record& means) {
  const size_t places = comparison.plan.places.size();
  std::vector<int64_t> samples;
  samples.reserve(comparison.result.outcomes.size());
  for (const SampleOutcome& outcome : comparison.result.outcomes) samples.push_back(outcome.sample);
  const std::vector<std::string>& settings = means.FindAxis("setting")->labels;
  std::vector<double> values;
  values.reserve(settings.size() * samples.size() * places);
  for (const std::string& label : settings) {
    const SamplesOf found = FindSamples(comparisons, comparison, label);
    for (const int64_t sample : samples) {
      const auto pair =
          found.comparison ? PairOf(found, found, sample) : std::optional<SampleOutcome>();
      for (size_t place = 0; place < places; ++place)
        values.push_back(pair ? pair->answer_nll[place] : kUndefined);
    }
  }
  means.axes.push_back(ValuedAxis("sample", samples));
  means.arrays.push_back({kNllBySample,
                          {"setting", "sample", "place"},
                          std::move(values),
                          "nats",
                          "negative log-likelihood of the answer of each sample"});
}

SweepResult FirstSamples(SweepResult result, int64_t samples) {
  std::erase_if(result.outcomes, [&](const auto& outcome) { return outcome.sample >= samples; });
  std::erase_if(result.failures, [&](const auto& failure) { return failure.first >= samples; });
  return result;
}

void AddMeansBeside(const std::map<std::string, Comparison>& comparisons,
                    const std::vector<Intervention>& beside, int64_t samples,
                    const std::vector<int64_t>& places, Record& means) {
  for (const Intervention& setting : beside) {
    for (const auto& [key, comparison] : comparisons) {
      if (comparison.plan.places != places) continue;
      const auto& settings = comparison.plan.settings;
      const auto found = std::find_if(
          settings.begin(), settings.end(),
          [&setting](const SweepSetting& known) { return known.intervention == setting; });
      if (found == settings.end() || comparison.result.done() < samples) continue;
      const SweepResult same = FirstSamples(comparison.result, samples);
      if (same.outcomes.empty()) continue;
      AppendSetting(MeansRecord(comparison.plan, same),
                    static_cast<size_t>(found - settings.begin()), means);
      break;
    }
  }
}

}  // namespace midscope
