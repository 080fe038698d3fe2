// SPDX-License-Identifier: MIT
#include "core/tokenizer/unicode_text.h"

#include <utf8proc.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "core/base/utf8.h"
#include "kernels/check.h"

namespace midscope {
namespace {

utf8proc_category_t Category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

std::string Utf8(utf8proc_int32_t code) {
  utf8proc_uint8_t bytes[4];
  const utf8proc_ssize_t length = utf8proc_encode_char(code, bytes);
  return {reinterpret_cast<const char*>(bytes), static_cast<size_t>(length)};
}

bool IsAscii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

}  // namespace

Character CharacterAt(std::string_view text, size_t offset) {
  utf8proc_int32_t code = 0;
  const utf8proc_ssize_t length =
      utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + offset,
                       static_cast<utf8proc_ssize_t>(text.size() - offset), &code);
  MIDSCOPE_CHECK(length > 0, "text is not UTF-8 where it was checked");
  return {static_cast<char32_t>(code), static_cast<size_t>(length)};
}

Character CharacterBefore(std::string_view text, size_t offset) {
  size_t begin = offset - 1;
  while (begin > 0 && !BeginsCharacter(text[begin])) --begin;
  return CharacterAt(text, begin);
}

bool IsWhiteSpace(char32_t code) {
  return (code >= 0x09 && code <= 0x0d) || code == 0x20 || code == 0x85 || code == 0xa0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 || code == 0x2029 ||
         code == 0x202f || code == 0x205f || code == 0x3000;
}

bool IsNumeric(char32_t code) {
  const auto category = Category(code);
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL ||
         category == UTF8PROC_CATEGORY_NO;
}

bool IsPunctuation(char32_t code) {
  const auto category = Category(code);
  if (category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO) return true;
  return code == '$' || code == '+' || (code >= '<' && code <= '>') || code == '^' || code == '`' ||
         code == '|' || code == '~';
}

bool IsMark(char32_t code) {
  const auto category = Category(code);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool IsWord(char32_t code) {
  const auto category = Category(code);
  // Symbols that are Alphabetic: letters in circles and squares; and Join_Control.
  const bool circled = (code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
                       (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
  if (circled || code == 0x200c || code == 0x200d) return true;
  const bool letter = category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
  return letter || IsMark(code) || category == UTF8PROC_CATEGORY_ND ||
         category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC;
}

bool IsCased(char32_t code) {
  const auto category = Category(code);
  if (category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL ||
      category == UTF8PROC_CATEGORY_LT) {
    return true;
  }
  // Other_Lowercase and Other_Uppercase: ordinal indicators, Roman numerals, letters in circles and
  // squares.
  return code == 0xaa || code == 0xba || (code >= 0x2160 && code <= 0x217f) ||
         (code >= 0x24b6 && code <= 0x24e9) || (code >= 0x1f130 && code <= 0x1f149) ||
         (code >= 0x1f150 && code <= 0x1f169) || (code >= 0x1f170 && code <= 0x1f189);
}

bool IsCaseIgnorable(char32_t code) {
  const auto category = Category(code);
  if (category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_ME ||
      category == UTF8PROC_CATEGORY_CF || category == UTF8PROC_CATEGORY_LM ||
      category == UTF8PROC_CATEGORY_SK) {
    return true;
  }
  // Word_Break MidLetter, MidNumLet, Single_Quote.
  constexpr std::u32string_view kWithinWords =
      U"':.\u00b7\u0387\u055f\u05f4\u2018\u2019\u2024\u2027\ufe13\ufe52\ufe55\uff07\uff0e\uff1a";
  return kWithinWords.find(code) != std::u32string_view::npos;
}

std::string LowerCase(char32_t code) {
  // The only character whose lower case is two characters.
  if (code == 0x130) return "i\u0307";
  return Utf8(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)));
}

std::string Normalise(std::string_view text, NormalForm form) {
  const bool compose = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const bool compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  if (IsAscii(text)) return std::string(text);
  const int options = UTF8PROC_STABLE | (compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
                      (compatible ? UTF8PROC_COMPAT : 0);
  utf8proc_uint8_t* result = nullptr;
  const utf8proc_ssize_t length = utf8proc_map(
      reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
      static_cast<utf8proc_ssize_t>(text.size()), &result, static_cast<utf8proc_option_t>(options));
  if (length == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  MIDSCOPE_CHECK(length >= 0, utf8proc_errmsg(length));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owner(result, &std::free);
  return {reinterpret_cast<const char*>(result), static_cast<size_t>(length)};
}

void ForEachGrapheme(std::string_view text,
                     const std::function<void(size_t begin, size_t end)>& cluster) {
  size_t begin = 0;
  utf8proc_int32_t state = 0;
  Character before;
  for (size_t i = 0; i < text.size();) {
    const Character now = CharacterAt(text, i);
    if (i > 0 &&
        utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(before.code),
                                         static_cast<utf8proc_int32_t>(now.code), &state)) {
      cluster(begin, i);
      begin = i;
    }
    before = now;
    i += now.length;
  }
  if (begin < text.size()) cluster(begin, text.size());
}

}  // namespace midscope
