// SPDX-License-Identifier: MIT
// Scores generated text against the answers of a task: selects the part to score and a published
// measure.
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
  kRougeOfSets,           // LongBench's summaries: ROUGE-L of the package rouge
  kRougeL,                // ROUGE-L of the package rouge-score
  kRougeGeometricMean,    // ZeroSCROLLS' summaries: per pair, by the package rouge-score
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

// All names of metrics in files and specs: "subspan, exact, ...".
std::string MetricNames();
// Throws Error (failure), which names `thing`, for an unknown name.
AnswerMetric ReadMetric(const std::string& thing, std::string_view name);

// How to generate and score an answer. Decoding is greedy; several published scripts instead use
// the checkpoint's sampling settings.
struct GenerationRule {
  int64_t new_tokens = 100;
  AnswerCut cut = AnswerCut::kWhole;
  AnswerMetric metric = AnswerMetric::kSubspan;
  // Whether the answers are from a user: those that SQuAD's normaliser empties ("A", "The", "...")
  // are then compared without it, word by word. Published code gives any text the full subspan
  // score for them.
  bool own_answers = false;
  bool operator==(const GenerationRule&) const = default;
};

// Whether the metric uses SQuAD's normaliser, and it leaves nothing of this answer.
bool IsNormalisedAway(AnswerMetric metric, std::string_view answer);

// Returns the score of the generated text, 0 to 1: the maximum over the answers; for
// kAllSubstrings, the mean. Only kClasses uses `classes`. Throws Error (failure) if an answer does
// not fit the metric, std::logic_error if there are no answers.
double ScoreAnswer(const GenerationRule& rule, std::string_view generated,
                   std::span<const std::string> answers, std::span<const std::string> classes = {});

// The scores whose geometric mean is kRougeGeometricMean, each the maximum over the answers (as the
// package rouge-score treats several references), for means over samples.
// Throws std::logic_error if there are no answers.
RougeScores RougeAnswer(const GenerationRule& rule, std::string_view generated,
                        std::span<const std::string> answers);

}  // namespace midscope
