// SPDX-License-Identifier: MIT
// From the outcomes of samples to a mean a setting and place, each with its interval, and to paired
// differences between settings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/record.h"
#include "probes/statistics.h"

namespace midscope {

// How one sample came out. All [setting, place], row-major; empty where it was not asked for.
struct SampleOutcome {
  int64_t sample = 0;
  std::vector<double> answer_nll;             // nats, summed over the answer's tokens
  std::vector<uint8_t> correct;               // greedy continuation equals the answer
  std::vector<uint8_t> choice_correct = {};   // the right choice is the likeliest
  std::vector<double> generation_score = {};  // 0 to 1, by the task's own scorer
};

// One number for every sample and cell. Those that a sweep has depend on its arms of scoring.
struct OutcomeMeasure {
  std::string name;  // "answer_nll", "accuracy", "choice_accuracy", "generation_score"
  std::string unit;  // "nats"
  std::string description;
  bool higher_is_better = true;
  std::vector<std::vector<double>> values;  // [sample, cell], samples in ascending order
};

// The measures that the outcomes have.
std::vector<OutcomeMeasure> MeasuresOf(std::vector<SampleOutcome> outcomes);

// NaN where a measure was not asked for.
struct CellStatistics {
  int64_t samples = 0;
  double accuracy = 0;  // share of samples; without likelihood the generation arm's score
  Interval accuracy_interval;
  double answer_nll = 0;  // mean, nats
  Interval answer_nll_interval;
  double difference = 0;  // mean of answer_nll minus that of the first setting, sample by sample
  Interval difference_interval;
  double choice_accuracy = 0;
  Interval choice_interval;
  double generation_score = 0;
  Interval generation_interval;
};

// [setting, place]. Sums run over the samples in ascending order, whatever order they came in.
std::vector<CellStatistics> SummariseOutcomes(std::vector<SampleOutcome> outcomes, int64_t settings,
                                              int64_t places, uint64_t seed);

// Record outcome_means: answer_nll, answer_nll_low, answer_nll_high, accuracy, accuracy_low,
// accuracy_high, answer_nll_difference, ..._low, ..._high [setting, place], samples [setting], and
// choice_accuracy, generation_score with theirs where they were asked for.
Record OutcomeMeansRecord(const std::vector<std::string>& settings,
                          const std::vector<int64_t>& places,
                          const std::vector<CellStatistics>& cells);

}  // namespace midscope
