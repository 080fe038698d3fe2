// SPDX-License-Identifier: MIT
#include "probes/outcome_statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace midscope {
namespace {

// Two settings, two places; the second setting is always 1 nat worse at place 0 and 0.5 better at
// place 1, however much samples differ.
std::vector<SampleOutcome> Outcomes() {
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
  const std::vector<CellStatistics> cells = SummariseOutcomes(Outcomes(), 2, 2, 5);
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
  std::vector<SampleOutcome> outcomes = Outcomes();
  const std::vector<CellStatistics> one = SummariseOutcomes(outcomes, 2, 2, 5);
  std::reverse(outcomes.begin(), outcomes.end());
  const std::vector<CellStatistics> two = SummariseOutcomes(outcomes, 2, 2, 5);
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].answer_nll, two[i].answer_nll);
    EXPECT_EQ(one[i].answer_nll_interval.low, two[i].answer_nll_interval.low);
    EXPECT_EQ(one[i].difference_interval.high, two[i].difference_interval.high);
  }
}

TEST(OutcomeStatistics, RecordHoldsWhatTheEnginePromises) {
  const Record record =
      OutcomeMeansRecord({"none", "pi(1.5)"}, {1, 20}, SummariseOutcomes(Outcomes(), 2, 2, 5));
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

TEST(OutcomeStatistics, NoSamplesGiveNoNumbers) {
  const std::vector<CellStatistics> cells = SummariseOutcomes({}, 1, 2, 5);
  ASSERT_EQ(cells.size(), 2u);
  EXPECT_TRUE(std::isnan(cells[0].answer_nll));
  EXPECT_EQ(cells[0].samples, 0);
}

}  // namespace
}  // namespace midscope
