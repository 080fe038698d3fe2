// SPDX-License-Identifier: MIT
// LongBench (Bai et al. 2023, arXiv 2308.14508) over one of its JSONL files. There is one place:
// what answers is spread over the context.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

// Fields: input, context, answers, dataset, all_classes. `tokens` other than 0 cuts a longer prompt
// in the middle, as the public code does by token ids: the first and the last half of so many
// tokens stay, here cut at white space. Such a prompt has no spans.
TaskDescription DescribeLongBenchTask();
std::unique_ptr<Task> MakeLongBenchTask(const TaskSpec& spec, const TokenCounter& count_tokens);

}  // namespace midscope
