// SPDX-License-Identifier: MIT
// Converts Ctrl-C, SIGTERM and other signals with which batch systems end programs into
// cancellation of the job.
#pragma once

#include <atomic>
#include <csignal>

namespace midscope::cli {

// Returns the exit status 128 + number of the signal that cancelled the job, as shells do: 130 for
// SIGINT, 143 for SIGTERM, 138 for SIGUSR1. Returns 143 if this process received no signal: then
// another process of the sweep did.
int InterruptStatus();

// Installs handlers: the first SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 or SIGXCPU sets the flag;
// the same signal again ends the process. A closed pipe on standard output becomes a write error
// instead of a signal.
const std::atomic<bool>& InstallSignalHandlers();

// During its lifetime, every SIGINT sets this object's flag instead, and none ends the process.
// Only one such object may exist at a time.
class InterruptsTaken {
 public:
  InterruptsTaken();
  ~InterruptsTaken();
  InterruptsTaken(const InterruptsTaken&) = delete;
  InterruptsTaken& operator=(const InterruptsTaken&) = delete;
  // The caller must reset the flag when it has handled the interrupt.
  std::atomic<bool>& flag();

 private:
  struct sigaction before_;
};

}  // namespace midscope::cli
