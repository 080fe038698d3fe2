// SPDX-License-Identifier: MIT
// Samplers of position ids. All comparisons are exact, because ids are integers, except
// frequencies, which must be within four standard errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/positions/position_sampler.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Options = std::map<std::string, std::string>;

DrawPositions Prepared(const std::string& name, const PositionRequest& request,
                       const Options& given = {}) {
  const PositionSampler& sampler = *FindPositionSampler(name);
  OptionSet options(sampler.parameters);
  for (const auto& [option, text] : given) options.SetText(option, text);
  return PreparePositions(sampler, request, options);
}

std::string Refusal(const std::string& name, const PositionRequest& request,
                    const Options& given = {}) {
  return test::ErrorMessage([&] { Prepared(name, request, given); });
}

// Runs of consecutive numbers, as {first, last}.
std::vector<std::pair<int64_t, int64_t>> Runs(const std::vector<int64_t>& values) {
  std::vector<std::pair<int64_t, int64_t>> runs;
  for (const int64_t value : values) {
    if (runs.empty() || runs.back().second + 1 != value) runs.emplace_back(value, value);
    runs.back().second = value;
  }
  return runs;
}

// 2 alpha of a sample whose head and tail have `end` tokens, by its P_e and the code's Eq. 6.
std::set<int64_t> PossibleHalves(int64_t last_id, int64_t tokens, int64_t stretch, int64_t end) {
  const int64_t middle = tokens - 2 * end;
  std::set<int64_t> halves;
  for (int64_t half = 2; half <= 2 * stretch; ++half) {
    if (last_id >= end + (middle - 1) * half / 2 && last_id <= half * tokens / 2 - end - 1) {
      halves.insert(half);
    }
  }
  return halves;
}

TEST(Samplers, EachMakesIncreasingIdsOfTheContextAndTokensOfTheDocument) {
  ASSERT_EQ(PositionSamplers().size(), 4u);
  for (const PositionSampler& sampler : PositionSamplers()) {
    SCOPED_TRACE(sampler.name);
    EXPECT_EQ(FindPositionSampler(sampler.name), &sampler);
    EXPECT_FALSE(sampler.summary.empty());
    EXPECT_FALSE(sampler.source.empty());
    const int64_t tokens = sampler.name == "full" ? 700 : 100;
    const PositionRequest request{.tokens = tokens, .context = 700, .document = 710, .seed = 3};
    const DrawPositions draw = Prepared(sampler.name, request);
    for (int64_t i = 0; i < 50; ++i) {
      const PositionSample sample = draw(i);
      ASSERT_EQ(sample.position_id.size(), static_cast<size_t>(tokens));
      ASSERT_EQ(sample.token_index.size(), static_cast<size_t>(tokens));
      ASSERT_TRUE(std::is_sorted(sample.position_id.begin(), sample.position_id.end(),
                                 std::less_equal<>()));
      ASSERT_TRUE(std::is_sorted(sample.token_index.begin(), sample.token_index.end(),
                                 std::less_equal<>()));
      ASSERT_GE(sample.position_id.front(), 0);
      ASSERT_LT(sample.position_id.back(), 700);
      ASSERT_GE(sample.token_index.front(), 0);
      ASSERT_LT(sample.token_index.back(), 710);
    }
  }
  EXPECT_EQ(FindPositionSampler("creme"), nullptr);
}

TEST(Samplers, ASampleDependsOnSeedAndIndexAlone) {
  for (const std::string name : {"cream", "pose", "randpos"}) {
    SCOPED_TRACE(name);
    const PositionRequest request{.tokens = 512, .context = 4096, .seed = 5};
    const DrawPositions draw = Prepared(name, request);
    const PositionSample seventh = draw(7);
    draw(3);
    EXPECT_EQ(draw(7), seventh);
    EXPECT_EQ(Prepared(name, request)(7), seventh);
    EXPECT_NE(draw(8), seventh);
    EXPECT_NE(Prepared(name, {.tokens = 512, .context = 4096, .seed = 6})(7), seventh);
  }
}

