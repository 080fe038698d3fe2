// SPDX-License-Identifier: MIT
// Scores generated text against the reference answers of a task: cuts the part to score and applies
// the metric of a publication.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "data/scorers/answer_text.h"
#include "data/scorers/rouge.h"

namespace midscope {

enum class AnswerMetric {
  kSubstring,             // key-value retrieval
  kSubspan,               // multi-document QA
  kExact,                 // SQuAD's exact match
  kF1,                    // LongBench's and ZeroSCROLLS' QA
  kRougeOfSets,           // ROUGE-L of the package rouge: LongBench's summaries
  kRougeL,                // ROUGE-L of the package rouge-score
  kRougeGeometricMean,    // ZeroSCROLLS' summaries, by the package rouge-score
  kClasses,               // LongBench's trec, lsht
  kRetrieval,             // LongBench's passage retrieval
  kCount,                 // LongBench's passage count
  kCodeSimilarity,        // LongBench's lcc, repobench-p
  kOrderConcordance,      // ZeroSCROLLS' BookSumSort
  kOrder,                 // timeline reorder
  kPercentageSimilarity,  // ZeroSCROLLS' SpaceDigest
  kFirstInteger,          // passkey; the lines task as CREAM scores it
  kLastInteger,           // the lines task as LongChat scores it
  kChoiceLetter,          // ZeroSCROLLS' QuALITY
  kWordRecall,            // needle, with score=word-recall
  kAllSubstrings,         // RULER: the share of the answers that occur
  kLEvalLetter,           // L-Eval's multiple choice
  kLEvalLetters,          // L-Eval's Coursera, with several right choices
  kLEvalNumber,           // L-Eval's GSM100
  kLEvalLine,             // L-Eval's topic retrieval
  kContains,              // NoLiMa: the answer occurs, case-sensitive
};

// Returns the names of all metrics, as used in files and task specs: "subspan, exact, ...".
std::string MetricNames();
// Returns the metric of this name; throws Error (failure), which names `thing`, if unknown.
AnswerMetric ReadMetric(const std::string& thing, std::string_view name);

// How to generate and score an answer. Decoding is greedy, whereas several published scripts use
// the sampling settings of the checkpoint.
struct GenerationRule {
  int64_t new_tokens = 100;
  AnswerCut cut = AnswerCut::kWhole;
  AnswerMetric metric = AnswerMetric::kSubspan;
  // Whether the answers are a user's. Answers that SQuAD's normaliser makes empty ("A", "The",
  // "...") are then compared word by word without it; in published code, any text gets the full
  // subspan score for them.
  bool own_answers = false;
  bool operator==(const GenerationRule&) const = default;
};

// Whether the metric uses SQuAD's normaliser, and this answer is empty after normalisation.
bool IsNormalisedAway(AnswerMetric metric, std::string_view answer);

// Returns the score of the generated text, 0 to 1: the maximum over the answers; for
// kAllSubstrings, the mean. Only kClasses uses `classes`. Throws Error (failure) if the metric
// can't use an answer (e.g. no number in it), std::logic_error if there are no answers.
double ScoreAnswer(const GenerationRule& rule, std::string_view generated,
                   std::span<const std::string> answers, std::span<const std::string> classes = {});

// Returns ROUGE-1, ROUGE-2 and ROUGE-L of the generated text, from whose means over samples
// kRougeGeometricMean is computed. Each is the maximum over the answers, as in the package
// rouge-score. Throws std::logic_error if there are no answers.
RougeScores RougeAnswer(const GenerationRule& rule, std::string_view generated,
                        std::span<const std::string> answers);

}  // namespace midscope
