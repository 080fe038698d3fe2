// SPDX-License-Identifier: MIT
// Text from a model, token by token, under an intervention.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"

namespace midscope {

// Whether a token ends a text or a turn of it.
bool EndsText(const Tokenizer& tokenizer, int32_t id);

struct GenerateOptions {
  int64_t new_tokens = 100;
  double temperature = 0;  // 0: greedy
  double top_p = 1;
  int64_t top_k = 0;  // 0: no limit
  uint64_t seed = 0;
  bool stop_at_end = true;  // at an end-of-text or end-of-turn token
};

struct Generated {
  std::vector<int32_t> ids;  // new tokens, without the one that ended it
  std::string text;
  bool ended = false;  // by an end token rather than by new_tokens
};

struct GeneratedToken {
  int32_t id = 0;
  std::string bytes;
  double probability = 0;  // softmax over the vocabulary, at temperature 1
};

// `on_token` (may be empty) gets each token as it is generated; its return value false ends the
// run.
Generated Generate(const Decoder& decoder, std::span<const int32_t> prompt,
                   const Intervention& intervention, const GenerateOptions& options,
                   const std::function<bool(const GeneratedToken& token)>& on_token,
                   const JobContext& context = {});

// Greedy text after several prompts in one batch, for published scores.

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
