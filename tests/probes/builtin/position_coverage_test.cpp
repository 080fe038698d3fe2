// SPDX-License-Identifier: MIT
// Records of sampled position ids. Counts are exact; means over seeds are computed from 40 runs.
#include "probes/measure/builtin/position_coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "core/base/error.h"
#include "probes/base/records.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SampledPositions Sampled(const std::string& name, const PositionRequest& request,
                         const std::string& strategy = "") {
  const PositionSampler& sampler = *FindPositionSampler(name);
  OptionSet options(sampler.parameters);
  if (!strategy.empty()) options.SetText("strategy", strategy);
  return MakeSampledPositions(sampler, request, options);
}

TEST(PositionCoverage, IsThatOfAllPairs) {
  const PositionRequest request{.tokens = 60, .context = 300};
  const int64_t samples = 4;
  const std::vector<SampledPositions> samplers = {Sampled("cream", request, "relativity"),
                                                  Sampled("pose", request)};
  const Record record = PositionCoverage(samplers, samples, {});
  record.Check();
  EXPECT_THAT(record.FindAxis("sampler")->labels, ElementsAre("cream", "pose"));
  for (size_t s = 0; s < samplers.size(); ++s) {
    std::vector<double> pairs(300);
    std::vector<double> shown(300);
    std::vector<int64_t> first(300);
    for (int64_t i = 0; i < samples; ++i) {
      const std::vector<int64_t> ids = samplers[s].draw(i).position_id;
      for (size_t query = 0; query < ids.size(); ++query) {
        shown[static_cast<size_t>(ids[query])] += 0.25;
        for (size_t key = 0; key <= query; ++key) {
          const auto distance = static_cast<size_t>(ids[query] - ids[key]);
          pairs[distance] += 0.25;
          if (first[distance] == 0) first[distance] = i + 1;
        }
      }
      const auto covered = std::count_if(first.begin(), first.end(), [](auto n) { return n > 0; });
      EXPECT_DOUBLE_EQ(
          ArrayValues<double>(record, "coverage")[s * samples + static_cast<size_t>(i)],
          static_cast<double>(covered) / 300);
    }
    for (size_t i = 0; i < 300; ++i) {
      ASSERT_EQ(ArrayValues<double>(record, "pairs_per_sample")[s * 300 + i], pairs[i]);
      ASSERT_EQ(ArrayValues<int64_t>(record, "first_sample")[s * 300 + i], first[i]);
      ASSERT_EQ(ArrayValues<double>(record, "shown")[s * 300 + i], shown[i]);
    }
  }
}

// The paper's E.3 reports about .37, .86 and 1.0 after 1, 10 and 100 samples in one run. One sample
// reaches .373 if continuity puts the middle within the ranges of Theorem B.1, and .21 to .37
// otherwise.
TEST(PositionCoverage, OfTheContextOfThePaper) {
  std::array<double, 3> sums{};
  double most = 0;
  const int runs = 40;
  for (int seed = 1; seed <= runs; ++seed) {
    const PositionRequest request{
        .tokens = 4096, .context = 32768, .seed = static_cast<uint64_t>(seed)};
    const Record record = PositionCoverage({Sampled("cream", request)}, 100, {});
    const auto& coverage = ArrayValues<double>(record, "coverage");
    sums[0] += coverage[0] / runs;
    sums[1] += coverage[9] / runs;
    sums[2] += coverage[99] / runs;
    most = std::max(most, coverage[0]);
    if (seed == 1) {
      EXPECT_NEAR(coverage[0], 0.37, 0.05);
    }
  }
  EXPECT_NEAR(most, 12221.0 / 32768, 1e-12);  // MAX + 2 N - 2 with MAX = 4096 - 64 - 1
  EXPECT_NEAR(sums[0], 0.31, 0.03);
  EXPECT_NEAR(sums[1], 0.90, 0.04);
  EXPECT_NEAR(sums[2], 1.0, 0.002);
}

TEST(PositionCoverage, TheMiddleOfCreamIsShownMostInTheMiddleAndPosesIsNot) {
  const PositionRequest request{.tokens = 1024, .context = 8192};
  const auto shown = [&](const SampledPositions& positions) {
    return ArrayValues<double>(PositionCoverage({positions}, 400, {}), "shown");
  };
  const std::vector<double> cream = shown(Sampled("cream", request, "continuity"));
  EXPECT_EQ(cream[0], 1.0);
  EXPECT_EQ(cream[8191], 1.0);
  EXPECT_GT(cream[4096], 2 * cream[1024]);
  EXPECT_GT(cream[4096], 2 * cream[7168]);
  const std::vector<double> pose = shown(Sampled("pose", request));
  EXPECT_NEAR(pose[4096], pose[7168 - 512], 0.05);
}

TEST(PositionCoverage, TheoremsStateTheRangesOfTheSmallExample) {
  const PositionSampler& cream = *FindPositionSampler("cream");
  OptionSet options(cream.parameters);
  options.SetText("k", "4");
  const Record record = CreamTheorems({.tokens = 32, .context = 256}, options);
  record.Check();
  EXPECT_THAT(record.FindAxis("segments")->labels, ElementsAre("L_h = 10", "L_h = 4"));
  EXPECT_THAT(ArrayValues<int64_t>(record, "distances"), ElementsAre(73, 85));
  EXPECT_THAT(ArrayValues<int64_t>(record, "lower_first"), ElementsAre(21, 27));
  EXPECT_THAT(ArrayValues<int64_t>(record, "upper_last"), ElementsAre(223, 205));
  options.SetText("ends", "head");
  EXPECT_EQ(CreamTheorems({.tokens = 32, .context = 256}, options).FindAxis("segments")->size, 0);
}

TEST(PositionCoverage, RefusesAContextTooLongAndStopsWhenCancelled) {
  EXPECT_THAT(test::ErrorMessage([] {
                PositionCoverage({Sampled("pose", {.tokens = 8, .context = 1 << 21})}, 1, {});
              }),
              HasSubstr("too long"));
  const std::atomic<bool> cancel = true;
  JobContext job;
  job.cancel = &cancel;
  const SampledPositions pose = Sampled("pose", {.tokens = 8, .context = 16});
  EXPECT_THROW(PositionCoverage({pose}, 1, job), Cancelled);
  EXPECT_THROW(PositionSamples(pose, 0, 1, job), Cancelled);
}

}  // namespace
}  // namespace midscope
