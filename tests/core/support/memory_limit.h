// SPDX-License-Identifier: MIT
// A limit of memory, for files that claim to be larger than they are.
#pragma once

#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <fstream>

namespace midscope::test {

// For the length of a test: an allocation of more than `bytes` beyond what is mapped now fails
// instead of passing unseen.
class MemoryLimit {
 public:
  explicit MemoryLimit(size_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    std::ifstream status("/proc/self/statm");
    size_t pages = 0;
    status >> pages;
    const rlimit limit{pages * static_cast<size_t>(sysconf(_SC_PAGESIZE)) + bytes,
                       before_.rlim_max};
    setrlimit(RLIMIT_AS, &limit);
  }
  ~MemoryLimit() { setrlimit(RLIMIT_AS, &before_); }
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace midscope::test
