// SPDX-License-Identifier: MIT
// The bytes of NPZ files; check_hdf5.py checks that numpy reads them.
#include "data/export/npz.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "core/base/error.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

std::string Npz(const Record& record) {
  std::ostringstream out;
  WriteNpz(record, out);
  return out.str();
}

// The data of a member after its NPY header, which must be correct.
std::string Member(const std::string& zip, const std::string& name, const std::string& type,
                   const std::string& shape) {
  const size_t at = zip.find(name + ".npy\x93NUMPY");
  if (at == std::string::npos) return "no member " + name;
  const size_t npy = at + name.size() + 4;
  uint16_t header = 0;
  std::memcpy(&header, zip.data() + npy + 8, sizeof(header));
  EXPECT_EQ((10 + header) % 64, 0);
  EXPECT_THAT(zip.substr(npy + 10, header),
              HasSubstr("{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape));
  uint32_t size = 0;
  // It precedes the lengths of name and extra field.
  std::memcpy(&size, zip.data() + at - 8, sizeof(size));
  return zip.substr(npy + 10 + header, size - 10 - header);
}

TEST(Npz, HoldsArraysAndAxesUnderTheirNames) {
  const std::string zip = Npz(ExampleRecords()[0]);
  const std::string correct = Member(zip, "correct", "|b1", "(2,)");
  EXPECT_EQ(correct, std::string("\1\0", 2));
  const std::string ids = Member(zip, "token_ids", "<i8", "(4,)");
  int64_t second = 0;
  std::memcpy(&second, ids.data() + 8, sizeof(second));
  EXPECT_EQ(second, -1);
  EXPECT_EQ(Member(zip, "last_query_attention", "<f4", "(3,2,4,)").size(), 96U);
  EXPECT_EQ(Member(zip, "elapsed", "<f8", "()").size(), 8U);
  EXPECT_EQ(Member(zip, "none_at_all", "<f4", "(0,)").size(), 0U);
  // One character outside the Basic Multilingual Plane is one element.
  const std::string texts = Member(zip, "token_text", "<U3", "(4,)");
  ASSERT_EQ(texts.size(), 48U);
  char32_t smile = 0;
  std::memcpy(&smile, texts.data() + 24, sizeof(smile));
  EXPECT_EQ(smile, U'\U0001F600');
  EXPECT_EQ(Member(zip, "place", "<i8", "(2,)").size(), 16U);
  EXPECT_EQ(Member(zip, "key_label", "<U6", "(4,)").size(), 96U);
  const std::string layers = Member(zip, "layer", "<i8", "(3,)");
  ASSERT_EQ(layers.size(), 24U);
  int64_t last = 0;
  std::memcpy(&last, layers.data() + 16, sizeof(last));
  EXPECT_EQ(last, 2);
}

TEST(Npz, EqualRecordsMakeEqualBytes) {
  EXPECT_EQ(Npz(ExampleRecords()[1]), Npz(ExampleRecords()[1]));
}

// The real limit is ZIP's 4 GiB; a small limit shows that a member beyond it is not begun.
TEST(Npz, RefusesWhatGoesBeyondTheLimitBeforeWritingIt) {
  Record record;
  record.name = "large";
  record.axes = {{"row", 100, "", {}, {}}};
  record.arrays = {{"first", {"row"}, std::vector<double>(100), "", ""},
                   {"second", {"row"}, std::vector<double>(100), "", ""}};
  const auto refused = [&](int64_t largest) {
    std::ostringstream out;
    EXPECT_THAT(test::ErrorMessage(ErrorKind::kFailure, [&] { WriteNpz(record, out, largest); }),
                HasSubstr("4 GiB"));
    return out.str();
  };
  const std::string begun = refused(1500);
  EXPECT_THAT(begun, HasSubstr("first.npy"));
  EXPECT_EQ(begun.find("second.npy"), std::string::npos);
  EXPECT_LE(begun.size(), 1500U);
  EXPECT_EQ(refused(700), "");
}

}  // namespace
}  // namespace midscope
