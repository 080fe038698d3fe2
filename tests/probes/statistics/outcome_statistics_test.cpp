// SPDX-License-Identifier: MIT
#include "probes/measure/statistics/outcome_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace midscope {
namespace {

// Two settings, two places. The second setting is always 1 nat worse at place 0 and 0.5 better at
// place 1, however much samples differ.
std::vector<SampleOutcome> CurvedOutcomes() {
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = 0; sample < 12; ++sample) {
    const double base = static_cast<double>(sample * sample % 7);
    outcomes.push_back({sample,
                        {base, 2 * base, base + 1, 2 * base - 0.5},
                        {static_cast<uint8_t>(sample % 2), 0, 1, 1}});
  }
  return outcomes;
}

TEST(OutcomeStatistics, PairedDifferenceIsSharpWhereMeansAreNot) {
  const std::vector<CellStatistics> cells = SummariseOutcomes(CurvedOutcomes(), 2, 2, 5);
  ASSERT_EQ(cells.size(), 4u);
  EXPECT_NEAR(cells[2].difference, 1, 1e-12);
  EXPECT_NEAR(cells[2].difference_interval.low, 1, 1e-12);
  EXPECT_NEAR(cells[3].difference, -0.5, 1e-12);
  EXPECT_GT(cells[2].answer_nll_interval.high - cells[2].answer_nll_interval.low, 0.5);
  EXPECT_EQ(cells[0].difference, 0);
  EXPECT_DOUBLE_EQ(cells[0].accuracy, 0.5);
  EXPECT_DOUBLE_EQ(cells[3].accuracy, 1);
  EXPECT_EQ(cells[0].samples, 12);
}

TEST(OutcomeStatistics, OrderOfSamplesDoesNotChangeABit) {
  std::vector<SampleOutcome> outcomes = CurvedOutcomes();
  const std::vector<CellStatistics> one = SummariseOutcomes(outcomes, 2, 2, 5);
  std::reverse(outcomes.begin(), outcomes.end());
  const std::vector<CellStatistics> two = SummariseOutcomes(outcomes, 2, 2, 5);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].answer_nll, two[i].answer_nll);
    EXPECT_EQ(one[i].answer_nll_interval.low, two[i].answer_nll_interval.low);
    EXPECT_EQ(one[i].difference_interval.high, two[i].difference_interval.high);
  }
}

// The expected numbers, from numpy and scipy: r = sum(nll) / sum(tokens), e = nll - r * tokens, se
// = sqrt(sum(e * e) / (n - 1) / n) / mean(tokens), exp(r -+ t.ppf(0.975, n - 1) * se).
TEST(OutcomeStatistics, PerplexityIsOverAllTokensNotTheMeanOfTheSamples) {
  std::vector<SampleOutcome> outcomes(4);
  const double nats[] = {10, 4, 9, 100};
  const int64_t tokens[] = {5, 2, 4, 1};
  for (size_t i = 0; i < 4; ++i) {
    outcomes[i].sample = static_cast<int64_t>(3 - i);
    outcomes[i].answer_nll = {nats[i], 2 * nats[i]};
    outcomes[i].correct = {0, 0};
    outcomes[i].answer_tokens = {tokens[i]};
  }
  outcomes[3].failures = {"too long", ""};  // the first setting was not run on this sample
  std::vector<CellStatistics> cells = SummariseOutcomes(outcomes, 2, 1, 1);
  EXPECT_TRUE(std::isnan(cells[0].perplexity));
  AddPerplexity(outcomes, 1, cells);
  EXPECT_NEAR(cells[0].perplexity, 8.092268429068351, 1e-12);
  EXPECT_NEAR(cells[0].perplexity_interval.low, 5.5084235224090765, 1e-9);
  EXPECT_NEAR(cells[0].perplexity_interval.high, 11.888121539982272, 1e-9);
  EXPECT_NEAR(cells[1].perplexity, std::exp(2 * 123.0 / 12), 1e-3);
  const Record record = OutcomeMeansRecord({"none", "pi(1.5)"}, {1}, cells);
  EXPECT_NE(record.FindArray("perplexity_low"), nullptr);
  std::vector<CellStatistics> generated = SummariseOutcomes(CurvedOutcomes(), 2, 2, 5);
  AddPerplexity({SampleOutcome{}}, 2, generated);
  EXPECT_TRUE(std::isnan(generated[0].perplexity));
}

