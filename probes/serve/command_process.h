// SPDX-License-Identifier: MIT
// Runs a command of the program as a process of its own.
#pragma once

#include <string>
#include <vector>

#include "core/base/job.h"
#include "probes/serve/message.h"

namespace midscope {

// Runs `midscope ARGUMENTS` and returns {status, out, err}: the exit status and the texts of
// standard output and standard error, the end of the latter. Progress (--progress json) and notes
// are reported to `context`. On cancellation the process gets SIGINT, and what it then writes is
// returned. The process is in a session of its own: a sweep goes on if this process ends. Throws
// Error (failure) if the program cannot be started.
Message RunCommandProcess(const std::vector<std::string>& arguments, const JobContext& context);

}  // namespace midscope
