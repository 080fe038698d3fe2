// SPDX-License-Identifier: MIT
#include "core/base/utf8.h"

#include <gtest/gtest.h>

namespace midscope {
namespace {

// As bytes.decode("utf-8", "replace") of Python and String::from_utf8_lossy of Rust.
TEST(Utf8, ReplacesWhatIsNoCharacter) {
  const std::string r = "\xEF\xBF\xBD";
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"a\xC3\xA9", "a\xC3\xA9"},
      {"\xF0\x9F\xA6", r},                 // a character without its last byte
      {"\xF0\x9F\xA6x", r + "x"},          // likewise
      {"\x9F\xA6\x9Cx", r + r + r + "x"},  // its end alone: each byte
      {"\xE2\x82\xE2\x82\xAC", r + "\xE2\x82\xAC"},
      {"\xE0\x80\x80", r + r + r},          // overlong
      {"\xED\xA0\x80", r + r + r},          // a surrogate
      {"\xF4\x90\x80\x80", r + r + r + r},  // beyond U+10FFFF
      {"\xF0\x80\x80", r + r + r},
      {"\xC0\xAF", r + r},
      {"\xF5\x80", r + r},
      {"\xC3", r},
      {"\xFF"
       "a\xFE",
       r + "a" + r},
  };
  for (const auto& [bytes, text] : cases) EXPECT_EQ(ReplaceInvalidUtf8(bytes), text);
}

}  // namespace
}  // namespace midscope
