// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace midscope {

struct TopToken {
  int32_t id = 0;
  float logit = 0;
};

// The k largest, largest first; ties: lower id first. [min(k, logits)]
std::vector<TopToken> TopTokens(std::span<const float> logits, int64_t k);

// TopTokens of each row of logits [row, vocabulary]; where one of its logits is not finite, of that
// one alone. [row, k]; k is at most the vocabulary.
std::vector<TopToken> TopTokensOfRows(std::span<const float> logits, int64_t vocabulary, int64_t k);

}  // namespace midscope
