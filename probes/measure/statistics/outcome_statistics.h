// SPDX-License-Identifier: MIT
// Means of samples' outcomes per setting and place, each with its interval, and paired differences
// between settings.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/measure/statistics/outcome_measures.h"

namespace midscope {

// NaN if a measure was not requested, and if no sample was run.
struct CellStatistics {
  int64_t samples = 0;         // on which the setting was run
  int64_t beyond_context = 0;  // of these with a prompt longer than the context
  double accuracy = 0;         // share of samples; without likelihood the generation arm's score
  Interval accuracy_interval;
  double answer_nll = 0;  // mean, nats
  Interval answer_nll_interval;
  // Mean of answer_nll minus that of the first setting, over the samples on which both were run.
  double difference = 0;
  Interval difference_interval;
  double choice_accuracy = 0;
  Interval choice_interval;
  double right_share = 0;
  Interval right_share_interval;
  double generation_score = 0;
  Interval generation_interval;
  // Perplexity in tasks that score running text (AddPerplexity), else NaN.
  double perplexity = kUndefined;
  Interval perplexity_interval = {kUndefined, kUndefined};
};

// Sets the cells' perplexity: exp(sum of answer_nll / sum of answer tokens) over the samples on
// which the setting was run, as over the tokens of one text. Its interval is exp of the ratio's:
// Student's t with the ratio estimator's variance over samples (Cochran, Sampling Techniques,
// 1977, 6.4); NaN for fewer than two samples. `cells` [setting, place]. Nothing is set without
// likelihoods.
void AddPerplexity(std::vector<SampleOutcome> outcomes, int64_t places,
                   std::vector<CellStatistics>& cells);
inline constexpr const char* kPerplexityMethod = "Student's t of the ratio of sums, in nats";

// [setting]: mean wall time per sample of the samples on which it was run; empty if no sample has
// it.
std::vector<double> MeanSettingSeconds(const std::vector<SampleOutcome>& outcomes, size_t settings);

// [setting, place]. Sums run over the samples in ascending order, whatever their order of
// completion.
std::vector<CellStatistics> SummariseOutcomes(std::vector<SampleOutcome> outcomes, int64_t settings,
                                              int64_t places, uint64_t seed);

// The interval's method per measure, "answer_nll" to "Student's t"; for the measures of the
// outcomes and "answer_nll_difference".
std::map<std::string, std::string> CellMethods(const std::vector<SampleOutcome>& outcomes);

inline constexpr const char* kOutcomeMeans = "outcome_means";

// Record outcome_means: answer_nll, answer_nll_low, answer_nll_high, accuracy, accuracy_low,
// accuracy_high, answer_nll_difference, ..._low, ..._high [setting, place], samples [setting], and
// choice_accuracy, right_share, generation_score with theirs if they were requested; beyond_context
// [setting] where a prompt was longer than the context. Attributes answer_nll_interval, ... name
// the intervals' methods.
Record OutcomeMeansRecord(const std::vector<std::string>& settings,
                          const std::vector<int64_t>& places,
                          const std::vector<CellStatistics>& cells,
                          const std::map<std::string, std::string>& methods = {});

}  // namespace midscope
