// SPDX-License-Identifier: MIT
// Contract: synthetic predictions get the same scores as from the benchmarks' public code
// (make/make_public_scores.py): each of LongBench's 18 data sets and their mean, RULER's tasks,
// NoLiMa, lost-in-the-middle. Means over a data set are rounded to two decimals, as in the code of
// LongBench and RULER.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/tasks/answer_scoring.h"
#include "data/tasks/longbench_formats.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using Json = nlohmann::json;

GenerationRule RuleOf(const Json& row) {
  const std::string source = row["source"];
  if (source == "longbench") {
    const LongBenchFormat* format = FindLongBenchFormat(row["dataset"].get<std::string>());
    EXPECT_TRUE(format) << row["dataset"];
    return format ? format->generation : GenerationRule{};
  }
  GenerationRule rule;
  if (source == "nolima") rule.metric = AnswerMetric::kContains;
  if (source == "lost-in-the-middle") rule.metric = AnswerMetric::kSubspan;
  if (source == "ruler") {
    rule.metric = row["dataset"] == "qa" ? AnswerMetric::kSubstring : AnswerMetric::kAllSubstrings;
  }
  return rule;
}

// The mean score of all predictions, in percent.
double MeanScore(const Json& row, const GenerationRule& rule) {
  const auto predictions = row["predictions"].get<std::vector<std::string>>();
  const auto answers = row["answers"].get<std::vector<std::vector<std::string>>>();
  const auto classes = row.value("classes", std::vector<std::string>());
  double sum = 0;
  for (size_t i = 0; i < predictions.size(); ++i)
    sum += ScoreAnswer(rule, predictions[i], answers[i], classes);
  return 100 * sum / static_cast<double>(predictions.size());
}

TEST(PublicScores, AreThoseOfTheBenchmarksOwnCode) {
  std::ifstream file(std::string(MIDSCOPE_TESTS "/data/golden") + "/public_scores.jsonl");
  int rows = 0;
  int datasets = 0;
  double sum = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    const Json row = Json::parse(line);
    if (row["source"] == "longbench-average") {
      EXPECT_EQ(datasets, 18);
      EXPECT_NEAR(sum / datasets, row["score"].get<double>(), 0.005);
      continue;
    }
    const GenerationRule rule = RuleOf(row);
    if (row["source"] == "longbench") ++datasets;
    const double score = MeanScore(row, rule);
    // The constant 1e-8 in the ROUGE-L of the package rouge may change a rounding.
    EXPECT_NEAR(score, row["score"].get<double>(), 0.0051) << line.substr(0, 400);
    if (row["source"] == "longbench") sum += score;
  }
  EXPECT_EQ(rows, 104);
}

}  // namespace
}  // namespace midscope
