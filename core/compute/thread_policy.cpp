// SPDX-License-Identifier: MIT
#include "core/compute/thread_policy.h"

#include <unistd.h>

#include <cstdlib>

namespace midscope {

void WaitForThreadsPassively(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);  // returns only where it failed: the program then runs as it is
}

}  // namespace midscope
