// SPDX-License-Identifier: MIT
#include "probes/cli/text/export_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "probes/base/records.h"

namespace midscope::cli {
namespace {

using ::testing::HasSubstr;

std::vector<Record> TwoRecords() {
  Record one;
  one.name = "one";
  one.axes = {CountedAxis("layer", 2), CountedAxis("place", 2)};
  one.arrays = {{"score", {"layer"}, std::vector<float>{1, 2}, "", ""},
                {"nll", {"place"}, std::vector<double>{3, 4}, "", ""}};
  Record two;
  two.name = "two";
  two.axes = {CountedAxis("layer", 2), ValuedAxis("place", {1, 20})};
  two.arrays = {{"ratio", {"layer"}, std::vector<float>{5, 6}, "", ""},
                {"nll", {"place"}, std::vector<double>{7, 8}, "", ""}};
  return {one, two};
}

TEST(PickArray, FindsByNameAndByRecord) {
  const Record ratio = PickArray(TwoRecords(), "ratio").record;
  ratio.Check();
  EXPECT_EQ(ratio.name, "two");
  ASSERT_EQ(ratio.axes.size(), 1u);
  EXPECT_EQ(PickArray(TwoRecords(), "two/nll").record.FindAxis("place")->values.size(), 2u);
}

TEST(PickArray, TakesTheFirstOfSeveralAndNamesTheOthers) {
  const PickedArray picked = PickArray(TwoRecords(), "nll");
  EXPECT_EQ(picked.record.name, "one");
  EXPECT_EQ(picked.also, std::vector<std::string>{"two/nll"});
}

TEST(PickArray, NamesWhatThereIs) {
  try {
    PickArray(TwoRecords(), "two/ration");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("two/ratio"));
  }
}

TEST(MergeRecords, SharesEqualAxesAndKeepsOthersApart) {
  const Record merged = MergeRecords(TwoRecords());
  merged.Check();
  EXPECT_EQ(merged.arrays.size(), 4u);
  EXPECT_EQ(merged.axes.size(), 3u);  // the axis layer is shared, the axis place is not
  ASSERT_NE(merged.FindArray("two.nll"), nullptr);
  EXPECT_EQ(merged.FindArray("two.nll")->axes, std::vector<std::string>{"two.place"});
  EXPECT_EQ(merged.FindArray("ratio")->axes, std::vector<std::string>{"layer"});
}

// The record setting_comparisons of a sweep has an array named `setting` and an axis of that name.
TEST(MergeRecords, AnArrayThatIsCalledAsAnAxisIsQualified) {
  Record means;
  means.name = "means";
  means.axes = {LabelledAxis("setting", {"none", "pi(1.5)"})};
  means.arrays = {{"nll", {"setting"}, std::vector<double>{1, 2}, "", ""},
                  {"token", {"setting"}, std::vector<int64_t>{7, 8}, "", ""}};
  Record comparisons;
  comparisons.name = "comparisons";
  comparisons.axes = {CountedAxis("comparison", 1), CountedAxis("token", 3)};
  comparisons.arrays = {{"setting", {"comparison"}, std::vector<std::string>{"pi(1.5)"}, "", ""},
                        {"ids", {"token"}, std::vector<int64_t>{1, 2, 3}, "", ""}};
  const Record merged = MergeRecords({means, comparisons});
  merged.Check();
  EXPECT_EQ(merged.FindAxis("setting")->size, 2);
  ASSERT_NE(merged.FindArray("comparisons.setting"), nullptr);
  EXPECT_EQ(merged.FindArray("comparisons.setting")->axes, std::vector<std::string>{"comparison"});
  ASSERT_NE(merged.FindArray("ids"), nullptr);
  EXPECT_EQ(merged.FindArray("ids")->axes, std::vector<std::string>{"comparisons.token"});
}

}  // namespace
}  // namespace midscope::cli
