// SPDX-License-Identifier: MIT
#include "probes/outcome_statistics.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "probes/record_axes.h"

namespace midscope {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// How a number is called, of a sample as of the mean over samples.
struct Described {
  const char* name;
  const char* unit;
  const char* description;
};

constexpr Described kAnswerNll = {
    "answer_nll", "nats", "mean negative log-likelihood of the answer, summed over its tokens"};
constexpr Described kAccuracy = {"accuracy", "",
                                 "share of samples whose greedy continuation equals the answer"};
constexpr Described kChoiceAccuracy = {
    "choice_accuracy", "", "share of samples whose right choice is likelier than the others"};
constexpr Described kGenerationScore = {
    "generation_score", "", "mean score of the generated text, by the task's own scorer"};

template <typename T>
void AddMeasure(const std::vector<SampleOutcome>& outcomes, std::vector<T> SampleOutcome::*member,
                const Described& described, bool higher_is_better,
                std::vector<OutcomeMeasure>& measures) {
  if (outcomes.empty() || (outcomes.front().*member).empty()) return;
  OutcomeMeasure measure{
      described.name, described.unit, described.description, higher_is_better, {}};
  measure.values.reserve(outcomes.size());
  for (const SampleOutcome& outcome : outcomes) {
    const std::vector<T>& cells = outcome.*member;
    measure.values.emplace_back(cells.begin(), cells.end());
  }
  measures.push_back(std::move(measure));
}

const OutcomeMeasure* Find(const std::vector<OutcomeMeasure>& measures,
                           const Described& described) {
  for (const OutcomeMeasure& measure : measures) {
    if (measure.name == described.name) return &measure;
  }
  return nullptr;
}

// Of one cell, or of its differences to another one.
struct MeanWithInterval {
  double mean = kNone;
  Interval interval{kNone, kNone};
};

MeanWithInterval CellMean(const OutcomeMeasure* measure, size_t cell, uint64_t seed,
                          std::optional<size_t> less = std::nullopt) {
  if (!measure) return {};
  std::vector<double> values;
  values.reserve(measure->values.size());
  for (const std::vector<double>& sample : measure->values) {
    values.push_back(sample[cell] - (less ? sample[*less] : 0));
  }
  return {Mean(values), BootstrapMeanInterval(values, seed)};
}

}  // namespace

std::vector<OutcomeMeasure> MeasuresOf(std::vector<SampleOutcome> outcomes) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const SampleOutcome& a, const SampleOutcome& b) { return a.sample < b.sample; });
  std::vector<OutcomeMeasure> measures;
  AddMeasure(outcomes, &SampleOutcome::answer_nll, kAnswerNll, false, measures);
  AddMeasure(outcomes, &SampleOutcome::correct, kAccuracy, true, measures);
  AddMeasure(outcomes, &SampleOutcome::choice_correct, kChoiceAccuracy, true, measures);
  AddMeasure(outcomes, &SampleOutcome::generation_score, kGenerationScore, true, measures);
  return measures;
}

std::vector<CellStatistics> SummariseOutcomes(std::vector<SampleOutcome> outcomes, int64_t settings,
                                              int64_t places, uint64_t seed) {
  const auto samples = static_cast<int64_t>(outcomes.size());
  const std::vector<OutcomeMeasure> measures = MeasuresOf(std::move(outcomes));
  const OutcomeMeasure* nll = Find(measures, kAnswerNll);
  const OutcomeMeasure* choice = Find(measures, kChoiceAccuracy);
  const OutcomeMeasure* generation = Find(measures, kGenerationScore);
  const OutcomeMeasure* correct = Find(measures, kAccuracy);
  const OutcomeMeasure* accuracy = correct ? correct : generation;
  std::vector<CellStatistics> cells(static_cast<size_t>(settings * places));
  for (size_t i = 0; i < cells.size(); ++i) {
    CellStatistics& cell = cells[i];
    cell.samples = samples;
    const auto put = [](const MeanWithInterval& from, double& mean, Interval& interval) {
      mean = from.mean;
      interval = from.interval;
    };
    put(CellMean(accuracy, i, seed), cell.accuracy, cell.accuracy_interval);
    put(CellMean(nll, i, seed), cell.answer_nll, cell.answer_nll_interval);
    put(CellMean(nll, i, seed, i % static_cast<size_t>(places)), cell.difference,
        cell.difference_interval);
    put(CellMean(choice, i, seed), cell.choice_accuracy, cell.choice_interval);
    put(CellMean(generation, i, seed), cell.generation_score, cell.generation_interval);
  }
  return cells;
}

namespace {

struct MeanArray {
  Described described;
  double CellStatistics::*mean;
  Interval CellStatistics::*interval;
  bool always;  // also where it was not asked for
};

constexpr MeanArray kMeanArrays[] = {
    {kAnswerNll, &CellStatistics::answer_nll, &CellStatistics::answer_nll_interval, true},
    {kAccuracy, &CellStatistics::accuracy, &CellStatistics::accuracy_interval, true},
    {{"answer_nll_difference", "nats", "mean paired difference of answer_nll to the first setting"},
     &CellStatistics::difference,
     &CellStatistics::difference_interval,
     true},
    {kChoiceAccuracy, &CellStatistics::choice_accuracy, &CellStatistics::choice_interval, false},
    {kGenerationScore, &CellStatistics::generation_score, &CellStatistics::generation_interval,
     false},
};

}  // namespace

Record OutcomeMeansRecord(const std::vector<std::string>& settings,
                          const std::vector<int64_t>& places,
                          const std::vector<CellStatistics>& cells) {
  Record record;
  record.name = "outcome_means";
  record.axes = {LabelledAxis("setting", settings), ValuedAxis("place", places)};
  record.axes.back().unit = "rank";
  const auto add = [&](const std::string& name, const char* unit, const char* description,
                       const std::function<double(const CellStatistics&)>& value) {
    std::vector<double> values;
    values.reserve(cells.size());
    for (const CellStatistics& cell : cells) values.push_back(value(cell));
    record.arrays.push_back({name, {"setting", "place"}, std::move(values), unit, description});
  };
  for (const MeanArray& array : kMeanArrays) {
    const bool asked = std::any_of(cells.begin(), cells.end(), [&](const CellStatistics& cell) {
      return std::isfinite(cell.*array.mean);
    });
    if (!asked && !array.always) continue;
    const auto& [name, unit, description] = array.described;
    add(name, unit, description, [&](const CellStatistics& cell) { return cell.*array.mean; });
    add(std::string(name) + "_low", unit, "lower end of the 95 % bootstrap interval",
        [&](const CellStatistics& cell) { return (cell.*array.interval).low; });
    add(std::string(name) + "_high", unit, "upper end of the 95 % bootstrap interval",
        [&](const CellStatistics& cell) { return (cell.*array.interval).high; });
  }
  std::vector<int64_t> samples(settings.size(), cells.empty() ? 0 : cells.front().samples);
  record.arrays.push_back({"samples", {"setting"}, std::move(samples), "", "samples in the means"});
  record.signal = kAnswerNll.name;
  return record;
}

}  // namespace midscope
