// SPDX-License-Identifier: MIT
// Functions for bytes that may not be valid UTF-8.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace midscope {

// Returns the offset of the first byte that does not begin a well-formed character (surrogates and
// overlong forms are not well-formed).
std::optional<int64_t> FindInvalidUtf8(std::string_view text);

// Whether the byte begins a character in well-formed text; all other bytes continue one.
inline bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// Returns the number of characters; the text must be well-formed.
inline int64_t CountCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), BeginsCharacter);
}

// Returns the text with each malformed part replaced by U+FFFD: one per byte, but one for all bytes
// of a character whose end is missing (Unicode 3.9, "maximal subpart", as in Rust and Python).
std::string ReplaceInvalidUtf8(std::string_view text);

// Throws Error "thing: not UTF-8 at byte N" if the text is not well-formed.
void CheckUtf8(const std::string& thing, std::string_view text);

// Returns any bytes as one line of valid UTF-8 for labels and messages: newline as \n, backslash as
// \\, invisible characters and non-characters as \u{200D}, bytes that are not UTF-8 (parts of a
// character) as \xE2. Spaces are unchanged.
std::string DisplayText(std::string_view bytes);

// Returns DisplayText of at most `characters` characters (then "..."), in quotes. For names from a
// file in messages.
std::string Quote(std::string_view bytes, int64_t characters = 60);

}  // namespace midscope
