// SPDX-License-Identifier: MIT
// The service of midscope-reader. Internal to data/.
#pragma once

#include <string>

namespace midscope {

// Limits the memory of this process (RLIMIT_AS) and its CPU time (a few seconds at first, more with
// every request; SIGPROF ends the process when the time is used up), and disables writing files and
// core dumps.
void LimitReader(const std::string& path);

// Answers requests about the file from the socket until the other side closes it. Returns the exit
// status.
int ServeReader(int socket, const std::string& path);

}  // namespace midscope
