// SPDX-License-Identifier: MIT
// Interface of the models that turn a piece of text into tokens.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace midscope {

struct Token;

// Immutable and thread-safe.
class TokenModel {
 public:
  virtual ~TokenModel() = default;

  // Appends the tokens of `piece` (UTF-8, not empty), with ranges of bytes of the piece.
  // at_text_begin: whether the piece begins the text. Throws Error for text without token where the
  // model has no unknown token.
  virtual void Encode(std::string_view piece, bool at_text_begin,
                      std::vector<Token>* tokens) const = 0;
};

}  // namespace midscope
