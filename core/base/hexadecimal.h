// SPDX-License-Identifier: MIT
// Digests as text.
#pragma once

#include <span>
#include <string>

namespace midscope {

// Two lower-case digits a byte.
inline std::string Hexadecimal(std::span<const unsigned char> bytes) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const unsigned char byte : bytes) {
    text += kDigits[byte >> 4U];
    text += kDigits[byte & 15U];
  }
  return text;
}

}  // namespace midscope
