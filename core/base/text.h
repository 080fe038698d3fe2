// SPDX-License-Identifier: MIT
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace midscope {

// Whether the character is 0 to 9, independent of the locale.
constexpr bool IsDigit(char character) { return character >= '0' && character <= '9'; }

// Returns `text` without leading and trailing characters that are in `blanks`, as a view of `text`.
inline std::string_view Trimmed(std::string_view text, std::string_view blanks) {
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

// Returns the `name` of each item, in order.
template <typename List>
std::vector<std::string> NamesIn(const List& items) {
  std::vector<std::string> names;
  names.reserve(std::size(items));
  for (const auto& item : items) names.emplace_back(item.name);
  return names;
}

// Returns "a, b, c"; if `last` is " and ", "a, b and c".
inline std::string Joined(const std::vector<std::string>& texts, std::string_view last = ", ") {
  std::string joined;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) joined += i + 1 == texts.size() ? last : ", ";
    joined += texts[i];
  }
  return joined;
}

// Returns ASCII capitals as small letters, whatever the locale; other bytes are unchanged.

constexpr char LowerCase(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

inline std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = LowerCase(c);
  return lower;
}

// Formats digests as text.

// Returns two lower-case digits per byte.
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

// Formats a share from 0 to 1 as "25 %" or "26.32 %", with up to four digits.
inline std::string PercentText(double share) {
  constexpr int kDigits = 4;
  char buffer[32];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), 100 * share,
                                    std::chars_format::general, kDigits);
  return std::string(buffer, result.ptr) + " %";
}

// Reads text files as Windows editors write them.

inline constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns the contents without a byte-order mark and with each CR LF replaced by LF.
inline std::string PlainText(std::string_view contents) {
  if (contents.starts_with(kByteOrderMark)) contents.remove_prefix(kByteOrderMark.size());
  std::string text;
  text.reserve(contents.size());
  for (size_t i = 0; i < contents.size(); ++i) {
    if (contents.substr(i, 2) != "\r\n") text += contents[i];
  }
  return text;
}

// Quotes text for a POSIX shell.

// Returns the text in single quotes, whatever it contains.
std::string ShellQuoted(std::string_view text);

// Returns the program and its arguments as a command line; arguments with special characters are
// quoted.
std::string ShellCommand(const std::string& program, const std::vector<std::string>& arguments);

// Converts numbers to text and back, independent of the locale.

// Returns the shortest text that reads back as the same number, written as a person would: 500000,
// not 5e+05. It has an exponent only below 1e-5 and from 1e17 on.
inline std::string NumberText(double value) {
  char buffer[32];
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-5 && size < 1e17);
  const auto result =
      std::to_chars(buffer, buffer + sizeof(buffer), value,
                    plain ? std::chars_format::fixed : std::chars_format::scientific);
  return {buffer, result.ptr};
}

// Returns a count with its noun: "1 sample", "2 samples".
inline std::string CountText(int64_t count, const std::string& thing) {
  return std::to_string(count) + " " + thing + (count == 1 ? "" : "s");
}

// Whether the whole `text` is a number of type T; if so, `value` is set to it.
template <typename T>
bool ReadWhole(std::string_view text, T& value) {
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

// Finds the known word that a mistyped word most likely meant, for error messages.

// Returns the word of `known` with the smallest number of edits (insert, delete, replace, swap of
// neighbours) from `word`, or "" if none is closer than half of the word's length.
std::string NearestWord(std::string_view word, const std::vector<std::string>& known);

// Returns "did you mean 'ms-poe'? known: none, pi, ms-poe"
std::string KnownWordsHint(std::string_view word, const std::vector<std::string>& known);

}  // namespace midscope
