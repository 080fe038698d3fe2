// SPDX-License-Identifier: MIT
// Greedy text after several prompts in one batch, for published scores.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"
#include "core/run/generate.h"

namespace midscope {

struct GreedyRequest {
  std::span<const int32_t> prompt;
  Intervention intervention;  // passages as tokens (passage.h)
  int64_t new_tokens = 100;
  // Whether the text so far is enough; may be empty.
  std::function<bool(const std::string& text)> enough = {};
  // Made by GreedyTrace(), and passed from one request after this prompt to the next: rows of the
  // prompt that are equal under both interventions are not run again. Null: one for this request
  // only.
  Trace* trace = nullptr;
};

// A trace that requests after a prompt of `prompt_tokens` tokens can share. `channels`: whether one
// of them scales channels.
std::unique_ptr<Trace> GreedyTrace(const Decoder& decoder, int64_t prompt_tokens,
                                   int64_t new_tokens, bool channels);

// Always takes the most likely token (the lower id of equals), until a token that ends the text,
// `enough` or new_tokens. The prompts are packed into batches of bounded size. Equal to Generate()
// one by one, within the rounding of packed matrix products; with shared traces as what-if is to
// full runs (what_if.h). Throws Error (usage) where prompt and new tokens are longer than
// LongestRun (context_limit.h), Cancelled.
std::vector<Generated> GenerateGreedy(const Decoder& decoder,
                                      std::span<const GreedyRequest> requests,
                                      const JobContext& context = {});

}  // namespace midscope
