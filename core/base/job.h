// SPDX-License-Identifier: MIT
// The context that long work receives, and its outcome. There are no threads and no globals here:
// the caller of a job decides where it runs, draws its progress and may cancel it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace midscope {

struct Progress {
  std::string stage;  // "sweep", "load weights"
  int64_t done = 0;
  int64_t total = 0;  // 0: unknown
  std::string unit;   // "samples", "tokens"
};

// Passed to every function that may run for long. Callbacks may be empty and are called on the
// working thread; they must not throw.
struct JobContext {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string& message)> log;
  std::function<void(const std::string& message)> warn{};  // if empty, warnings go to `log`

  bool cancelled() const { return cancel && cancel->load(std::memory_order_relaxed); }
  // Throws Cancelled if the work has been cancelled.
  void ThrowIfCancelled() const;
  void Report(const Progress& state) const {
    if (progress) progress(state);
  }
  // Logs a note about progress: what is done, what was sent.
  void Log(const std::string& message) const {
    if (log) log(message);
  }
  // Logs a warning, or a failure that does not end the work. Shown even if notes are switched off.
  void Warn(const std::string& message) const {
    if (warn) {
      warn(message);
    } else {
      Log(message);
    }
  }
};

enum class JobEnd { kDone, kCancelled, kFailed };

struct JobOutcome {
  JobEnd end = JobEnd::kDone;
  std::string why;           // for kFailed: thing, reason, remedy
  std::string problem = {};  // `why` without the remedy
};

// Runs `work` and turns every exception into an outcome.
JobOutcome RunJob(const JobContext& context,
                  const std::function<void(const JobContext&)>& work) noexcept;

}  // namespace midscope