TEST(OutcomeStatistics, RecordHoldsWhatTheEnginePromises) {
  const Record record = OutcomeMeansRecord({"none", "pi(1.5)"}, {1, 20},
                                           SummariseOutcomes(CurvedOutcomes(), 2, 2, 5));
  record.Check();
  EXPECT_EQ(record.name, "outcome_means");
  for (const char* name : {"answer_nll", "answer_nll_low", "answer_nll_high", "accuracy"}) {
    const Array* array = record.FindArray(name);
    ASSERT_NE(array, nullptr) << name;
    EXPECT_EQ(array->axes, (std::vector<std::string>{"setting", "place"}));
  }
  EXPECT_EQ(record.FindAxis("place")->values, (std::vector<double>{1, 20}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(record.FindArray("samples")->data),
            (std::vector<int64_t>{12, 12}));
}

// None of 8 samples is right (a bootstrap interval would be [0, 0]).
TEST(OutcomeStatistics, SharesHaveWilsonsIntervalAndMeansStudents) {
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = 0; sample < 8; ++sample) {
    outcomes.push_back({sample, {static_cast<double>(sample)}, {0}, {}, {1.0}});
  }
  const CellStatistics cell = SummariseOutcomes(outcomes, 1, 1, 5)[0];
  EXPECT_EQ(cell.accuracy_interval.low, 0);
  EXPECT_NEAR(cell.accuracy_interval.high, 0.3244, 1e-4);
  // Scores that are only 0 and 1 are treated as a share.
  EXPECT_NEAR(cell.generation_interval.low, 1 - 0.3244, 1e-4);
  // For 0..7: 3.5 +- t(7) x 2.4495 / sqrt(8).
  EXPECT_NEAR(cell.answer_nll_interval.low, 3.5 - 2.364624 * 2.449490 / std::sqrt(8.0), 1e-4);
  const auto methods = CellMethods(outcomes);
  EXPECT_EQ(methods.at("accuracy"), "Wilson's score");
  EXPECT_EQ(methods.at("generation_score"), "Wilson's score");
  EXPECT_EQ(methods.at("answer_nll"), "Student's t, cut at 0");
}

TEST(OutcomeStatistics, ScoresBetween0And1StayThereAndDoNotCollapse) {
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = 0; sample < 3; ++sample) {
    outcomes.push_back({sample, {}, {}, {}, {sample == 0 ? 0.9 : 0.1, 0.0}});
  }
  const std::vector<CellStatistics> cells = SummariseOutcomes(outcomes, 1, 2, 5);
  EXPECT_EQ(cells[0].generation_interval.low, 0);   // Student's t would give -0.78
  EXPECT_EQ(cells[0].generation_interval.high, 1);  // and 1.51
  EXPECT_EQ(cells[1].generation_score, 0);
  EXPECT_GT(cells[1].generation_interval.high, 0.5);  // Wilson's interval for 0 of 3
}

// Two samples; the first setting was not run on the second.
TEST(OutcomeStatistics, ASettingThatWasNotRunIsInNoNumberOfItsOwn) {
  const double none = std::nan("");
  std::vector<SampleOutcome> outcomes = {{0, {2, 3, 1, 1}, {0, 0, 1, 1}},
                                         {1, {none, none, 5, 7}, {0, 0, 1, 0}},
                                         {2, {4, 3, 2, 1}, {1, 1, 1, 1}}};
  outcomes[1].failures = {"prompt too long: it is", ""};
  const std::vector<CellStatistics> cells = SummariseOutcomes(outcomes, 2, 2, 5);
  EXPECT_EQ(cells[0].samples, 2);
  EXPECT_EQ(cells[2].samples, 3);
  EXPECT_DOUBLE_EQ(cells[0].answer_nll, 3);
  EXPECT_DOUBLE_EQ(cells[0].accuracy, 0.5);  // the 0 of the setting that was not run is excluded
  EXPECT_DOUBLE_EQ(cells[2].answer_nll, 8.0 / 3);
  EXPECT_DOUBLE_EQ(cells[2].difference, -1.5);  // mean over samples 0 and 2
  const Record record = OutcomeMeansRecord({"none", "pi(2)"}, {1, 2}, cells);
  EXPECT_EQ(std::get<std::vector<int64_t>>(record.FindArray("samples")->data),
            (std::vector<int64_t>{2, 3}));
}

// ZeroSCROLLS averages each ROUGE score first: cbrt(0.5 x 0.25 x 0.4). The mean of the samples'
// geometric means would be lower.
TEST(OutcomeStatistics, RougeIsTheGeometricMeanOfTheMeans) {
  std::vector<SampleOutcome> outcomes;
  for (int64_t sample = 0; sample < 30; ++sample) {
    SampleOutcome outcome;
    outcome.sample = sample;
    const bool even = sample % 2 == 0;
    outcome.rouge = even ? std::vector<double>{0.8, 0.0, 0.6} : std::vector<double>{0.2, 0.5, 0.2};
    outcome.generation_score = {even ? 0.0 : std::cbrt(0.2 * 0.5 * 0.2)};
    outcomes.push_back(outcome);
  }
  const CellStatistics cell = SummariseOutcomes(outcomes, 1, 1, 5)[0];
  EXPECT_NEAR(cell.generation_score, std::cbrt(0.5 * 0.25 * 0.4), 1e-12);
  EXPECT_LT(cell.generation_interval.low, cell.generation_score);
  EXPECT_GT(cell.generation_interval.high, cell.generation_score);
  EXPECT_EQ(CellMethods(outcomes).at("generation_score"), kBootstrapMethod);
  for (SampleOutcome& outcome : outcomes) outcome.rouge.clear();  // as in older files
  EXPECT_LT(SummariseOutcomes(outcomes, 1, 1, 5)[0].generation_score, 0.15);
}

TEST(OutcomeStatistics, NoSamplesGiveNoNumbers) {
  const std::vector<CellStatistics> cells = SummariseOutcomes({}, 1, 2, 5);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_TRUE(std::isnan(cells[0].answer_nll));
  EXPECT_EQ(cells[0].samples, 0);
}

}  // namespace
}  // namespace midscope
