// SPDX-License-Identifier: MIT
// Ctrl-C (and a polite kill) as a cancelled job.
#pragma once

#include <atomic>
#include <csignal>

namespace midscope::cli {

// From now on the first SIGINT or SIGTERM sets the flag; a second one ends the process. A closed
// pipe on standard output becomes a write error instead of a signal.
const std::atomic<bool>& InstallSignalHandlers();

// While it lives, every SIGINT sets the flag of this object instead, and none ends the process. One
// at a time.
class InterruptsTaken {
 public:
  InterruptsTaken();
  ~InterruptsTaken();
  InterruptsTaken(const InterruptsTaken&) = delete;
  InterruptsTaken& operator=(const InterruptsTaken&) = delete;
  // Whoever heeds it sets it back.
  std::atomic<bool>& flag();

 private:
  struct sigaction before_;
};

}  // namespace midscope::cli
