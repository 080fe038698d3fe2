// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <string>

namespace midscope {

// A share of 0 to 1 as "25 %", "26.32 %": up to four digits.
inline std::string PercentText(double share) {
  constexpr int kDigits = 4;
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), 100 * share,
                                    std::chars_format::general, kDigits);
  return std::string(buffer, result.ptr) + " %";
}

}  // namespace midscope
