// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace midscope {

// 0 to 9, independent of the locale.
constexpr bool IsDigit(char character) { return character >= '0' && character <= '9'; }

// `text` without the characters of `blanks` at both ends; a view of `text`.
inline std::string_view Trimmed(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// "a, b, c"; with `last` " and ": "a, b and c".
inline std::string Joined(const std::vector<std::string>& texts, std::string_view last = ", ") {
  std::string joined;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) joined += i + 1 == texts.size() ? last : ", ";
    joined += texts[i];
  }
  return joined;
}

// Small letters for ASCII capitals, whatever the locale; other bytes stay.

constexpr char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

// Digests as text.

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

// A share of 0 to 1 as "25 %", "26.32 %": up to four digits.
inline std::string PercentText(double share) {
  constexpr int kDigits = 4;
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), 100 * share,
                                    std::chars_format::general, kDigits);
  return std::string(buffer, result.ptr) + " %";
}

// Text files as Windows' editors write them.

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// The contents of a text file without a byte-order mark, each CR LF as LF.
inline std::string PlainText(std::string_view contents) {
  if (contents.starts_with(kByteOrderMark)) contents.remove_prefix(kByteOrderMark.size());
  std::string text;
  text.reserve(contents.size());
  for (size_t i = 0; i < contents.size(); ++i) {
    if (contents.substr(i, 2) != "\r\n") text += contents[i];
  }
  return text;
}

// Texts as a POSIX shell reads them.

// In single quotes, whatever it holds.
std::string ShellQuoted(std::string_view text);

// The program and its arguments; those that a shell would read otherwise are quoted.
std::string ShellCommand(const std::string& program, const std::vector<std::string>& arguments);

// Numbers to text and back, the same in every locale.

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

// The known word that a mistyped one most likely meant, for error messages.

// The word of `known` that is fewest edits (insert, delete, replace, swap of neighbours) away from
// `word`, or "" where none is nearer than half of the word's length.
std::string NearestWord(std::string_view word, const std::vector<std::string>& known);

// "did you mean 'ms-poe'? known: none, pi, ms-poe"
std::string KnownWordsHint(std::string_view word, const std::vector<std::string>& known);

}  // namespace midscope
