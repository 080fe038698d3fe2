// SPDX-License-Identifier: MIT
// Iterates over the characters of text that may end in the middle of one, as generated text can.
// Internal to data/scorers.
#pragma once

#include <cstddef>
#include <string_view>

#include "core/base/utf8.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {

// Calls visit(code, bytes) for each character. A byte that is not part of a character gets the code
// 0xDC00 + byte, which no character has (Python's surrogateescape).
template <typename Visit>
void ForEachCharacter(std::string_view text, const Visit& visit) {
  constexpr char32_t kEscape = 0xDC00;
  for (size_t offset = 0; offset < text.size();) {
    const auto lead = static_cast<unsigned char>(text[offset]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    const std::string_view bytes = text.substr(offset, length);
    if (lead >= 0x80 && FindInvalidUtf8(bytes)) {
      visit(kEscape + lead, text.substr(offset, 1));
      ++offset;
    } else {
      visit(CharacterAt(text, offset).code, bytes);
      offset += length;
    }
  }
}

}  // namespace midscope
