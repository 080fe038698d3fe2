// SPDX-License-Identifier: MIT
// Small letters for ASCII capitals, whatever the locale; other bytes stay.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

constexpr char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

}  // namespace midscope
