// SPDX-License-Identifier: MIT
#include "data/formats/python_literal.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace midscope {
namespace {

void AppendUtf8(uint32_t code, std::string& text) {
  constexpr uint32_t kContinuation = 0x80;
  constexpr uint32_t kSixBits = 0x3F;
  const auto byte = [&text](uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(kContinuation | (code & kSixBits));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(kContinuation | ((code >> 6) & kSixBits));
    byte(kContinuation | (code & kSixBits));
  } else {
    byte(0xF0 | (code >> 18));
    byte(kContinuation | ((code >> 12) & kSixBits));
    byte(kContinuation | ((code >> 6) & kSixBits));
    byte(kContinuation | (code & kSixBits));
  }
}

// Takes an escape sequence, without its backslash, from the front of `rest`.
void TakeEscape(std::string_view& rest, std::string& text) {
  struct Escape {
    char name;
    char meaning;
  };
  static constexpr std::array kEscapes = {Escape{'n', '\n'},  Escape{'t', '\t'},  Escape{'r', '\r'},
                                          Escape{'\\', '\\'}, Escape{'\'', '\''}, Escape{'"', '"'}};
  const char name = rest.front();
  rest.remove_prefix(1);
  for (const Escape& escape : kEscapes) {
    if (escape.name != name) continue;
    text += escape.meaning;
    return;
  }
  const size_t digits = name == 'x' ? 2 : name == 'u' ? 4 : name == 'U' ? 8 : 0;
  uint32_t code = 0;
  const std::string_view number = rest.substr(0, digits);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), code, 16);
  constexpr uint32_t kLargestCode = 0x10FFFF;
  if (digits == 0 || number.size() < digits || error != std::errc() ||
      end != number.data() + number.size() || code > kLargestCode) {
    text += '\\';  // Python keeps unknown escapes unchanged
    text += name;
    return;
  }
  AppendUtf8(code, text);
  rest.remove_prefix(digits);
}

// Takes a string, whose opening quotation mark has been taken, from the front of `rest`.
std::string TakeText(char mark, std::string_view& rest) {
  std::string text;
  while (!rest.empty() && rest.front() != mark) {
    const char character = rest.front();
    rest.remove_prefix(1);
    if (character == '\\' && !rest.empty()) {
      TakeEscape(rest, text);
    } else {
      text += character;
    }
  }
  if (rest.empty()) return "";
  rest.remove_prefix(1);
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::string PythonToJson(std::string_view literal) {
  struct Word {
    std::string_view python;
    std::string_view json;
  };
  static constexpr std::array kWords = {Word{"None", "null"}, Word{"True", "true"},
                                        Word{"False", "false"}};
  std::string json;
  while (!literal.empty()) {
    const char character = literal.front();
    if (character == '\'' || character == '"') {
      literal.remove_prefix(1);
      json += TakeText(character, literal);
      continue;
    }
    size_t taken = 1;
    std::string_view written = literal.substr(0, 1);
    for (const Word& word : kWords) {
      if (!literal.starts_with(word.python)) continue;
      taken = word.python.size();
      written = word.json;
    }
    json += written;
    literal.remove_prefix(taken);
  }
  return json;
}

}  // namespace midscope
