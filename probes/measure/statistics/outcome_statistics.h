// SPDX-License-Identifier: MIT
// Computes means of the samples' outcomes by setting and place, and paired differences between
// settings, with intervals.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/measure/statistics/outcome_measures.h"

namespace midscope {

// Statistics of one setting at one place. Values are NaN if their measure was not requested or no
// sample was run.
struct CellStatistics {
  int64_t samples = 0;         // samples on which the setting was run
  int64_t beyond_context = 0;  // samples with a prompt beyond the context, of these
  double accuracy = 0;         // share of samples; if text is only generated, its score
  Interval accuracy_interval;
  double answer_nll = 0;  // mean, nats
  Interval answer_nll_interval;
  // Mean difference of answer_nll from the first setting, over samples on which both were run.
  double difference = 0;
  Interval difference_interval;
  double choice_accuracy = 0;
  Interval choice_interval;
  double right_share = 0;
  Interval right_share_interval;
  double generation_score = 0;
  Interval generation_interval;
  // Perplexity, set by AddPerplexity for tasks that score running text; else NaN.
  double perplexity = kUndefined;
  Interval perplexity_interval = {kUndefined, kUndefined};
  // Mean perplexity of documents, set by AddDocumentPerplexity for several documents; else NaN.
  double document_perplexity = kUndefined;
  Interval document_perplexity_interval = {kUndefined, kUndefined};
};

// Sets the cells' perplexity: exp(sum of answer_nll / sum of answer tokens) over the samples on
// which the setting was run, as for the tokens of one text. The interval is exp of the interval of
// that ratio, by Student's t with the variance of the ratio estimator over samples (Cochran,
// Sampling Techniques, 1977, 6.4); NaN for fewer than two samples. `cells`: [setting, place]. No
// effect without likelihoods.
void AddPerplexity(std::vector<SampleOutcome> outcomes, int64_t places,
                   std::vector<CellStatistics>& cells);
inline constexpr const char* kPerplexityMethod = "Student's t of the ratio of sums, in nats";

// Returns the mean wall time per sample, [setting], over the samples on which the setting was run;
// empty if no sample has a wall time.
std::vector<double> MeanSettingSeconds(const std::vector<SampleOutcome>& outcomes, size_t settings);

// Returns the statistics of cells [setting, place]. Sums over the samples in ascending order,
// independent of the order in which they finished.
std::vector<CellStatistics> SummariseOutcomes(std::vector<SampleOutcome> outcomes, int64_t settings,
                                              int64_t places, uint64_t seed);

// Returns the method of the interval by measure ("answer_nll": "Student's t"), for the measures of
// the outcomes and "answer_nll_difference".
std::map<std::string, std::string> CellMethods(const std::vector<SampleOutcome>& outcomes);

inline constexpr const char* kOutcomeMeans = "outcome_means";
// Name of an array that only the engine adds to outcome_means: answer_nll by sample
// (merged_means.h).
inline constexpr const char* kNllBySample = "answer_nll_by_sample";

// Makes record outcome_means: answer_nll, answer_nll_low, answer_nll_high, accuracy, accuracy_low,
// accuracy_high, answer_nll_difference, ..._low, ..._high [setting, place], samples [setting], and,
// if requested, choice_accuracy, right_share and generation_score with their intervals;
// beyond_context [setting] if prompts exceeded the context. Attributes answer_nll_interval, ...
// name the methods of the intervals.
Record OutcomeMeansRecord(const std::vector<std::string>& settings,
                          const std::vector<int64_t>& places,
                          const std::vector<CellStatistics>& cells,
                          const std::map<std::string, std::string>& methods = {});

}  // namespace midscope
