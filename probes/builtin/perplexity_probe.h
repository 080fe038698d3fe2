// SPDX-License-Identifier: MIT
// Negative log-likelihood of a text by token, with a sliding window.
#pragma once

#include <cstdint>
#include <vector>

#include "probes/base/probe.h"

namespace midscope {

// Tokens [begin, end) run as a prompt of their own; tokens [first_target, end) are scored in it.
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
