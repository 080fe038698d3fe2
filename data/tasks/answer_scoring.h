// SPDX-License-Identifier: MIT
// Scores generated text against the answers of a task: which part of it, and by which published
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
  kRougeGeometricMean,    // ZeroSCROLLS' summaries: of the package rouge-score, per pair
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
  kWordRecall,            // needle, by rule
  kAllSubstrings,         // RULER: the share of the answers that occur
  kLEvalLetter,           // L-Eval's multiple choice
  kLEvalLetters,          // its Coursera, with several right choices
  kLEvalNumber,           // its GSM100
  kLEvalLine,             // its topic retrieval
  kContains,              // NoLiMa: the answer occurs, capitals counted
};

// "f1", "rouge-l": the names in files and specs. Throws Error (failure, about `thing`) for an
// unknown name.
std::string MetricName(AnswerMetric metric);
// "subspan, exact, ..."
std::string MetricNames();
AnswerMetric ReadMetric(const std::string& thing, std::string_view name);

// For greedy decoding: several published scripts rely on the checkpoint's sampling settings.
struct GenerationRule {
  int64_t new_tokens = 100;
  AnswerCut cut = AnswerCut::kWhole;
  AnswerMetric metric = AnswerMetric::kSubspan;
  // The answers are a user's own: those that SQuAD's normaliser empties ("A", "The", "...") are
  // compared as they are, word by word. Published code gives any text the full subspan score then.
  bool own_answers = false;
  bool operator==(const GenerationRule&) const = default;
};

// Whether the metric compares answers by SQuAD's normaliser, and that leaves nothing of this one.
bool IsNormalisedAway(AnswerMetric metric, std::string_view answer);

// 0 to 1: the maximum over the answers of the rule's score of the generated text, of kAllSubstrings
// the mean. `classes` are used by kClasses only. Throws Error (failure) if an answer does not fit
// the metric, and std::logic_error for no answers.
double ScoreAnswer(const GenerationRule& rule, std::string_view generated,
                   std::span<const std::string> answers, std::span<const std::string> classes = {});

// The scores whose geometric mean is kRougeGeometricMean, each the maximum over the answers (as the
// package rouge-score treats several references), for means over samples (GeometricMeanOfMeans).
// Throws std::logic_error for no answers.
RougeScores RougeAnswer(const GenerationRule& rule, std::string_view generated,
                        std::span<const std::string> answers);

}  // namespace midscope
