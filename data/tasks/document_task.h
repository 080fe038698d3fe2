// SPDX-License-Identifier: MIT
// Multi-document question answering of "Lost in the Middle" (Liu et al. 2023, arXiv 2307.03172)
// with the templates of its public code: over one of its NQ-open files, or over invented passages.
// Scored by best_subspan_em on the first line of 100 new tokens.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

TaskDescription DescribeDocumentTask();
std::unique_ptr<Task> MakeDocumentTask(const TaskSpec& spec, uint64_t seed);

}  // namespace midscope
