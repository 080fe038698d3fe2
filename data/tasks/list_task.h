// SPDX-License-Identifier: MIT
// People and what each of them bought; asked for one person's item. The project's own task, short
// enough for small models, with an answer of one token.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

TaskDescription DescribeListTask();
std::unique_ptr<Task> MakeListTask(const TaskSpec& spec, uint64_t seed, const WordFilter& filter);

}  // namespace midscope
