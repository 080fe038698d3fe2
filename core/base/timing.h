// SPDX-License-Identifier: MIT
// Elapsed time, by a clock that is never set back.
#pragma once

#include <chrono>
#include <string>

#include "core/base/job.h"

namespace midscope {

// Returns the wall time since `start`, in seconds.
inline double SecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Limits the progress notices of a stage to one per 40 ms. Each notice wakes other threads, for
// which the computing threads then wait.
class ProgressLimit {
 public:
  // Whether to pass this progress notice on: true for the first and the last of a stage, and for
  // others once per interval.
  bool Passes(const Progress& progress) {
    constexpr auto kInterval = std::chrono::milliseconds(40);
    const auto now = std::chrono::steady_clock::now();
    if (progress.stage == stage_ && progress.done < progress.total && now - last_ < kInterval)
      return false;
    last_ = now;
    stage_ = progress.stage;
    return true;
  }

 private:
  std::chrono::steady_clock::time_point last_;
  std::string stage_;
};

}  // namespace midscope
