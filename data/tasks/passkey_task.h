// SPDX-License-Identifier: MIT
// Passkey retrieval (Mohtashami and Jaggi 2023, landmark attention) in its two public forms: filler
// counted in characters (landmark, YaRN) and in whole blocks (PoSE). Scored by the first integer of
// 10 new tokens.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// The amount of filler is the largest with which a prompt with a five-digit key has at most the
// requested tokens; shorter keys and other depths make it a few tokens more or less. (The sources
// step by 25 characters, or count 25 tokens a block.) Place p has p - 1 percent of the filler in
// front of the key; in the sources the depth is random.
TaskDescription DescribePasskeyTask();
std::unique_ptr<Task> MakePasskeyTask(const TaskSpec& spec, uint64_t seed,
                                      const TokenCounter& count_tokens);

}  // namespace midscope