// Numbers of this machine; the same are expected of every other.
TEST(Samplers, NumbersOfASeedStayWhatTheyAre) {
  const PositionRequest request{.tokens = 12, .context = 48, .seed = 1};
  EXPECT_THAT(Runs(Prepared("cream", request, {{"k", "2"}})(0).position_id),
              ElementsAre(std::pair{0, 1}, std::pair{38, 47}));
  EXPECT_THAT(Runs(Prepared("pose", request)(0).position_id),
              ElementsAre(std::pair{0, 5}, std::pair{18, 23}));
  EXPECT_THAT(Prepared("randpos", request)(0).position_id,
              ElementsAre(0, 3, 5, 6, 9, 15, 18, 19, 22, 26, 32, 47));
}

TEST(Cream, HeadMiddleAndTailHaveTheTokensOfTheStrategy) {
  const PositionRequest request{.tokens = 4096, .context = 32768};
  for (const auto& [strategy, end] : {std::pair{"continuity", 32}, {"relativity", 1365}}) {
    const DrawPositions draw = Prepared("cream", request, {{"strategy", strategy}});
    for (int64_t i = 0; i < 20; ++i) {
      const auto ids = draw(i).position_id;
      for (int64_t j = 0; j < end; ++j) {
        ASSERT_EQ(ids[static_cast<size_t>(j)], j);
        ASSERT_EQ(ids[static_cast<size_t>(4096 - 1 - j)], 32767 - j);
      }
      ASSERT_EQ(ids[static_cast<size_t>(4096 - end - 1)] - ids[static_cast<size_t>(end)],
                4096 - 2 * end - 1);
    }
  }
}

TEST(Cream, AtAlphaOneHeadAndMiddleAreContiguous) {
  const PositionRequest request{.tokens = 96, .context = 768};
  for (const std::string variant : {"code", "paper"}) {
    // The Gaussian is so narrow and far left that alpha is 1.
    const DrawPositions draw = Prepared(
        "cream", request,
        {{"variant", variant}, {"strategy", "relativity"}, {"mean", "1"}, {"deviation", "0.01"}});
    for (int64_t i = 0; i < 20; ++i) {
      EXPECT_THAT(Runs(draw(i).position_id),
                  ElementsAre(std::pair{0, 96 - 32 - 1}, std::pair{768 - 32, 767}));
    }
  }
  for (const std::string variant : {"code", "paper"}) {
    const DrawPositions whole =
        Prepared("cream", {.tokens = 96, .context = 96}, {{"variant", variant}, {"k", "4"}});
    EXPECT_THAT(Runs(whole(0).position_id), ElementsAre(std::pair{0, 95}));
  }
}

TEST(Cream, TheLastIdOfTheMiddleHasTheStatedWidth) {
  // alpha = 3 alone: width (alpha - 1)(2 L_h + 1) + 1.
  const Options options = {
      {"strategy", "continuity"}, {"k", "4"}, {"mean", "3.25"}, {"deviation", "0.001"}};
  const DrawPositions draw = Prepared("cream", {.tokens = 32, .context = 256}, options);
  std::set<int64_t> last_ids;
  for (int64_t i = 0; i < 2000; ++i) last_ids.insert(draw(i).position_id[27]);
  EXPECT_EQ(last_ids.size(), 2u * 9 + 1);
  EXPECT_EQ(*last_ids.begin(), 4 + 23 * 3);
  EXPECT_EQ(*last_ids.rbegin(), 3 * 32 - 4 - 1);
}

