// SPDX-License-Identifier: MIT
// Bytes of text that may not be text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace midscope {

// Offset of the first byte that does not begin a well-formed character (surrogates and overlong
// forms are not well-formed).
std::optional<int64_t> FindInvalidUtf8(std::string_view text);

// Whether the byte begins a character in well-formed text; the others continue one.
inline bool BeginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

// The text must be well-formed.
inline int64_t CountCharacters(std::string_view text) {
  return std::count_if(text.begin(), text.end(), BeginsCharacter);
}

// The text with U+FFFD for each part that is not well-formed: for each byte, but once for bytes
// that begin a character whose rest is missing (Unicode 3.9, "maximal subpart", as Rust and
// Python).
std::string ReplaceInvalidUtf8(std::string_view text);

// Throws Error "thing: not UTF-8 at byte N" where the text is not well-formed.
void CheckUtf8(const std::string& thing, std::string_view text);

// Any bytes as one line of valid UTF-8 for labels and messages: newline as \n, backslash as \\,
// what is invisible or no character as \u{200D}, bytes that are not UTF-8 (a part of a character)
// as \xE2. Spaces stay.
std::string DisplayText(std::string_view bytes);

// DisplayText of at most `characters` characters (then "..."), in quotes, for names out of a file
// in a message.
std::string Quote(std::string_view bytes, int64_t characters = 60);

}  // namespace midscope
