// SPDX-License-Identifier: MIT
// Text from a model, token by token, under an intervention.
#pragma once

#include <cstdint>
#include <functional>
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

}  // namespace midscope
