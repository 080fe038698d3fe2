// SPDX-License-Identifier: MIT
// Turns Ctrl-C, SIGTERM and the other signals by which batch systems end programs into a cancelled
// job.
#pragma once

#include <atomic>
#include <csignal>

namespace midscope::cli {

// 128 and the number of the signal that cancelled the job, as shells count: 130 for SIGINT, 143 for
// SIGTERM, 138 for SIGUSR1. 143 without a signal: another process of the sweep received one.
int InterruptStatus();

// Installs handlers: the first SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 or SIGXCPU sets the flag;
// a second one of the kind ends the process. A closed pipe on standard output becomes a write error
// instead of a signal.
const std::atomic<bool>& InstallSignalHandlers();

// During its lifetime every SIGINT sets this object's flag instead, and none ends the process. Only
// one may exist.
class InterruptsTaken {
 public:
  InterruptsTaken();
  ~InterruptsTaken();
  InterruptsTaken(const InterruptsTaken&) = delete;
  InterruptsTaken& operator=(const InterruptsTaken&) = delete;
  // Reset by the code that handles it.
  std::atomic<bool>& flag();

 private:
  struct sigaction before_;
};

}  // namespace midscope::cli
