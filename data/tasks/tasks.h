// SPDX-License-Identifier: MIT
// The list of tasks: one line per file NAME_task.cpp of this folder, in the order in which help
// lists them. TASK(List) denotes the function ListTaskType() of list_task.cpp.
#pragma once

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

// clang-format off
#define MIDSCOPE_TASKS(TASK) \
  TASK(List)               \
  TASK(KeyValue)           \
  TASK(Document)           \
  TASK(Lines)              \
  TASK(Passkey)            \
  TASK(Needle)             \
  TASK(NoLiMa)             \
  TASK(Ruler)              \
  TASK(RulerDocuments)     \
  TASK(LongBench)          \
  TASK(Own)                \
  TASK(Passages)           \
  TASK(ZeroScrolls)        \
  TASK(LEval)              \
  TASK(Mmlu)               \
  TASK(Choices)            \
  TASK(Timeline)           \
  TASK(Text)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_TASK(NAME) TaskType NAME##TaskType();
MIDSCOPE_TASKS(MIDSCOPE_DECLARE_TASK)
#undef MIDSCOPE_DECLARE_TASK

}  // namespace midscope
