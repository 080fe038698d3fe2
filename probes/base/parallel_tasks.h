// SPDX-License-Identifier: MIT
// Independent pieces of work on all the machine's threads.
#pragma once

#include <cstddef>
#include <functional>

#include "core/base/job.h"

namespace midscope {

// Calls task(0) to task(count - 1), each once, in any order and on any thread; the calling one
// works too. Reports how many are done, of `unit` ("tests"), after each of its own. Throws
// Cancelled if the job is cancelled, and else the first exception of a task; all threads have ended
// then.
void RunInParallel(size_t count, const std::function<void(size_t index)>& task, const char* stage,
                   const char* unit, const JobContext& context);

}  // namespace midscope
