// SPDX-License-Identifier: MIT
#include "core/base/json_depth.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>

namespace midscope {
namespace {

using nlohmann::json;

TEST(JsonDepth, CountsBracketsOutsideTexts) {
  EXPECT_TRUE(JsonNestsWithin("", 0));
  EXPECT_TRUE(JsonNestsWithin("[1,[2]]", 2));
  EXPECT_FALSE(JsonNestsWithin("[1,[2]]", 1));
  EXPECT_TRUE(JsonNestsWithin(R"({"a":"[[[[","b":"\"[[["})", 1));
  EXPECT_FALSE(JsonNestsWithin(R"({"a\\":[{}]})", 2));
  EXPECT_TRUE(JsonNestsWithin("[][][][]", 1));
  EXPECT_FALSE(JsonNestsWithin(std::string(1 << 20, '[')));
}

// A value of at most so many levels, of every type that MessagePack has.
json RandomValue(std::mt19937& random, int levels) {
  switch (random() % (levels > 0 ? 8 : 6)) {
    case 0:
      return nullptr;
    case 1:
      return random() % 2 == 0 ? json(int64_t{-1} << (random() % 63)) : json(random());
    case 2:
      return static_cast<double>(random()) / 7;
    case 3:
      return std::string(random() % 3 == 0 ? random() % 70000 : random() % 40, 'x');
    case 4:
      return json::binary(std::vector<uint8_t>(random() % 300), random() % 2);
    case 5:
      return random() % 2 == 0;
    case 6: {
      json list = json::array();
      for (size_t i = random() % 20; i > 0; --i) list.push_back(RandomValue(random, levels - 1));
      return list;
    }
    default: {
      json object = json::object();
      for (size_t i = random() % 20; i > 0; --i)
        object[std::to_string(i)] = RandomValue(random, levels - 1);
      return object;
    }
  }
}

int64_t DepthOf(const json& value) {
  if (!value.is_structured() || value.empty()) return 0;
  int64_t deepest = 0;
  for (const json& held : value) deepest = std::max(deepest, DepthOf(held));
  return deepest + 1;
}

TEST(JsonDepth, MessagePackIsFollowedToItsEnd) {
  std::mt19937 random(5);
  for (int i = 0; i < 300; ++i) {
    const json value = RandomValue(random, 4);
    std::vector<uint8_t> bytes = json::to_msgpack(value);
    const int64_t depth = DepthOf(value);
    ASSERT_TRUE(MessagePackNestsWithin(bytes, depth)) << i;
    if (depth > 0) {
      ASSERT_FALSE(MessagePackNestsWithin(bytes, depth - 1)) << i;
    }
    bytes.push_back(0);
    ASSERT_FALSE(MessagePackNestsWithin(bytes, depth)) << "a byte behind it";
    bytes.pop_back();
    bytes.pop_back();
    ASSERT_FALSE(MessagePackNestsWithin(bytes, depth)) << "a byte less";
  }
}

TEST(JsonDepth, WhatPassesTheJsonLibraryReadsOrRefuses) {
  std::mt19937 random(6);
  for (int i = 0; i < 2000; ++i) {
    std::vector<uint8_t> bytes = json::to_msgpack(RandomValue(random, 3));
    bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    if (!MessagePackNestsWithin(bytes)) continue;
    try {
      const json value = json::from_msgpack(bytes);
      EXPECT_FALSE(value.is_discarded());
    } catch (const json::exception&) {
    }
  }
  EXPECT_FALSE(MessagePackNestsWithin(std::vector<uint8_t>(100000, 0x91)));
  EXPECT_FALSE(MessagePackNestsWithin(std::vector<uint8_t>{0xdd, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_FALSE(MessagePackNestsWithin({}));
}

}  // namespace
}  // namespace midscope
