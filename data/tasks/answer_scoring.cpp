// SPDX-License-Identifier: MIT
#include "data/tasks/answer_scoring.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/scorers/code_similarity.h"
#include "data/scorers/leval_scores.h"
#include "data/scorers/match_scores.h"
#include "data/scorers/order_scores.h"
#include "kernels/check.h"

namespace midscope {
namespace {

using PairScore = double (*)(std::string_view prediction, std::string_view reference);

struct MetricEntry {
  AnswerMetric metric;
  const char* name;
  PairScore score;  // null if the metric needs further inputs
};

constexpr std::array kMetrics = {
    MetricEntry{AnswerMetric::kSubstring, "substring", SubstringMatch},
    MetricEntry{AnswerMetric::kSubspan, "subspan", SubspanExactMatch},
    MetricEntry{AnswerMetric::kExact, "exact", ExactMatch},
    MetricEntry{AnswerMetric::kF1, "f1", TokenF1},
    MetricEntry{AnswerMetric::kRougeOfSets, "rouge-l-sets",
                [](std::string_view prediction, std::string_view reference) {
                  return RougeOfSets(prediction, reference).rouge_l;
                }},
    MetricEntry{AnswerMetric::kRougeL, "rouge-l",
                [](std::string_view prediction, std::string_view reference) {
                  return RougeOfCounts(prediction, reference).rouge_l;
                }},
    MetricEntry{AnswerMetric::kRougeGeometricMean, "rouge-geometric-mean",
                [](std::string_view prediction, std::string_view reference) {
                  return GeometricMean(RougeOfCounts(prediction, reference));
                }},
    MetricEntry{AnswerMetric::kClasses, "classes", nullptr},
    MetricEntry{AnswerMetric::kRetrieval, "retrieval", RetrievalScore},
    MetricEntry{AnswerMetric::kCount, "count", CountScore},
    MetricEntry{AnswerMetric::kCodeSimilarity, "code-similarity", CodeSimilarity},
    MetricEntry{AnswerMetric::kOrderConcordance, "order-concordance", OrderConcordance},
    MetricEntry{AnswerMetric::kOrder, "order", OrderMatch},
    MetricEntry{AnswerMetric::kPercentageSimilarity, "percentage-similarity", PercentageSimilarity},
    MetricEntry{AnswerMetric::kFirstInteger, "first-integer", FirstIntegerMatch},
    MetricEntry{AnswerMetric::kLastInteger, "last-integer", LastIntegerMatch},
    MetricEntry{AnswerMetric::kChoiceLetter, "choice-letter", ChoiceLetterMatch},
    MetricEntry{AnswerMetric::kWordRecall, "word-recall", WordRecall},
    MetricEntry{AnswerMetric::kAllSubstrings, "all-substrings", SubstringMatch},
    MetricEntry{AnswerMetric::kLEvalLetter, "leval-letter", LEvalLetterScore},
    MetricEntry{AnswerMetric::kLEvalLetters, "leval-letters", LEvalLettersScore},
    MetricEntry{AnswerMetric::kLEvalNumber, "leval-number", LEvalNumberScore},
    MetricEntry{AnswerMetric::kLEvalLine, "leval-line", LEvalLineScore},
    MetricEntry{AnswerMetric::kContains, "contains",
                [](std::string_view prediction, std::string_view reference) {
                  return prediction.find(reference) != std::string_view::npos ? 1.0 : 0.0;
                }},
};

const MetricEntry& EntryOf(AnswerMetric metric) {
  for (const MetricEntry& entry : kMetrics) {
    if (entry.metric == metric) return entry;
  }
  MIDSCOPE_BUG("a metric without an entry");
}

}  // namespace

std::string MetricNames() {
  std::string names;
  for (const MetricEntry& entry : kMetrics)
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}

AnswerMetric ReadMetric(const std::string& thing, std::string_view name) {
  std::vector<std::string> known;
  for (const MetricEntry& entry : kMetrics) {
    if (entry.name == name) return entry.metric;
    known.emplace_back(entry.name);
  }
  throw Failure(thing, "scorer " + Quote(name) + " is unknown", KnownWordsHint(name, known));
}

bool IsNormalisedAway(AnswerMetric metric, std::string_view answer) {
  const bool normalises = metric == AnswerMetric::kSubspan || metric == AnswerMetric::kExact ||
                          metric == AnswerMetric::kF1;
  return normalises && NormaliseAnswer(answer).empty();
}

namespace {

// Scores by whole words without SQuAD's normaliser: 1 if the answer's words occur in the prediction
// (subspan) or are all of its words (exact), or F1 of the words.
double UnnormalisedScore(AnswerMetric metric, std::string_view prediction,
                         std::string_view answer) {
  if (metric == AnswerMetric::kSubspan) return WholeWordsMatch(prediction, answer);
  const std::vector<std::string> predicted = BareWords(LowerText(prediction));
  const std::vector<std::string> wanted = BareWords(LowerText(answer));
  if (metric == AnswerMetric::kF1) return WordsF1(predicted, wanted);
  return predicted == wanted ? 1 : 0;
}

}  // namespace

double ScoreAnswer(const GenerationRule& rule, std::string_view generated,
                   std::span<const std::string> answers, std::span<const std::string> classes) {
  MIDSCOPE_CHECK(!answers.empty());
  const std::string prediction = CutAnswer(generated, rule.cut);
  const PairScore score = EntryOf(rule.metric).score;
  double best = 0;
  double sum = 0;
  for (const std::string& answer : answers) {
    const bool as_it_is = rule.own_answers && IsNormalisedAway(rule.metric, answer);
    const double one = as_it_is ? UnnormalisedScore(rule.metric, prediction, answer)
                       : score  ? score(prediction, answer)
                                : ClassScore(prediction, answer, classes);
    best = std::max(best, one);
    sum += one;
  }
  const bool mean = rule.metric == AnswerMetric::kAllSubstrings;
  return mean ? sum / static_cast<double>(answers.size()) : best;
}

RougeScores RougeAnswer(const GenerationRule& rule, std::string_view generated,
                        std::span<const std::string> answers) {
  MIDSCOPE_CHECK(!answers.empty());
  const std::string prediction = CutAnswer(generated, rule.cut);
  RougeScores best;
  for (const std::string& answer : answers) {
    const RougeScores scores = RougeOfCounts(prediction, answer);
    best.rouge1 = std::max(best.rouge1, scores.rouge1);
    best.rouge2 = std::max(best.rouge2, scores.rouge2);
    best.rouge_l = std::max(best.rouge_l, scores.rouge_l);
  }
  return best;
}

}  // namespace midscope
