// SPDX-License-Identifier: MIT
// Perplexity over text files, as prompts and continuations.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// A sliding window: sample i's answer is the text's piece i + 2 of `stride` tokens, its prompt as
// much of the text before as `tokens` - `stride` tokens hold; the first piece is never scored. The
// perplexity of a file is exp(sum of answer_nll / sum of answer tokens) over its samples. Windows
// begin and end at white space, where the public scripts cut token ids, so that a piece has up to a
// few tokens fewer. What is generated is compared by ROUGE-L, because there is no correct answer.
TaskDescription DescribeTextTask();
std::unique_ptr<Task> MakeTextTask(const TaskSpec& spec, const TokenCounter& count_tokens);

}  // namespace midscope
