// SPDX-License-Identifier: MIT
// Cuts a Jinja template into text and the tokens of its tags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace midscope::jinja {

enum class TokenKind : uint8_t {
  kText,
  kPrintBegin,
  kBlockBegin,
  kTagEnd,
  kName,
  kString,
  kNumber,
  kOperator,
  kEnd
};

struct Lexeme {
  TokenKind kind;
  std::string text;  // of strings: without escapes
  size_t line;
};

// Throws Error.
std::vector<Lexeme> Lex(std::string_view source);

}  // namespace midscope::jinja
