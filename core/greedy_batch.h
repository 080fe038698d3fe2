// SPDX-License-Identifier: MIT
// Greedy text after several prompts at once: what a published score is taken of.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/decoder.h"
#include "core/generate.h"

namespace midscope {

struct GreedyRequest {
  std::span<const int32_t> prompt;
  Intervention intervention;  // passages as tokens (passage.h)
  int64_t new_tokens = 100;
  // Whether the text so far is all that is needed; may be empty.
  std::function<bool(const std::string& text)> enough = {};
};

// Always the likeliest token (the lower id of equals), until a token that ends the text, `enough`
// or new_tokens. The prompts are packed into batches of bounded size, each token of all of them
// into one. As Generate() one by one, within the rounding of packed matrix products. Throws Error
// (usage) where prompt and new tokens are longer than LongestRun (context_limit.h), Cancelled.
std::vector<Generated> GenerateGreedy(const Decoder& decoder,
                                      std::span<const GreedyRequest> requests,
                                      const JobContext& context = {});

}  // namespace midscope
