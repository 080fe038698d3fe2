// SPDX-License-Identifier: MIT
// What turns a piece of prepared text into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace midscope {

struct Token;

// Immutable; may be used by several threads at once.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the tokens of `piece` (UTF-8, not empty), with ranges of bytes of the piece.
  // at_text_begin: whether the piece is the very beginning of the text. Throws Error for what has
  // no token where the model has none for the unknown either.
  virtual void Encode(std::string_view piece, bool at_text_begin,
                      std::vector<Token>* tokens) const = 0;
};

}  // namespace midscope
