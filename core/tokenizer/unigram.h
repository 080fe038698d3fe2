// SPDX-License-Identifier: MIT
// The cut of a piece of text into tokens whose log probabilities add up to the most (Kudo 2018,
// arXiv 1804.10959), as Hugging Face `tokenizers` computes it.
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
  // pieces: [token] text and log probability. bytes: [byte] tokens that characters without one fall
  // back to, all or none (-1).
  Unigram(const std::vector<std::pair<std::string, double>>& pieces,
          const std::array<int32_t, 256>& bytes, std::optional<int32_t> unknown);

  // O(length of the piece times the longest token).
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
    int32_t id = -1;     // -1: unknown
  };

  std::vector<Best> BestPath(std::string_view piece) const;
  void AddUnknown(std::string_view piece, int64_t begin, int64_t end,
                  std::vector<Token>* tokens) const;

  std::vector<Node> nodes_;                          // of a trie; 0: the root
  std::unordered_map<uint64_t, uint32_t> children_;  // node * 256 + byte
  std::array<int32_t, 256> bytes_;
  std::optional<int32_t> unknown_;
  double unknown_score_ = 0;
};

}  // namespace midscope
