// SPDX-License-Identifier: MIT
#include "probes/cli/console/interrupt.h"

#include <array>
#include <csignal>

#include "core/base/memory_map.h"

namespace midscope::cli {
namespace {

// The interrupt flag is global, because signal handlers can only access globals.
std::atomic<bool> interrupted = false;
std::atomic<int> last_signal = SIGTERM;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

std::atomic<bool> taken = false;

void OnSignal(int number) {
  last_signal.store(number, std::memory_order_relaxed);
  interrupted.store(true, std::memory_order_relaxed);
}

// Signals sent by Ctrl-C, by terminals that close, and by batch systems before a time limit
// (Slurm's --signal, SGE's notice, the soft limit of CPU time). Under nohup, SIGHUP stays ignored.
constexpr std::array<int, 6> kEndings = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU};

bool IsHangUpIgnored() {
  struct sigaction before {};
  return sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler == SIG_IGN;
}

void OnTakenSignal(int) { taken.store(true, std::memory_order_relaxed); }

}  // namespace

int InterruptStatus() { return 128 + last_signal.load(std::memory_order_relaxed); }

InterruptsTaken::InterruptsTaken() {
  taken.store(false);
  struct sigaction action {};
  action.sa_handler = OnTakenSignal;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before_);
}

InterruptsTaken::~InterruptsTaken() { sigaction(SIGINT, &before_, nullptr); }

std::atomic<bool>& InterruptsTaken::flag() { return taken; }

const std::atomic<bool>& InstallSignalHandlers() {
  UseSignalStack();  // this is the main thread, which receives the signals
  struct sigaction action {};
  action.sa_handler = OnSignal;
  // Without SA_RESTART, so that a signal ends the wait for a pipe's writer (ReadWholeFile).
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_ONSTACK);
  sigemptyset(&action.sa_mask);
  for (const int signal : kEndings) {
    if (signal != SIGHUP || !IsHangUpIgnored()) sigaction(signal, &action, nullptr);
  }
  std::signal(SIGPIPE, SIG_IGN);
  // Makes exceeding a file size limit a failed write with a message, like a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  return interrupted;
}

}  // namespace midscope::cli
