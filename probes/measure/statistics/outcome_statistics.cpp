// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/outcome_statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/record_names.h"
#include "probes/base/records.h"
#include "probes/measure/statistics/intervals.h"

namespace midscope {
namespace {

const OutcomeMeasure* Find(const std::vector<OutcomeMeasure>& measures, const std::string& name) {
  for (const OutcomeMeasure& measure : measures) {
    if (measure.name == name) return &measure;
  }
  return nullptr;
}

// Returns the measure that is used as accuracy: without likelihoods, the generation score.
const OutcomeMeasure* FindAccuracy(const std::vector<OutcomeMeasure>& measures) {
  const OutcomeMeasure* accuracy = Find(measures, "accuracy");
  return accuracy ? accuracy : Find(measures, "generation_score");
}

}  // namespace

std::vector<CellStatistics> SummariseOutcomes(std::vector<SampleOutcome> outcomes, int64_t settings,
                                              int64_t places, uint64_t seed) {
  const auto count = static_cast<size_t>(places);
  std::vector<CellStatistics> cells(static_cast<size_t>(settings) * count);
  for (size_t i = 0; i < cells.size(); ++i) {
    for (const SampleOutcome& outcome : outcomes) {
      if (!outcome.Ran(i / count)) continue;
      ++cells[i].samples;
      const bool beyond = !outcome.beyond_context.empty() && outcome.beyond_context[i / count] != 0;
      cells[i].beyond_context += beyond ? 1 : 0;
    }
  }
  const std::vector<OutcomeMeasure> measures = MeasuresOf(std::move(outcomes));
  const OutcomeMeasure* nll = Find(measures, kAnswerNll);
  const auto put = [](const MeanWithInterval& from, double& mean, Interval& interval) {
    mean = from.mean;
    interval = from.interval;
  };
  const auto rows = [&](const OutcomeMeasure& measure, size_t cell, size_t setting, size_t with) {
    return RowsOf(measure, setting, count, cell % count, 1, {with});
  };
  const auto mean = [&](const OutcomeMeasure* measure, size_t cell) -> MeanWithInterval {
    if (!measure) return {kUndefined, {kUndefined, kUndefined}};
    return MeanOf(rows(*measure, cell, cell / count, cell / count), seed);
  };
  for (size_t i = 0; i < cells.size(); ++i) {
    CellStatistics& cell = cells[i];
    put(mean(FindAccuracy(measures), i), cell.accuracy, cell.accuracy_interval);
    put(mean(nll, i), cell.answer_nll, cell.answer_nll_interval);
    put(mean(Find(measures, "choice_accuracy"), i), cell.choice_accuracy, cell.choice_interval);
    put(mean(Find(measures, "right_share"), i), cell.right_share, cell.right_share_interval);
    put(mean(Find(measures, "generation_score"), i), cell.generation_score,
        cell.generation_interval);
    MeanWithInterval difference{kUndefined, {kUndefined, kUndefined}};
    if (nll)
      difference = DifferenceOf(rows(*nll, i, i / count, 0), rows(*nll, i, 0, i / count), seed);
    put(difference, cell.difference, cell.difference_interval);
  }
  return cells;
}

void AddPerplexity(std::vector<SampleOutcome> outcomes, int64_t places,
                   std::vector<CellStatistics>& cells) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const auto& a, const auto& b) { return a.sample < b.sample; });
  const auto count = static_cast<size_t>(places);
  for (size_t i = 0; i < cells.size(); ++i) {
    std::vector<double> nats;
    std::vector<double> tokens;
    for (const SampleOutcome& outcome : outcomes) {
      if (outcome.answer_nll.empty() || outcome.answer_tokens.empty()) return;
      if (!outcome.Ran(i / count)) continue;
      nats.push_back(outcome.answer_nll[i]);
      tokens.push_back(static_cast<double>(outcome.answer_tokens[i % count]));
    }
    if (nats.empty()) continue;
    const double mean_tokens = Mean(tokens);
    const double ratio = Mean(nats) / mean_tokens;
    cells[i].perplexity = std::exp(ratio);
    std::vector<double> beyond(nats.size());
    for (size_t j = 0; j < nats.size(); ++j)
      beyond[j] = (nats[j] - ratio * tokens[j]) / mean_tokens;
    const Interval interval = MeanInterval(beyond);
    cells[i].perplexity_interval = {std::exp(std::max(0.0, ratio + interval.low)),
                                    std::exp(ratio + interval.high)};
  }
}

