// SPDX-License-Identifier: MIT
// Texts cut to a number of tokens: at white space, where all that is known of the tokenizer is how
// many it makes, or by its tokens.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/parameter.h"
#include "data/tasks/task.h"

namespace midscope {

// The counter itself. Throws Error (usage) about the task if it is empty.
const TokenCounter& NeedCounter(const TokenCounter& count, const std::string& task);

// The longest beginning (end) of the text that makes at most `tokens` tokens and stops (starts) at
// white space, or at a character if there is none near. A tokenizer makes about as many tokens of a
// longer text as of a shorter one and more; what is not monotone shortens the result a little.
std::string_view FirstTokens(std::string_view text, int64_t tokens, const TokenCounter& count);
std::string_view LastTokens(std::string_view text, int64_t tokens, const TokenCounter& count);

// The sample with the middle of a longer text left out: the text of the first tokens / 2 tokens and
// that of as many at the end, put together without a space, as LongBench's public code cuts by
// token ids (it counts a begin-of-text token among the first where the tokenizer puts one; here
// none is counted). Spans keep their remaining part; those without one are dropped. Sets `cut` and
// `gold_cut`.
void CutMiddle(TaskSample& sample, int64_t tokens, const TokenCounter& count,
               const TokenEnds& ends);

// The task with the samples of `task` cut so. Throws Error (usage) if a function is empty.
std::unique_ptr<Task> WithMiddleCut(std::unique_ptr<Task> task, int64_t tokens,
                                    const TaskInputs& inputs);

// Its parameter `tokens`. always_stated: as Parameter::always_stated.
Parameter MiddleCutParameter(bool always_stated);

// Throws Error (usage) about the task if it is empty.
const TokenEnds& NeedEnds(const TokenEnds& ends, const std::string& task);

// The largest n of [0, most] for which fits(n) holds, given that fits(0) does and that none fits
// after the first that does not.
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
