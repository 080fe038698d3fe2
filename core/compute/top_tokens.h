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

// Returns the k largest, largest first; among equal logits the lower id first: [min(k, logits)].
std::vector<TopToken> TopTokens(std::span<const float> logits, int64_t k);

// Returns [row, k]: TopTokens of each row of logits [row, vocabulary]; if a row has a logit that is
// not finite, only that one. k is at most the vocabulary size.
std::vector<TopToken> TopTokensOfRows(std::span<const float> logits, int64_t vocabulary, int64_t k);

}  // namespace midscope
