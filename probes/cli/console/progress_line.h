// SPDX-License-Identifier: MIT
// Progress on a terminal: one line, redrawn, with rate and time left.
#pragma once

#include <chrono>
#include <string>

#include "core/base/job.h"

namespace midscope::cli {

// "42 s", "3:05 min", "1:12 h".
std::string TimeText(double seconds);

// "sweep 12/40 samples, 1.3 samples/s, 21 s left"; of bytes "fetch 1.2 MB of 3.4 GB, ..."; the rate
// counts the work done since `begun`.
std::string ProgressText(const Progress& progress, int64_t begun, double seconds);

// Without a terminal: when a log gets its first line, and the time between lines.
struct ProgressPace {
  std::chrono::milliseconds first_line{20'000};
  std::chrono::milliseconds between{60'000};
};

// Where progress goes: a line that is redrawn, lines of a log, lines of JSON for a program.
enum class ProgressForm { kTerminal, kLog, kJson };

// {"stage":"sweep","done":12,"total":40,"unit":"samples"}, without a line end.
std::string ProgressJson(const Progress& progress);

// Draws to standard error. A complete stage is erased. Without a terminal, work that takes long
// gets separate lines.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressForm form, ProgressPace pace = {}) : form_(form), pace_(pace) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Draw(const Progress& progress);
  // Erases the line, so that other text can be written.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  void PrintLine(const Progress& progress, Clock::time_point now);
  void PrintJson(const Progress& progress, Clock::time_point now);

  ProgressForm form_;
  ProgressPace pace_;
  bool drawn_ = false;
  std::string stage_;
  int64_t begun_ = 0;  // done when the stage began: not counted in the rate
  Clock::time_point begun_at_ = Clock::now();
  Clock::time_point stage_start_;
  Clock::time_point last_drawn_;
};

}  // namespace midscope::cli