std::vector<double> MeanSettingSeconds(const std::vector<SampleOutcome>& outcomes,
                                       size_t settings) {
  std::vector<double> means;
  for (size_t i = 0; i < settings; ++i) {
    std::vector<double> seconds;
    for (const SampleOutcome& outcome : outcomes) {
      if (outcome.setting_seconds.empty()) return {};
      if (outcome.Ran(i)) seconds.push_back(outcome.setting_seconds[i]);
    }
    means.push_back(seconds.empty() ? kUndefined : Mean(seconds));
  }
  return outcomes.empty() ? std::vector<double>() : means;
}

std::map<std::string, std::string> CellMethods(const std::vector<SampleOutcome>& outcomes) {
  std::map<std::string, std::string> methods;
  const std::vector<OutcomeMeasure> measures = MeasuresOf(outcomes);
  for (const OutcomeMeasure& measure : measures) {
    methods[measure.name] = MeanMethod(measure.kind, false);
    if (measure.name == kAnswerNll) {
      methods["answer_nll_difference"] = DifferenceMethod(measure.kind, false);
    }
  }
  if (const OutcomeMeasure* accuracy = FindAccuracy(measures)) {
    methods["accuracy"] = MeanMethod(accuracy->kind, false);
  }
  return methods;
}

namespace {

struct MeanArray {
  const char* name;
  const char* unit;
  const char* description;
  double CellStatistics::*mean;
  Interval CellStatistics::*interval;
  bool always;  // whether the array exists even if its measure was not requested
};

constexpr MeanArray kMeanArrays[] = {
    {kAnswerNll, "nats", "mean negative log-likelihood of the answer, summed over its tokens",
     &CellStatistics::answer_nll, &CellStatistics::answer_nll_interval, true},
    {"accuracy", "", "share of samples whose greedy continuation equals the answer",
     &CellStatistics::accuracy, &CellStatistics::accuracy_interval, true},
    {"answer_nll_difference", "nats", "mean paired difference of answer_nll to the first setting",
     &CellStatistics::difference, &CellStatistics::difference_interval, true},
    {"choice_accuracy", "", "share of samples whose right choice is likelier than the others",
     &CellStatistics::choice_accuracy, &CellStatistics::choice_interval, false},
    {"perplexity", "", "exp of the answers' nats per token, over all tokens of the samples",
     &CellStatistics::perplexity, &CellStatistics::perplexity_interval, false},
    {"document_perplexity", "", "mean over documents of exp of the document's nats per token",
     &CellStatistics::document_perplexity, &CellStatistics::document_perplexity_interval, false},
    {"right_share", "", "mean share of the choices' likelihood that the right ones have",
     &CellStatistics::right_share, &CellStatistics::right_share_interval, false},
    {"generation_score", "", "mean score of the generated text, by the task's own scorer",
     &CellStatistics::generation_score, &CellStatistics::generation_interval, false},
};

}  // namespace

Record OutcomeMeansRecord(const std::vector<std::string>& settings,
                          const std::vector<int64_t>& places,
                          const std::vector<CellStatistics>& cells,
                          const std::map<std::string, std::string>& methods) {
  Record record;
  record.name = kOutcomeMeans;
  record.axes = {LabelledAxis("setting", settings), ValuedAxis("place", places)};
  record.axes.back().unit = "rank";
  const auto add = [&](const std::string& name, const char* unit, const std::string& description,
                       const auto& value) {
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
    const auto method = methods.find(array.name);
    const std::string how = method == methods.end() ? "" : ": " + method->second;
    add(array.name, array.unit, array.description,
        [&](const CellStatistics& cell) { return cell.*array.mean; });
    add(std::string(array.name) + "_low", array.unit, "lower end of the 95 % interval" + how,
        [&](const CellStatistics& cell) { return (cell.*array.interval).low; });
    add(std::string(array.name) + "_high", array.unit, "upper end of the 95 % interval" + how,
        [&](const CellStatistics& cell) { return (cell.*array.interval).high; });
    if (method != methods.end()) {
      record.attributes[std::string(array.name) + "_interval"] = method->second;
    }
  }
  std::vector<int64_t> samples(settings.size());
  std::vector<int64_t> beyond(settings.size());
  for (size_t i = 0; i < settings.size() && !places.empty(); ++i) {
    samples[i] = cells[i * places.size()].samples;
    beyond[i] = cells[i * places.size()].beyond_context;
  }
  record.arrays.push_back({"samples", {"setting"}, std::move(samples), "", "samples in the means"});
  if (std::any_of(beyond.begin(), beyond.end(), [](int64_t count) { return count > 0; })) {
    record.arrays.push_back({"beyond_context",
                             {"setting"},
                             std::move(beyond),
                             "",
                             "of these, samples with a prompt that the context does not hold"});
  }
  record.signal = kAnswerNll;
  return record;
}

}  // namespace midscope
