// SPDX-License-Identifier: MIT
// UUID key-value retrieval of "Lost in the Middle" (Liu et al. 2023, arXiv 2307.03172), with the
// template of its public data; pairs are made here, or read from one of its files.
// Scored by the value as a substring of 100 new tokens, no cut at a line's end.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

TaskDescription DescribeKeyValueTask();
std::unique_ptr<Task> MakeKeyValueTask(const TaskSpec& spec, uint64_t seed);

}  // namespace midscope
