// SPDX-License-Identifier: MIT
// Generates text from a model, token by token, under an intervention.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/decoder/decoder.h"

namespace midscope {

// Whether a token ends a text or a turn of a chat.
bool EndsText(const Tokenizer& tokenizer, int32_t id);

struct GenerateOptions {
  int64_t new_tokens = 100;
  double temperature = 0;  // 0: greedy
  double top_p = 1;
  int64_t top_k = 0;  // 0: no limit
  uint64_t seed = 0;
  bool stop_at_end = true;  // stop at an end-of-text or end-of-turn token
};

struct Generated {
  std::vector<int32_t> ids;  // new tokens, without the end token
  std::string text;
  bool ended = false;  // ended by an end token rather than by new_tokens
};

struct GeneratedToken {
  int32_t id = 0;
  std::string bytes;
  double probability = 0;  // softmax over the vocabulary, at temperature 1
};

// `on_token` (may be empty) gets each token as it is generated; if it returns false, generation
// stops.
Generated Generate(const Decoder& decoder, std::span<const int32_t> prompt,
                   const Intervention& intervention, const GenerateOptions& options,
                   const std::function<bool(const GeneratedToken& token)>& on_token,
                   const JobContext& context = {});

// Generates greedy text after several prompts in one batch, for published scores.

struct GreedyRequest {
  std::span<const int32_t> prompt;
  Intervention intervention;  // with passages resolved to tokens (passage.h)
  int64_t new_tokens = 100;
  // Whether the text so far suffices, which ends the request; may be empty.
  std::function<bool(const std::string& text)> enough = {};
  // Made by GreedyTrace() and reused by later requests with this prompt: prompt rows that are equal
  // under both interventions are not run again. If null, the request gets its own trace.
  Trace* trace = nullptr;
};

// Returns a trace that requests with a prompt of `prompt_tokens` tokens can share. `channels`:
// whether one of them scales channels.
std::unique_ptr<Trace> GreedyTrace(const Decoder& decoder, int64_t prompt_tokens,
                                   int64_t new_tokens, bool channels);

// Always takes the most likely token (the lower id among equals), until a token ends the text,
// `enough` returns true or new_tokens is reached. The prompts are packed into batches of bounded
// size. The texts equal those of Generate() for each prompt, within the rounding of packed matrix
// products; with shared traces, within that of what-if runs (what_if.h). Throws Error (usage) if
// prompt and new tokens are longer than LongestRun (core/plan/run_positions.h), and Cancelled.
std::vector<Generated> GenerateGreedy(const Decoder& decoder,
                                      std::span<const GreedyRequest> requests,
                                      const JobContext& context = {});

}  // namespace midscope
