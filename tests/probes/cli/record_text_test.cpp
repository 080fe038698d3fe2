// SPDX-License-Identifier: MIT
// The text form in which the command line prints records.
#include "probes/cli/text/record_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/record.h"
#include "probes/base/records.h"

namespace midscope::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Record Heads() {
  Record record;
  record.name = "heads";
  record.axes = {CountedAxis("place", 2), CountedAxis("layer", 2), CountedAxis("head", 3)};
  record.arrays = {
      {"score", {"layer", "head"}, std::vector<float>{0.5F, 0, 0.75F, 0.25F, NAN, 0.5F}, "", ""},
      {"by_place",
       {"place", "layer", "head"},
       std::vector<double>{1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1},
       "",
       ""}};
  return record;
}

// Token texts are stored with escapes, which are not escaped again.
TEST(RecordText, EscapesOnce) {
  Record record;
  record.name = "tokens";
  record.axes = {CountedAxis("token", 3)};
  record.arrays = {
      {"token_text", {"token"}, std::vector<std::string>{"a\\nb", "c\nd", "e\\\x1f"}, "", ""}};
  const std::string text = RecordText(record);
  EXPECT_THAT(text, HasSubstr("'a\\nb'"));
  EXPECT_THAT(text, HasSubstr("'c\\nd'"));
  EXPECT_THAT(text, HasSubstr("'e\\\\\\u{001F}'"));
}

TEST(RecordText, ListsTheLargestHeads) {
  EXPECT_THAT(RecordText(Heads()),
              HasSubstr("    L0H2 0.75, L0H0 0.5, L1H2 0.5, L1H0 0.25, L0H1 0\n"));
  const std::string two = RecordText(Heads(), 2);
  EXPECT_THAT(two, HasSubstr("    L0H2 0.75, L0H0 0.5\n"));
  EXPECT_THAT(two, HasSubstr("    place 0: L1H2 6, L1H1 5\n    place 1: L0H0 6, L0H1 5\n"));
  EXPECT_EQ(LargestHeadsText(Heads(), Heads().arrays[0], 1),
            "heads/score, the largest heads:\n    L0H2 0.75\n");
}

TEST(RecordText, HasNoStatisticsOfIdsOffsetsAndCounts) {
  Record record;
  record.name = "lens";
  record.axes = {CountedAxis("layer", 2), CountedAxis("rank", 2)};
  const std::vector<std::string> axes = {"layer", "rank"};
  record.arrays = {{"lens_token_ids", axes, std::vector<int64_t>{5, 6, 7, 8}, "", ""},
                   {"gold_token_begin", axes, std::vector<int64_t>{5, 6, 7, 8}, "tokens", ""},
                   {"probability", axes, std::vector<double>{1, 2, 3, 6}, "", ""},
                   {"right", axes, std::vector<uint8_t>{1, 0, 0, 0}, "", ""}};
  const std::string text = RecordText(record);
  EXPECT_THAT(text, HasSubstr("  lens_token_ids [layer 2, rank 2]\n"));
  EXPECT_THAT(text, HasSubstr("  gold_token_begin [layer 2, rank 2] in tokens\n"));
  EXPECT_THAT(text, HasSubstr("  probability [layer 2, rank 2]: mean 3, least 1, largest 6 at"));
  EXPECT_THAT(text, HasSubstr("  right [layer 2, rank 2]: mean 0.25"));
}

// For arrays over places and layers, such as logit_lens_by_place; the largest rank is not worth
// printing.
TEST(RecordText, ListsTheLargestLayersOfEachPlace) {
  Record record;
  record.name = "logit_lens_by_place";
  record.axes = {CountedAxis("place", 2), CountedAxis("layer", 3)};
  record.axes[0].values = {1, 10};
  const std::vector<std::string> axes = {"place", "layer"};
  record.arrays = {
      {"nats", axes, std::vector<double>{-3, -1, -2, -6, -5, -4}, "nats", ""},
      {"mean_answer_rank", axes, std::vector<double>{0, 1, 2, 3, 4, 5}, kRankFromZero, ""}};
  const std::string text = RecordText(record, 2);
  EXPECT_THAT(text, HasSubstr("at place 1, layer 1\n"
                              "    place 1: L1 -1, L2 -2\n"
                              "    place 10: L2 -4, L1 -5\n"
                              "  mean_answer_rank"));
  EXPECT_EQ(LargestHeadsText(record, record.arrays[0], 1),
            "logit_lens_by_place/nats, the largest layers:\n"
            "    place 1: L1 -1\n"
            "    place 10: L2 -4\n");
  EXPECT_EQ(LargestHeadsText(record, record.arrays[1], 1), "");
}

// Ranks are stored from 0 and printed from 1, like next tokens.
TEST(RecordText, PrintsRanksFromOne) {
  Record record;
  record.name = "lens";
  record.axes = {CountedAxis("layer", 2), CountedAxis("rank", 2)};
  record.axes[1].unit = kRankFromZero;
  record.arrays = {{"answer_rank", {"layer"}, std::vector<int64_t>{0, 41}, kRankFromZero, ""},
                   {"mean_answer_rank",
                    {"layer", "rank"},
                    std::vector<double>{0.5, 1, 2, 3},
                    kRankFromZero,
                    ""}};
  const std::string text = RecordText(record);
  EXPECT_THAT(text, HasSubstr("layer  answer_rank [rank]\n    0                   1\n"));
  EXPECT_THAT(text, HasSubstr("    1                  42\n"));
  EXPECT_THAT(text, HasSubstr("in rank: mean 2.625, least 1.5, largest 4 at layer 1, rank 2"));
  EXPECT_THAT(text, Not(HasSubstr("from 0")));
}

}  // namespace
}  // namespace midscope::cli
