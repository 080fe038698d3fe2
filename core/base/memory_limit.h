// SPDX-License-Identifier: MIT
#pragma once

#include <sys/resource.h>

#include <string>

namespace midscope {

// The limit on the process' memory that a batch system or `ulimit -v` sets, as the end of a
// message: "; ulimit -v lets this process have 420 MB in all". "" without a limit.
inline std::string MemoryLimitText() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return "; ulimit -v lets this process have " + std::to_string(limit.rlim_cur / 1'000'000) +
         " MB in all";
}

}  // namespace midscope
