// SPDX-License-Identifier: MIT
// The table of positions: its known periods and similarity if it is sinusoidal, the file's rows if
// it is learned; models without a table are rejected by name.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "core/base/error.h"
#include "probes/base/records.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/golden_runs.h"
#include "tests/probes/support/attribution_golden.h"

namespace midscope {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using testing::MeasureProbe;

Record MeasureEmbeddings(const std::string& model) {
  Prompt prompt;
  prompt.ids = {1, 2, 3};
  return MeasureProbe(*test::TinyDecoder(model), prompt, "position_embeddings");
}

// Channels j and j + 15 of xglm have a period of 2 pi 10000^(j / 14) positions.
TEST(PositionEmbeddings, HaveThePeriodsOfASinusoidalTable) {
  const Record record = MeasureEmbeddings("xglm");
  const auto& period = ArrayValues<double>(record, "dominant_period");
  const auto& share = ArrayValues<double>(record, "period_share");
  ASSERT_EQ(period.size(), 30u);
  constexpr double kPositions = 131;
  for (size_t j = 0; j < 15; ++j) {
    const double theta = std::pow(10000.0, -static_cast<double>(j) / 14);
    const double turns = kPositions * theta / (2 * std::numbers::pi);
    for (const size_t channel : {j, j + 15}) {
      SCOPED_TRACE(channel);
      // A Fourier transform resolves whole periods; less than one counts as one.
      EXPECT_NEAR(kPositions / period[channel], std::max(turns, 1.0), turns > 2 ? 0.5 : 1.0);
      EXPECT_GT(share[channel], 0.3);
    }
  }
}

TEST(PositionEmbeddings, OfASinusoidalTableAreAsSimilarAsTheFormulaSays) {
  const Record record = MeasureEmbeddings("xglm");
  const auto& similarity = ArrayValues<double>(record, "similarity");
  const auto& vaswani = ArrayValues<double>(record, "sinusoidal_similarity");
  ASSERT_EQ(similarity.size(), 131u);
  for (const size_t distance : {0u, 1u, 7u, 130u}) {
    double own = 0;
    double paper = 0;
    for (int j = 0; j < 15; ++j) {
      own += std::cos(static_cast<double>(distance) * std::pow(10000.0, -j / 14.0)) / 15;
      paper += std::cos(static_cast<double>(distance) * std::pow(10000.0, -j / 15.0)) / 15;
    }
    EXPECT_NEAR(similarity[distance], own, 1e-5) << distance;
    EXPECT_NEAR(vaswani[distance], paper, 1e-12) << distance;
  }
  EXPECT_THAT(ArrayValues<double>(record, "embedding_length"),
              Each(::testing::DoubleNear(std::sqrt(15.0), 1e-5)));
}

// The rows are independent of each other.
TEST(PositionEmbeddings, OfARandomLearnedTableAreNotAlike) {
  const Record record = MeasureEmbeddings("gpt2");
  const auto& table = ArrayValues<float>(record, "position_embedding");
  EXPECT_EQ(table.size(), 131u * 30);
  const std::vector<float> row = test::TinyDecoder("gpt2")->PositionEmbedding(130);
  EXPECT_TRUE(std::equal(row.begin(), row.end(), table.end() - 30));
  const auto& similarity = ArrayValues<double>(record, "similarity");
  EXPECT_NEAR(similarity[0], 1.0, 1e-6);
  EXPECT_NEAR(similarity[1], 0.0, 0.1);
  for (const double share : ArrayValues<double>(record, "period_share")) EXPECT_LT(share, 0.3);
}

TEST(PositionEmbeddings, AreRefusedWhereTheModelHasNone) {
  EXPECT_THAT(test::ErrorMessage([] { MeasureEmbeddings("llama"); }),
              HasSubstr("rotations of queries and keys"));
  EXPECT_THAT(test::ErrorMessage([] { MeasureEmbeddings("bloom"); }),
              HasSubstr("it attends with ALiBi"));
}

}  // namespace
}  // namespace midscope
