// SPDX-License-Identifier: MIT
// Cuts texts to a number of tokens: at white space if only a function that counts tokens is
// available, otherwise exactly between tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/parameter.h"
#include "data/tasks/task.h"

namespace midscope {

// Returns `count`. Throws Error (usage), which names `task`, if the function is empty.
const TokenCounter& NeedCounter(const TokenCounter& count, const std::string& task);

// FirstTokens (LastTokens) returns the longest beginning (end) of the text that has at most
// `tokens` tokens and is cut at white space, or between any characters if no white space is near.
// Where a longer text has fewer tokens, the result may be slightly too short.
std::string_view FirstTokens(std::string_view text, int64_t tokens, const TokenCounter& count);
std::string_view LastTokens(std::string_view text, int64_t tokens, const TokenCounter& count);

// If a sample's text has more than `tokens` tokens, removes the middle: joins the texts of the
// first and the last `tokens` / 2 tokens without a space, as LongBench's public code does with
// token ids (which counts a begin-of-text token of the tokenizer among the first; this function
// does not). Spans keep their remaining bytes; those without any are dropped. Sets `cut` and
// `gold_cut`.
void CutMiddle(TaskSample& sample, int64_t tokens, const TokenCounter& count,
               const TokenEnds& ends);

// Returns a task that applies CutMiddle to the samples of `task`. Throws Error (usage) if
// count_tokens or token_ends of `inputs` is empty.
std::unique_ptr<Task> WithMiddleCut(std::unique_ptr<Task> task, int64_t tokens,
                                    const TaskInputs& inputs);

// Makes the task parameter `tokens` (maximum prompt tokens) for tasks that use WithMiddleCut.
Parameter MiddleCutParameter(bool always_stated);

// Returns `ends`. Throws Error (usage), which names `task`, if the function is empty.
const TokenEnds& NeedEnds(const TokenEnds& ends, const std::string& task);

// Returns the largest n in [0, most] for which fits(n) is true. fits(0) must be true, and fits must
// be monotone: once false, it stays false for larger n.
template <typename Fits>
int64_t LargestFitting(int64_t most, const Fits& fits) {
  int64_t low = 0;
  int64_t high = most;
  while (low < high) {
    const int64_t middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

}  // namespace midscope
