// SPDX-License-Identifier: MIT
// How tables print means with their intervals, and p values.
#pragma once

#include <cmath>
#include <string>

#include <fmt/format.h>

#include "probes/statistics/statistics.h"

namespace midscope::cli {

// "1.50 [1.20, 1.80]"; "-" for none.
inline std::string WithInterval(double value, const Interval& interval) {
  if (!std::isfinite(value)) return "-";
  if (!std::isfinite(interval.low)) return fmt::format("{:.2f}", value);
  return fmt::format("{:.2f} [{:.2f}, {:.2f}]", value, interval.low, interval.high);
}

inline std::string PText(double p) {
  if (!std::isfinite(p)) return "-";
  return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p);
}

}  // namespace midscope::cli
