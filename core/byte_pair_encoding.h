// SPDX-License-Identifier: MIT
// Byte-pair encoding of one piece of text: neighbouring tokens are joined in the order of the
// merges' ranks until none is left.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tokenizer.h"

namespace midscope {

class BytePairEncoding {
 public:
  struct Merge {
    int32_t left;
    int32_t right;
    int32_t joined;
  };

  // byte_tokens: the token of each single byte, -1 where there is none. merges: by rank, best
  // first; a pair stands once.
  BytePairEncoding(const std::array<int32_t, 256>& byte_tokens, const std::vector<Merge>& merges);

  // Appends the tokens of `piece`, which begins at byte `offset` of the text. Bytes without a token
  // are left out before merging, as `tokenizers` does. O(n log n) in the length of the piece.
  void Encode(std::string_view piece, int64_t offset, std::vector<Token>* tokens) const;

 private:
  struct Joined {
    int32_t rank;
    int32_t id;
  };
  struct PairHash {
    size_t operator()(uint64_t pair) const;
  };

  const Joined* Find(int32_t left, int32_t right) const;

  std::array<int32_t, 256> byte_tokens_;
  std::unordered_map<uint64_t, Joined, PairHash> joined_;
};

}  // namespace midscope
