// SPDX-License-Identifier: MIT
// What midscope-reader does. Internal to data/.
#pragma once

#include <string>

namespace midscope {

// Limits what this process may take: memory (RLIMIT_AS), files that it writes (none), core dumps
// (none). And computing, for which it begins with some seconds and gets more with every request:
// the kernel ends it by SIGPROF where that is used up.
void LimitReader(const std::string& path);

// Answers requests about the file from the socket until the other side closes it. Returns the exit
// status.
int ServeReader(int socket, const std::string& path);

}  // namespace midscope
