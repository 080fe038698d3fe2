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

// Returns the min(k, number of logits) tokens with the largest logits, largest first. Among equal
// logits, the lower id comes first.
std::vector<TopToken> TopTokens(std::span<const float> logits, int64_t k);

// Returns [row, k]: TopTokens of each row of logits [row, vocabulary]; a row with a logit that is
// not finite has k copies of the first such logit. k is at most the vocabulary size.
std::vector<TopToken> TopTokensOfRows(std::span<const float> logits, int64_t vocabulary, int64_t k);

}  // namespace midscope
