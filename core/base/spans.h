// SPDX-License-Identifier: MIT
// Named half-open ranges: bytes of a text and tokens of a prompt.
#pragma once

#include <cstdint>
#include <string>

namespace midscope {

// Bytes [begin, end) of a text.
struct ByteSpan {
  std::string name;  // "gold", "pair 7", "question"
  int64_t begin = 0;
  int64_t end = 0;
  bool operator==(const ByteSpan&) const = default;
};

// Tokens [begin, end) of a prompt.
struct TokenSpan {
  std::string name;  // like ByteSpan::name; may be empty
  int64_t begin = 0;
  int64_t end = 0;
  bool empty() const { return end <= begin; }
  bool operator==(const TokenSpan&) const = default;
};

}  // namespace midscope
