// SPDX-License-Identifier: MIT
// Numbers to text and back, the same in every locale.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

namespace midscope {

// The shortest text that reads back as the same number, written as a person would: 500000, not
// 5e+05; with an exponent below 1e-5 and from 1e17 on alone.
inline std::string NumberText(double value) {
  char buffer[32];
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-5 && size < 1e17);
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {buffer, result.ptr};
}

// How many of a thing there are: "1 sample", "2 samples".
inline std::string CountText(int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// Whether all of `text` is a number of type T, which `value` then holds.
template <typename T>
bool ReadWhole(std::string_view text, T& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace midscope
