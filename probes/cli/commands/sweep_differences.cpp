// SPDX-License-Identifier: MIT
#include "probes/cli/commands/sweep_differences.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "core/base/record_names.h"
#include "core/base/text.h"
#include "probes/cli/console/text_table.h"
#include "probes/sweep/place_verdict.h"

namespace midscope::cli {
namespace {

std::string WhatText(const SettingComparison& one) {
  if (one.what == "mean") return "mean " + one.measure + " over places";
  if (one.what == "gap") return "the gap of " + one.measure + " between places";
  return one.measure + " at " + one.what;
}

std::string DifferenceLine(const CellReport& report, const SettingComparison& one) {
  const std::string begin = fmt::format("{} against {}: {}", SettingText(report, one.setting),
                                        SettingText(report, one.against), WhatText(one));
  if (!std::isfinite(one.p_holm) || one.smallest_p >= kVerdictLevel) {
    return fmt::format("{}: no verdict, {} {} too few\n", begin, CountText(one.samples, "sample"),
                       one.samples == 1 ? "is" : "are");
  }
  const std::string p = PText(one.p_holm);
  return fmt::format(
      "{} {} by {}{}; adjusted p {}{}\n", begin,
      one.p_holm < kVerdictLevel ? "differs" : "does not differ measurably, it changes",
      WithInterval(one.difference, one.interval), one.measure == kAnswerNll ? " nats" : "",
      p.starts_with('<') ? "" : "= ", p);
}

}  // namespace

std::string DifferenceLines(const CellReport& report) {
  const std::vector<PlaceVerdict> verdicts = PlaceVerdicts(report.plan, report.statistics);
  if (verdicts.empty()) return "";
  const bool several_places = report.plan.places.size() > 1;
  std::string text;
  for (const SettingComparison& one : report.statistics.comparisons) {
    const bool at_place = one.what.starts_with("place");
    if (one.measure != verdicts.front().measure || at_place == several_places) continue;
    text += DifferenceLine(report, one);
  }
  return text;
}

}  // namespace midscope::cli
