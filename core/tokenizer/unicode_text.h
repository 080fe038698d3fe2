// SPDX-License-Identifier: MIT
// Properties of characters of well-formed UTF-8 that tokenizers use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace midscope {

struct Character {
  char32_t code = 0;
  size_t length = 0;  // in bytes
};

// Returns the character at text[offset]; offset must be at its first byte.
Character CharacterAt(std::string_view text, size_t offset);

// Returns the character that ends before text[offset]; offset > 0.
Character CharacterBefore(std::string_view text, size_t offset);

bool IsWhiteSpace(char32_t code);   // Unicode White_Space
bool IsNumeric(char32_t code);      // Nd, Nl, No
bool IsPunctuation(char32_t code);  // P*, and ASCII's !"#$%&'()*+,-./:;<=>?@[\]^_`{|}~
// Whether \w of the Rust crate `regex` matches: Alphabetic, marks, digits, connecting punctuation,
// Join_Control.
bool IsWord(char32_t code);
bool IsMark(char32_t code);  // Mn, Mc, Me

// Unicode's Cased and Case_Ignorable; IsCased is only valid for characters that are not
// Case_Ignorable.
bool IsCased(char32_t code);
bool IsCaseIgnorable(char32_t code);

// Returns the unconditional lower case, which may be two characters.
std::string LowerCase(char32_t code);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string Normalise(std::string_view text, NormalForm form);

// Calls `cluster(begin, end)` for each extended grapheme cluster.
void ForEachGrapheme(std::string_view text,
                     const std::function<void(size_t begin, size_t end)>& cluster);

}  // namespace midscope
