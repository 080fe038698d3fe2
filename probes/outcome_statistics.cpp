// SPDX-License-Identifier: MIT
#include "probes/outcome_statistics.h"

#include <algorithm>
#include <functional>

#include "probes/record_axes.h"

namespace midscope {

std::vector<CellStatistics> SummariseOutcomes(std::vector<SampleOutcome> outcomes, int64_t settings,
                                              int64_t places, uint64_t seed) {
  std::sort(outcomes.begin(), outcomes.end(),
            [](const SampleOutcome& a, const SampleOutcome& b) { return a.sample < b.sample; });
  std::vector<CellStatistics> cells(static_cast<size_t>(settings * places));
  for (size_t cell = 0; cell < cells.size(); ++cell) {
    const size_t first_setting = cell % static_cast<size_t>(places);
    std::vector<double> nll;
    std::vector<double> correct;
    std::vector<double> difference;
    for (const SampleOutcome& outcome : outcomes) {
      nll.push_back(outcome.answer_nll[cell]);
      correct.push_back(outcome.correct[cell]);
      difference.push_back(outcome.answer_nll[cell] - outcome.answer_nll[first_setting]);
    }
    cells[cell] = {static_cast<int64_t>(outcomes.size()),  Mean(correct),
                   BootstrapMeanInterval(correct, seed),   Mean(nll),
                   BootstrapMeanInterval(nll, seed),       Mean(difference),
                   BootstrapMeanInterval(difference, seed)};
  }
  return cells;
}

Record OutcomeMeansRecord(const std::vector<std::string>& settings,
                          const std::vector<int64_t>& places,
                          const std::vector<CellStatistics>& cells) {
  Record record;
  record.name = "outcome_means";
  record.axes = {LabelledAxis("setting", settings), ValuedAxis("place", places)};
  record.axes.back().unit = "rank";
  const auto add = [&](const char* name, const char* unit, const char* description,
                       const std::function<double(const CellStatistics&)>& value) {
    std::vector<double> values;
    values.reserve(cells.size());
    for (const CellStatistics& cell : cells) values.push_back(value(cell));
    record.arrays.push_back({name, {"setting", "place"}, std::move(values), unit, description});
  };
  using Cell = CellStatistics;
  const char* low = "lower end of the 95 % bootstrap interval";
  const char* high = "upper end of the 95 % bootstrap interval";
  add("answer_nll", "nats", "mean negative log-likelihood of the answer, summed over its tokens",
      [](const Cell& c) { return c.answer_nll; });
  add("answer_nll_low", "nats", low, [](const Cell& c) { return c.answer_nll_interval.low; });
  add("answer_nll_high", "nats", high, [](const Cell& c) { return c.answer_nll_interval.high; });
  add("accuracy", "", "share of samples whose greedy continuation equals the answer",
      [](const Cell& c) { return c.accuracy; });
  add("accuracy_low", "", low, [](const Cell& c) { return c.accuracy_interval.low; });
  add("accuracy_high", "", high, [](const Cell& c) { return c.accuracy_interval.high; });
  add("answer_nll_difference", "nats", "mean paired difference of answer_nll to the first setting",
      [](const Cell& c) { return c.difference; });
  add("answer_nll_difference_low", "nats", low,
      [](const Cell& c) { return c.difference_interval.low; });
  add("answer_nll_difference_high", "nats", high,
      [](const Cell& c) { return c.difference_interval.high; });
  std::vector<int64_t> samples(settings.size(), cells.empty() ? 0 : cells.front().samples);
  record.arrays.push_back({"samples", {"setting"}, std::move(samples), "", "samples in the means"});
  record.signal = "answer_nll";
  return record;
}

}  // namespace midscope
