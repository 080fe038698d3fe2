// SPDX-License-Identifier: MIT
// The layout of stacked records does not depend on the values that describe single prompts.
#include "probes/base/record_stack.h"

#include <gtest/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "probes/base/records.h"

namespace midscope {
namespace {

Record Answer(double nll, int64_t correct, int64_t place, int64_t tokens) {
  Record record;
  record.name = "answer";
  record.axes = {CountedAxis("answer_token", tokens)};
  record.arrays = {{"answer_ids",
                    {"answer_token"},
                    std::vector<int64_t>(static_cast<size_t>(tokens), 7),
                    "",
                    ""}};
  record.attributes = {
      {"answer_nll", nll}, {"correct", correct}, {"place", place}, {"intervention", "none"}};
  return record;
}

std::vector<std::string> LayoutOf(const Record& record) {
  std::vector<std::string> layout;
  for (const Array& array : record.arrays) {
    layout.push_back(array.name + " " + std::to_string(array.data.index()) + " " + array.unit);
  }
  for (const auto& [name, value] : record.attributes) layout.push_back("attribute " + name);
  return layout;
}

TEST(RecordStack, LayoutIsTheSameForEqualAndDifferentValues) {
  const std::vector<Axis> leading = {ValuedAxis("sample", {0, 1}), ValuedAxis("place", {3})};
  const Record equal = StackRecords({Answer(2, 1, 3, 2), Answer(2, 1, 3, 2)}, leading);
  const Record different = StackRecords({Answer(2, 1, 3, 2), Answer(4, 0, 3, 1)}, leading);
  EXPECT_EQ(LayoutOf(equal), LayoutOf(different));
  const Array& nll = *equal.FindArray("answer_nll");
  EXPECT_EQ(nll.unit, "nats");
  EXPECT_EQ(nll.axes, (std::vector<std::string>{"sample", "place"}));
  EXPECT_EQ(std::get<std::vector<uint8_t>>(different.FindArray("correct")->data),
            (std::vector<uint8_t>{1, 0}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(equal.FindArray("answer_token_count")->data),
            (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(std::get<std::string>(equal.attributes.at("intervention")), "none");
  EXPECT_FALSE(equal.attributes.contains("place"));  // it is an axis
}

}  // namespace
}  // namespace midscope
