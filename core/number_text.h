// SPDX-License-Identifier: MIT
// Numbers to text and back, the same in every locale.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace midscope {

// The shortest text that reads back as the same number.
inline std::string NumberText(double value) {
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), value);
  return {buffer, result.ptr};
}

// Whether all of `text` is a number of type T, which `value` then holds.
template <typename T>
bool ReadWhole(std::string_view text, T& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

}  // namespace midscope
