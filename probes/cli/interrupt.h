// SPDX-License-Identifier: MIT
// Ctrl-C (and a polite kill) as a cancelled job.
#pragma once

#include <atomic>

namespace midscope::cli {

// From now on the first SIGINT or SIGTERM sets the flag; a second one ends the process. A closed
// pipe on standard output becomes a write error instead of a signal.
const std::atomic<bool>& InstallSignalHandlers();

}  // namespace midscope::cli
