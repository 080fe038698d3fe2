// SPDX-License-Identifier: MIT
// Shows progress, with rate and remaining time; on a terminal as one line that is redrawn.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "core/base/job.h"

namespace midscope::cli {

// Returns a duration as "42 s", "3:05 min", "1:12 h".
std::string TimeText(double seconds);

// Returns progress as text, "sweep 12/40 samples, 1.3 samples/s, 21 s left"; for bytes, "fetch 1.2
// MB of 3.4 GB, ...". `begun`: amount already done when the stage began, not counted in the rate;
// `seconds`: time since the beginning of the stage.
std::string ProgressText(const Progress& progress, int64_t begun, double seconds);

// Timing of progress lines in a log: seconds before the first line, and minimum time between lines.
struct ProgressPace {
  std::chrono::milliseconds first_line{20'000};
  std::chrono::milliseconds between{60'000};
};

// How progress is shown: as a line that is redrawn, as lines of a log, or as lines of JSON for a
// program.
enum class ProgressForm { kTerminal, kLog, kJson };

// Returns progress as JSON: {"stage":"sweep","done":12,"total":40,"unit":"samples"}; no line end.
std::string ProgressJson(const Progress& progress);

// Writes progress to standard error. On a terminal, the line is erased when a stage is complete.
class ProgressLine {
 public:
  explicit ProgressLine(ProgressForm form, ProgressPace pace = {}) : form_(form), pace_(pace) {}
  ~ProgressLine() { Clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void Draw(const Progress& progress);
  // Erases the progress line, so that other text can be written.
  void Clear();

 private:
  using Clock = std::chrono::steady_clock;
  bool DrawnWithin(Clock::duration time, Clock::time_point now) const {
    return last_drawn_ && now - *last_drawn_ < time;
  }
  void PrintLine(const Progress& progress, Clock::time_point now);
  void PrintJson(const Progress& progress, Clock::time_point now);

  ProgressForm form_;
  ProgressPace pace_;
  bool drawn_ = false;
  std::string stage_;
  int64_t begun_ = 0;  // amount done when the stage began; not counted in the rate
  Clock::time_point begun_at_ = Clock::now();
  Clock::time_point stage_start_;
  std::optional<Clock::time_point> last_drawn_;
};

}  // namespace midscope::cli
