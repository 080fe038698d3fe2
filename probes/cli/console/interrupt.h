// SPDX-License-Identifier: MIT
// Converts Ctrl-C, SIGTERM and other signals with which batch systems end programs into
// cancellation of the job.
#pragma once

#include <atomic>
#include <csignal>

namespace midscope::cli {

// Returns the exit status for a cancelled job, 128 + number of the signal that cancelled it, as
// shells do: 130 for SIGINT, 143 for SIGTERM, 138 for SIGUSR1. Returns 143 if this process received
// no signal, because another process of the sweep did.
int InterruptStatus();

// Installs signal handlers and returns the flag that they set: the first SIGINT, SIGTERM, SIGHUP,
// SIGUSR1, SIGUSR2 or SIGXCPU sets it; the same signal again ends the process. A closed pipe on
// standard output becomes a write error instead of a signal.
const std::atomic<bool>& InstallSignalHandlers();

// While this object exists, every SIGINT sets its flag, and none cancels the job or ends the
// process. Only one such object may exist at a time.
class InterruptsTaken {
 public:
  InterruptsTaken();
  ~InterruptsTaken();
  InterruptsTaken(const InterruptsTaken&) = delete;
  InterruptsTaken& operator=(const InterruptsTaken&) = delete;
  // Returns the flag; the caller must reset it after handling the interrupt.
  std::atomic<bool>& flag();

 private:
  struct sigaction before_;
};

}  // namespace midscope::cli
