// SPDX-License-Identifier: MIT
#include "probes/cli/console/progress_line.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/hub/hub_listing.h"

namespace midscope::cli {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);

}  // namespace

std::string TimeText(double seconds) {
  const auto whole = std::llround(seconds);
  if (whole < 100) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole / 60 % 60);
}

std::string ProgressText(const Progress& progress, int64_t begun, double seconds) {
  const bool bytes = progress.unit == "bytes";
  const auto amount = [&](int64_t n) { return bytes ? BytesText(n) : std::to_string(n); };
  std::string text = progress.stage + " " + amount(progress.done);
  if (progress.total > 0) text += (bytes ? " of " : "/") + amount(progress.total);
  if (!bytes) text += " " + progress.unit;
  const int64_t done = progress.done - begun;
  if (done <= 0 || seconds <= 0) return text;
  const double rate = static_cast<double>(done) / seconds;
  const std::string one =
      progress.unit.substr(0, progress.unit.size() - (progress.unit.ends_with('s') ? 1 : 0));
  text += bytes      ? ", " + BytesText(std::llround(rate)) + "/s"
          : rate < 1 ? fmt::format(", {:.3g} s per {}", 1 / rate, one)
                     : fmt::format(", {:.3g} {}/s", rate, rate == 1 ? one : progress.unit);
  if (progress.total > progress.done) {
    text += ", " + TimeText(static_cast<double>(progress.total - progress.done) / rate) + " left";
  }
  return text;
}

std::string ProgressJson(const Progress& progress) {
  return nlohmann::ordered_json({{"stage", progress.stage},
                                 {"done", progress.done},
                                 {"total", progress.total},
                                 {"unit", progress.unit}})
      .dump();
}

void ProgressLine::Draw(const Progress& progress) {
  const Clock::time_point now = Clock::now();
  if (form_ == ProgressForm::kJson) {
    PrintJson(progress, now);
    return;
  }
  const bool new_stage = progress.stage != stage_ || progress.done < begun_;
  if (new_stage) {
    stage_ = progress.stage;
    begun_ = progress.done;
    stage_start_ = now;
  }
  if (progress.total > 0 && progress.done >= progress.total) {
    Clear();
    return;
  }
  if (form_ == ProgressForm::kLog) {
    PrintLine(progress, now);
    return;
  }
  if (!new_stage && DrawnWithin(kRedrawEvery, now)) return;
  last_drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - stage_start_).count();
  std::fprintf(stderr, "\r\033[K%s", ProgressText(progress, begun_, seconds).c_str());
  std::fflush(stderr);
  drawn_ = true;
}

// Writes log lines at intervals if the work takes long.
void ProgressLine::PrintLine(const Progress& progress, Clock::time_point now) {
  if (now - begun_at_ < pace_.first_line || DrawnWithin(pace_.between, now)) return;
  last_drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - stage_start_).count();
  std::fprintf(stderr, "midscope: %s\n", ProgressText(progress, begun_, seconds).c_str());
  std::fflush(stderr);
}

// Writes the first and the last step of every stage, and at most ten steps per second between them.
void ProgressLine::PrintJson(const Progress& progress, Clock::time_point now) {
  const bool ends = progress.total > 0 && progress.done >= progress.total;
  if (progress.stage == stage_ && !ends && DrawnWithin(kRedrawEvery, now)) return;
  stage_ = progress.stage;
  last_drawn_ = now;
  std::fprintf(stderr, "%s\n", ProgressJson(progress).c_str());
  std::fflush(stderr);
}

void ProgressLine::Clear() {
  if (!drawn_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace midscope::cli
