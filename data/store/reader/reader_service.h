// SPDX-License-Identifier: MIT
// The service of midscope-reader. Internal to data/.
#pragma once

#include <string>

namespace midscope {

// Limits this process' memory (RLIMIT_AS), files that it writes (none), core dumps (none), and
// computing time: a few seconds at first, and more with every request; the kernel ends it by
// SIGPROF when they are used up.
void LimitReader(const std::string& path);

// Answers requests about the file from the socket until the other side closes it. Returns the exit
// status.
int ServeReader(int socket, const std::string& path);

}  // namespace midscope
