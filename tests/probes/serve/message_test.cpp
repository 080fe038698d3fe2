// SPDX-License-Identifier: MIT
// Messages come back as they were; damaged, deep and lying ones are errors, in memory that is
// linear in their bytes.
#include "probes/serve/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {
namespace {

using ::testing::HasSubstr;
using namespace std::string_view_literals;

std::string Problem(std::string_view bytes) {
  try {
    UnpackMessage(bytes);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Message, ComesBackAsItWas) {
  const Message message = {{"id", 7},
                           {"negative", -3},
                           {"number", 0.1},
                           {"text", "ünï"},
                           {"none", nullptr},
                           {"flag", true},
                           {"list", {1, "two", Message::array()}},
                           {"bytes", Message::binary({0, 255, 7})},
                           {"map", {{"inner", Message::object()}}}};
  EXPECT_EQ(UnpackMessage(PackMessage(message)), message);
}

TEST(Message, AFrameRefersToLargeBinaries) {
  const std::vector<uint8_t> large(size_t{1} << 20, 7);
  const Message message = {{"id", 1},
                           {"parts", {Message::binary(large), "text", Message::binary(large)}},
                           {"text", std::string(100000, 'a')}};
  const std::string packed = PackMessage(message);
  const Frame frame = PackFrame(message);
  EXPECT_EQ(frame.size(), packed.size());
  EXPECT_LT(frame.parts.size(), 10U);
  std::string joined;
  for (const std::string_view part : frame.parts) joined += part;
  EXPECT_EQ(joined, packed);
}

// Whole values stay numbers with a point, as attributes of records are.
TEST(Message, WholeRealNumbersStayReal) {
  const Message read = UnpackMessage(PackMessage({{"real", 2.0}, {"whole", 2}}));
  EXPECT_TRUE(read["real"].is_number_float());
  EXPECT_TRUE(read["whole"].is_number_integer());
}

TEST(Message, WhatIsNotOneIsRefused) {
  EXPECT_THAT(Problem(""), HasSubstr("cut off"));
  EXPECT_THAT(Problem("\x81\xa2id"sv), HasSubstr("cut off"));
  EXPECT_THAT(Problem("\x01\x02"sv), HasSubstr("bytes follow"));
  EXPECT_THAT(Problem("\x81\x01\x02"sv), HasSubstr("a key is not a text"));
  EXPECT_THAT(Problem("\x81\x91\x01\x02"sv), HasSubstr("a key is not a text"));
  EXPECT_THAT(Problem("\x82\xa1\x61\x01\xa1\x61\x02"sv), HasSubstr("twice"));
  EXPECT_THAT(Problem("\xa1\xff"sv), HasSubstr("UTF-8"));
  EXPECT_THAT(Problem("\xd4\x01\x02"sv), HasSubstr("extension"));
  EXPECT_THAT(Problem("\xc1"sv), HasSubstr("damaged"));
}

TEST(Message, DepthAndClaimedLengthsTakeNoMemory) {
  EXPECT_THAT(Problem(std::string(100000, '\x91')), HasSubstr("too deeply"));
  EXPECT_THAT(Problem("\xdd\xff\xff\xff\xff"sv), HasSubstr("cut off"));          // 2^32 elements
  EXPECT_THAT(Problem("\xdf\xff\xff\xff\xff\xa1\x61\x01"sv), HasSubstr("cut"));  // 2^32 members
  EXPECT_THAT(Problem("\xc6\xff\xff\xff\xff\x01"sv), HasSubstr("cut off"));      // 4 GB of bytes
  std::string deepest;
  for (size_t i = 0; i < kDeepestMessage; ++i) deepest += '\x91';
  EXPECT_EQ(Problem(deepest + "\x01"), "");
}

TEST(Message, MutatedBytesAreMessagesOrErrors) {
  const std::string packed =
      PackMessage({{"id", 1},
                   {"method", "run"},
                   {"params", {{"setting", "pi(1.5)"}, {"capture", {"hook_embed"}}, {"place", 0}}},
                   {"data", Message::binary({1, 2, 3, 4})}});
  std::mt19937 random(1);
  int64_t refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string bytes = packed;
    for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      bytes[random() % bytes.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    refused += Problem(bytes).empty() ? 0 : 1;
  }
  EXPECT_GT(refused, 1000);
}

TEST(Message, AnErrorHasItsParts) {
  const Message error = ErrorMessage(UsageError("option --x", "it is 3", "Give 2"));
  EXPECT_EQ(error["thing"], "option --x");
  EXPECT_EQ(error["reason"], "it is 3");
  EXPECT_EQ(error["remedy"], "Give 2");
  EXPECT_EQ(error["usage"], true);
  EXPECT_EQ(ErrorMessage(Failure("f", "damaged"))["remedy"], "");
}

}  // namespace
}  // namespace midscope
