// SPDX-License-Identifier: MIT
#include "core/base/record.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace midscope {
namespace {

Record Good() {
  Record record;
  record.name = "probe";
  record.axes = {{"layer", 2, "", {}, {}}, {"key", 3, "", {"a", "b", "c"}, {}}};
  record.arrays = {{"attention", {"layer", "key"}, std::vector<float>(6), "", ""},
                   {"loss", {}, std::vector<double>{1.5}, "nat", ""}};
  record.signal = "attention";
  return record;
}

TEST(Record, FindsByName) {
  const Record record = Good();
  EXPECT_NO_THROW(record.Check());
  ASSERT_NE(record.FindAxis("key"), nullptr);
  EXPECT_EQ(record.FindAxis("key")->size, 3);
  EXPECT_EQ(record.FindAxis("head"), nullptr);
  ASSERT_NE(record.FindArray("loss"), nullptr);
  EXPECT_EQ(ElementCount(record.FindArray("loss")->data), 1);
  EXPECT_EQ(record.FindArray("layer"), nullptr);
}

TEST(Record, AttributeTextIsEmptyWhereThereIsNone) {
  Record record = Good();
  record.attributes = {{"task", std::string("kv")}, {"seed", int64_t{3}}};
  EXPECT_EQ(AttributeText(record, "task"), "kv");
  EXPECT_EQ(AttributeText(record, "seed"), "");
  EXPECT_EQ(AttributeText(record, "place"), "");
}

TEST(Record, CheckFindsWhatDoesNotFit) {
  const auto broken = [](auto change) {
    Record record = Good();
    change(record);
    return record;
  };
  const std::vector<Record> records = {
      broken([](Record& r) { r.arrays[0].axes[0] = "head"; }),
      broken([](Record& r) { r.arrays[0].data = std::vector<float>(5); }),
      broken([](Record& r) {
        r.arrays[0].axes = {"layer", "layer"};
      }),
      broken([](Record& r) { r.arrays[1].name = "attention"; }),
      broken([](Record& r) { r.arrays[1].name = "layer"; }),
      broken([](Record& r) { r.axes[1].name = "layer"; }),
      broken([](Record& r) { r.axes[1].labels.pop_back(); }),
      broken([](Record& r) { r.axes[0].values = {1.0}; }),
      broken([](Record& r) { r.axes[0].size = -1; }),
      broken([](Record& r) { r.signal = "nothing"; }),
      broken([](Record& r) { r.arrays[1].data = std::vector<std::string>{}; }),
  };
  for (const Record& record : records) EXPECT_THROW(record.Check(), std::logic_error);
}

}  // namespace
}  // namespace midscope
