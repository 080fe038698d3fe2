// SPDX-License-Identifier: MIT
// Splits a piece of text into the tokens with the largest sum of log probabilities (Kudo 2018,
// arXiv 1804.10959), like Hugging Face `tokenizers`.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/tokenizer/tokenizer_parts.h"

namespace midscope {

class Unigram : public TokenModel {
 public:
  // pieces: [token], text and log probability. bytes: [byte], tokens that represent characters
  // without a token; all of them or none (-1).
  Unigram(const std::vector<std::pair<std::string, double>>& pieces,
          const std::array<int32_t, 256>& bytes, std::optional<int32_t> unknown);

  // Takes time O(length of the piece times length of the longest token).
  void Encode(std::string_view piece, bool at_text_begin,
              std::vector<Token>* tokens) const override;

 private:
  struct Node {
    int32_t id = -1;  // the token that ends here
    double score = 0;
  };
  struct Best {
    double score = 0;
    int64_t begin = -1;  // of the last token; -1: not reached
    int32_t id = -1;     // the last token; -1: unknown
  };

  std::vector<Best> BestPath(std::string_view piece) const;
  void AddUnknown(std::string_view piece, int64_t begin, int64_t end,
                  std::vector<Token>* tokens) const;

  std::vector<Node> nodes_;                          // of a trie; node 0 is the root
  std::unordered_map<uint64_t, uint32_t> children_;  // key: node * 256 + byte
  std::array<int32_t, 256> bytes_;
  std::optional<int32_t> unknown_;
  double unknown_score_ = 0;
};

}  // namespace midscope
