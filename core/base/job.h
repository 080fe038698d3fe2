// SPDX-License-Identifier: MIT
// Long work: what it is handed, and how it ends. No threads in here and no globals: whoever runs a
// job decides where it runs, draws its progress and may cancel it.
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

// Passed down to whatever works long. Callbacks may be empty and are called on the working thread;
// they must not throw.
struct JobContext {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void(const Progress&)> progress;
  std::function<void(const std::string& message)> log;
  std::function<void(const std::string& message)> warn{};  // empty: warnings go to `log`

  bool cancelled() const { return cancel && cancel->load(std::memory_order_relaxed); }
  // Throws Cancelled when the work has been cancelled.
  void ThrowIfCancelled() const;
  void Report(const Progress& state) const {
    if (progress) progress(state);
  }
  // A note: what is done, what was sent.
  void Log(const std::string& message) const {
    if (log) log(message);
  }
  // A warning, or a failure that does not end the work: kept where notes are switched off.
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
  std::string why;  // for kFailed: thing, reason, remedy
  bool usage_error = false;
  std::string problem = {};  // `why` without the remedy
};

// Runs `work` and turns its exceptions into an outcome; nothing leaves it but the outcome.
JobOutcome RunJob(const JobContext& context,
                  const std::function<void(const JobContext&)>& work) noexcept;

}  // namespace midscope
