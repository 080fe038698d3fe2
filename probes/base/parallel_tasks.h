// SPDX-License-Identifier: MIT
// Runs independent tasks in parallel on all hardware threads.
#pragma once

#include <cstddef>
#include <functional>

#include "core/base/job.h"

namespace midscope {

// Calls task(0) to task(count - 1), each once, in any order and on any thread, including the
// calling thread. After each task that it runs, the calling thread reports the number of finished
// tasks in `unit` ("tests"). When all threads have ended, throws Cancelled if the job was
// cancelled, or the first exception of a task.
void RunInParallel(size_t count, const std::function<void(size_t index)>& task, const char* stage,
                   const char* unit, const JobContext& context);

}  // namespace midscope