TEST(Cream, AlphaHasTheProbabilitiesOfThePublicCode) {
  // seed-facts E.1: 2 alpha = 2 to 16 for factor 8. With k = 1 most of P_e determines its alpha.
  const double expected[] = {.023, .025, .043, .067, .094, .117, .131, .131,
                             .117, .094, .067, .043, .025, .013, .010};
  const PositionRequest request{.tokens = 4096, .context = 32768};
  const DrawPositions draw = Prepared("cream", request, {{"strategy", "continuity"}, {"k", "1"}});
  std::map<int64_t, int64_t> counts;
  const int64_t samples = 20000;
  for (int64_t i = 0; i < samples; ++i) {
    const auto halves = PossibleHalves(draw(i).position_id[4094], 4096, 8, 1);
    ASSERT_EQ(halves.size(), 1u);
    ++counts[*halves.begin()];
  }
  for (int64_t half = 2; half <= 16; ++half) {
    const double share = static_cast<double>(counts[half]) / samples;
    const double wanted = expected[half - 2];
    EXPECT_NEAR(share, wanted, 0.0005 + 4 * std::sqrt(wanted / samples)) << half;
  }
}

TEST(Cream, ThePapersAlphaIsWholeAndRenormalised) {
  const PositionRequest request{.tokens = 4096, .context = 32768};
  const Options options = {{"strategy", "continuity"}, {"k", "1"}, {"variant", "paper"}};
  const DrawPositions draw = Prepared("cream", request, options);
  std::map<int64_t, int64_t> counts;
  const int64_t samples = 20000;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t last = draw(i).position_id[4094];
    const int64_t alpha = (last + 2 + 4095) / 4096;
    ASSERT_LE(last, alpha * 4096 - 2);
    ASSERT_GE(last, alpha == 1 ? 4094 : 1 + alpha * 4094);
    ++counts[alpha];
  }
  const auto below = [](double x) { return 0.5 * std::erfc((4.5 - x) / (1.5 * std::sqrt(2.0))); };
  for (int64_t alpha = 1; alpha <= 8; ++alpha) {
    const double low = std::max(1.0, static_cast<double>(alpha) - 0.5);
    const double high = std::min(8.0, static_cast<double>(alpha) + 0.5);
    const double wanted = (below(high) - below(low)) / (below(8) - below(1));
    EXPECT_NEAR(static_cast<double>(counts[alpha]) / samples, wanted,
                4 * std::sqrt(wanted / samples))
        << alpha;
  }
}

TEST(Cream, TheCoinIsTossedPerSampleOrPerThreeThousandDocuments) {
  const PositionRequest request{.tokens = 256, .context = 2048, .seed = 4};
  const auto is_relativity = [](const PositionSample& sample) {
    return sample.position_id[84] == 84 && sample.position_id[255 - 84] == 2047 - 84;
  };
  for (const std::string coin : {"sample", "batch"}) {
    const DrawPositions draw = Prepared("cream", request, {{"coin", coin}});
    std::vector<int64_t> heads(8);
    for (int64_t i = 0; i < int64_t{8} * 3000; ++i) {
      heads[static_cast<size_t>(i / 3000)] += is_relativity(draw(i)) ? 1 : 0;
    }
    if (coin == "sample") {
      for (const int64_t count : heads) EXPECT_NEAR(count, 1500, 4 * std::sqrt(750));
    } else {
      // Both sides, and nothing between. (Continuity at alpha = 1 also has the ids at 84.)
      EXPECT_THAT(heads, ::testing::Contains(3000));
      EXPECT_THAT(heads, ::testing::Contains(0));
      for (const int64_t count : heads) EXPECT_TRUE(count == 0 || count == 3000) << count;
    }
  }
}

TEST(Cream, KIsFourTimesTheFactorInTheCodeAndThirtyTwoInThePaper) {
  const PositionRequest request{.tokens = 512, .context = int64_t{512} * 16};
  const auto tail = [&](const std::string& variant) {
    const auto runs =
        Runs(Prepared("cream", request, {{"strategy", "continuity"}, {"variant", variant}})(1)
                 .position_id);
    return runs.back().second - runs.back().first + 1;
  };
  EXPECT_EQ(tail("code"), 64);
  EXPECT_EQ(tail("paper"), 32);
}

