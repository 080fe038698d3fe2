// SPDX-License-Identifier: MIT
// Lines of LongEval (LongChat) and LongChat-Lines (abacusai, used by CREAM): a record of numbers
// under two-word names, one of which is asked for. The header and the question are the published
// ones; the words of the names are this project's own (the sources draw them from the package
// wonderwords), and no two lines have the same name, which the sources do not check.
#pragma once

#include <memory>

#include "data/tasks/task.h"
#include "data/tasks/task_spec.h"

namespace midscope {

TaskDescription DescribeLinesTask();
std::unique_ptr<Task> MakeLinesTask(const TaskSpec& spec, uint64_t seed);

}  // namespace midscope
