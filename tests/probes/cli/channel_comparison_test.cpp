// SPDX-License-Identifier: MIT
// The rows of two models' positional channels, in the table and as JSON.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "probes/cli/commands/channel_comparison.h"

namespace midscope::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A model of `channels` channels, of which these are candidates, the first one the smoothest.
RankedChannels Ranked(size_t channels, const std::vector<int64_t>& candidates) {
  RankedChannels ranked{std::vector<int64_t>(channels, 0), std::vector<int64_t>(channels, 0),
                        std::vector<double>(channels, std::nan("")), candidates, 8};
  for (size_t rank = 0; rank < candidates.size(); ++rank) {
    const auto channel = static_cast<size_t>(candidates[rank]);
    ranked.trend[channel] = rank % 2 == 0 ? 1 : -1;
    ranked.monotone_layers[channel] = 3 + static_cast<int64_t>(rank);
    ranked.smoothness[channel] = 0.5 + static_cast<double>(rank);
  }
  return ranked;
}

TEST(ChannelComparison, HasTheFirstChannelsOfBothModels) {
  const ChannelComparison comparison = {Ranked(10, {4, 7}), Ranked(10, {7, 1})};
  const auto json = ChannelComparisonJson(comparison);
  ASSERT_EQ(json.size(), 3u);
  EXPECT_EQ(json[0]["channel"], 4);
  EXPECT_EQ(json[0]["rank_before"], 1);
  EXPECT_TRUE(json[0]["rank_after"].is_null());
  EXPECT_EQ(json[0]["monotone_layers_after"], 0);
  EXPECT_EQ(json[1]["channel"], 7);
  EXPECT_EQ(json[1]["rank_before"], 2);
  EXPECT_EQ(json[1]["rank_after"], 1);
  EXPECT_EQ(json[1]["smoothness_before"], 1.5);
  EXPECT_EQ(json[2]["channel"], 1);
  const std::string text = ChannelComparisonText(comparison).Text();
  EXPECT_THAT(text, AllOf(HasSubstr("2 before, 2 after"), HasSubstr("3 of 8 rising"),
                          HasSubstr("4 of 8 falling"), HasSubstr("1.5000")));
  const Record record = ChannelComparisonRecord(comparison);
  record.Check();
  EXPECT_EQ(std::get<std::vector<int64_t>>(record.FindArray("rank_after")->data),
            (std::vector<int64_t>{0, 2, 0, 0, 0, 0, 0, 1, 0, 0}));
}

// Channel 3 of a model with 4 channels is not channel 3 of one with 6.
TEST(ChannelComparison, ModelsOfOtherSizesShareNoChannel) {
  const ChannelComparison comparison = {Ranked(4, {3}), Ranked(6, {3})};
  const auto json = ChannelComparisonJson(comparison);
  ASSERT_EQ(json.size(), 2u);
  EXPECT_TRUE(json[0]["monotone_layers_after"].is_null());
  EXPECT_TRUE(json[1]["monotone_layers_before"].is_null());
  ChannelComparisonRecord(comparison).Check();
  const ChannelComparison none = {Ranked(4, {}), Ranked(4, {})};
  EXPECT_THAT(ChannelComparisonText(none).Text(),
              AllOf(HasSubstr("0 before, 0 after"), Not(HasSubstr("rank"))));
}

}  // namespace
}  // namespace midscope::cli