TEST(Cream, TheAblationsKeepTheSegmentsThatTheyName) {
  const PositionRequest request{.tokens = 96, .context = 768, .seed = 2};
  const auto draw = [&](const std::string& ends) {
    return Prepared(
        "cream", request,
        {{"strategy", "relativity"}, {"ends", ends}, {"mean", "4"}, {"deviation", "0.01"}})(0);
  };
  const auto head = Runs(draw("head").position_id);
  ASSERT_EQ(head.size(), 2u);
  EXPECT_EQ(head[0], (std::pair<int64_t, int64_t>{0, 31}));
  EXPECT_EQ(head[1].second - head[1].first, 63);
  const auto tail = Runs(draw("tail").position_id);
  ASSERT_EQ(tail.size(), 2u);
  EXPECT_EQ(tail[1], (std::pair<int64_t, int64_t>{768 - 32, 767}));
  const auto none = Runs(draw("none").position_id);
  ASSERT_EQ(none.size(), 1u);
  EXPECT_GT(none[0].first, 0);

  const DrawPositions uniform =
      Prepared("cream", {.tokens = 4096, .context = 32768},
               {{"strategy", "continuity"}, {"k", "1"}, {"middle", "uniform"}});
  std::map<int64_t, int64_t> counts;
  for (int64_t i = 0; i < 6000; ++i) {
    ++counts[*PossibleHalves(uniform(i).position_id[4094], 4096, 8, 1).begin()];
  }
  ASSERT_EQ(counts.size(), 15u);
  for (const auto& [half, count] : counts) EXPECT_NEAR(count, 400, 4 * 20) << half;
}

TEST(Cream, TokensOfTheMiddleStandAtItsIdsWhereTheDocumentHasThem) {
  PositionRequest request{.tokens = 96, .context = 768};
  const Options options = {{"strategy", "relativity"}, {"mean", "4"}, {"deviation", "0.01"}};
  EXPECT_EQ(Prepared("cream", request, options)(0).token_index,
            Prepared("cream", request, options)(0).position_id);
  request.document = 120;  // the middle's ids are above it
  EXPECT_THAT(Runs(Prepared("cream", request, options)(0).token_index),
              ElementsAre(std::pair{0, 31}, std::pair{120 - 64, 119}));
  // As the public code: only P_e must be below the document's length, so tokens can occur twice.
  const auto ids = Prepared("cream", request = {.tokens = 96, .context = 768}, options)(0);
  request.document = ids.position_id[63] + 1;
  const auto tokens = Prepared("cream", request, options)(0).token_index;
  EXPECT_EQ(tokens[63], request.document - 1);
  EXPECT_EQ(tokens[64], request.document - 32);
}

TEST(Cream, WhatCannotBeRunIsRefusedWithTheReason) {
  const PositionRequest request{.tokens = 4096, .context = 32768};
  const auto refusal = [&](Options options) {
    options["variant"] = "paper";
    return Refusal("cream", request, options);
  };
  EXPECT_THAT(refusal({{"printed", "eq4"}}), HasSubstr("alpha can be L/N + 1"));
  EXPECT_THAT(refusal({{"printed", "eq6"}}), HasSubstr("empty at alpha = 1"));
  EXPECT_THAT(refusal({{"printed", "line7"}}), HasSubstr("N + 1 ids"));
  EXPECT_THAT(refusal({{"ends", "none"}}), HasSubstr("empty for every alpha"));
  EXPECT_THAT(refusal({{"mean", "900"}}), HasSubstr("no mass"));
  EXPECT_THAT(Refusal("cream", request, {{"printed", "eq4"}}), HasSubstr("variant=paper"));
  EXPECT_THAT(Refusal("cream", {.tokens = 32, .context = 256}), HasSubstr("leave no middle"));
  EXPECT_THAT(Refusal("cream", {.tokens = 96, .context = 768, .document = 95}),
              HasSubstr("a document of 95 tokens is shorter"));
}

