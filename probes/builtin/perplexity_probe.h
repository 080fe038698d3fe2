// SPDX-License-Identifier: MIT
// How well a model predicts a text, token by token, with a window that slides over it.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/base/probe.h"

namespace midscope {

// Tokens [begin, end) go through the model as a prompt of their own; tokens [first_target, end) are
// predicted in it and counted.
struct TextWindow {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t first_target = 0;
  bool operator==(const TextWindow&) const = default;
};

// Windows of up to `window` tokens that begin every `stride` tokens (1 <= stride < window), until
// one reaches the end; each token but the first is a target exactly once. Throws std::logic_error
// for another stride.
std::vector<TextWindow> SlidingWindows(int64_t tokens, int64_t window, int64_t stride);

// Record perplexity: token_nll (nats), context_tokens [position] of tokens 1 ... of the text;
// bin_perplexity, bin_tokens [bin]. Attributes perplexity, mean_nll (over all tokens),
// window_mean_perplexity (as published scripts average), window, stride, windows.
ProbeType PerplexityProbe();

}  // namespace midscope