TEST(Pose, TwoChunksAsThePublicCode) {
  const PositionRequest request{.tokens = 9, .context = 30, .document = 12};
  const DrawPositions draw = Prepared("pose", request);
  std::set<int64_t> lengths;
  std::set<int64_t> skips;
  std::set<int64_t> token_skips;
  for (int64_t i = 0; i < 3000; ++i) {
    const PositionSample sample = draw(i);
    const auto runs = Runs(sample.position_id);
    ASSERT_EQ(runs.front().first, 0);
    skips.insert(sample.position_id.back() - 8);
    token_skips.insert(sample.token_index.back() - 8);
    ASSERT_EQ(sample.token_index.front(), 0);
    if (runs.size() == 2) lengths.insert(runs.front().second + 1);
  }
  EXPECT_THAT(lengths, ElementsAre(1, 2, 3, 4, 5));
  EXPECT_THAT(token_skips, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(skips.size(), 22u);
  EXPECT_EQ(*skips.rbegin(), 21);
}

TEST(Pose, AnyNumberOfChunks) {
  const PositionRequest request{.tokens = 40, .context = 4000};
  for (const int64_t chunks : {1, 3, 40}) {
    const DrawPositions draw = Prepared("pose", request, {{"chunks", std::to_string(chunks)}});
    size_t most = 0;
    for (int64_t i = 0; i < 200; ++i) most = std::max(most, Runs(draw(i).position_id).size());
    EXPECT_LE(most, static_cast<size_t>(chunks));
    EXPECT_GE(most, std::min<size_t>(static_cast<size_t>(chunks), 5));
  }
  EXPECT_THAT(Refusal("pose", request, {{"chunks", "41"}}), HasSubstr("41 chunks"));
}

TEST(RandPos, EverySetIsEquallyLikely) {
  // 3 of 6: 20 sets; 4 of 6 takes the way by the complement: 15 sets.
  for (const int64_t tokens : {3, 4}) {
    const DrawPositions draw = Prepared("randpos", {.tokens = tokens, .context = 6});
    std::map<std::vector<int64_t>, int64_t> counts;
    for (int64_t i = 0; i < 12000; ++i) ++counts[draw(i).position_id];
    const double wanted = tokens == 3 ? 600 : 800;
    EXPECT_EQ(counts.size(), tokens == 3 ? 20u : 15u);
    for (const auto& [ids, count] : counts) EXPECT_NEAR(count, wanted, 4.5 * std::sqrt(wanted));
  }
  EXPECT_THAT(Runs(Prepared("randpos", {.tokens = 70, .context = 70})(0).position_id),
              ElementsAre(std::pair{0, 69}));
}

TEST(Full, ShowsAllPositions) {
  EXPECT_THAT(Runs(Prepared("full", {.tokens = 50, .context = 50})(1).position_id),
              ElementsAre(std::pair{0, 49}));
  EXPECT_THAT(Refusal("full", {.tokens = 40, .context = 50}), HasSubstr("all 50 positions"));
}

TEST(Samplers, ARequestThatCannotBeIsRefused) {
  EXPECT_THAT(Refusal("pose", {.tokens = 0, .context = 50}), HasSubstr("at least one token"));
  EXPECT_THAT(Refusal("pose", {.tokens = 51, .context = 50}), HasSubstr("shorter than a sample"));
  EXPECT_THAT(Refusal("randpos", {.tokens = 51, .context = 1 << 25}), HasSubstr("too long"));
}

// The issue requires 10,000 per second on a quiet machine; a fifth of it still shows a slow way.
TEST(Samplers, TwoThousandSamplesPerSecondOfFourThousandTokens) {
  for (const std::string name : {"cream", "pose", "randpos"}) {
    const DrawPositions draw = Prepared(name, {.tokens = 4096, .context = 32768});
    const auto start = std::chrono::steady_clock::now();
    int64_t sum = 0;
    for (int64_t i = 0; i < 2000; ++i) sum += draw(i).position_id.back();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_GT(sum, 0);
    EXPECT_LT(seconds.count(), 1.0) << name;
    RecordProperty(name, std::to_string(2000 / seconds.count()));
  }
}

}  // namespace
}  // namespace midscope
