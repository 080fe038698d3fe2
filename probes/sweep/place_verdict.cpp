// SPDX-License-Identifier: MIT
#include "probes/sweep/place_verdict.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/record_names.h"
#include "core/base/text.h"
#include "probes/sweep/plan_texts.h"

namespace midscope {
namespace {

// Returns the measure on which verdicts are based; "" if there is none.
std::string VerdictMeasure(const SweepStatistics& statistics) {
  std::string measure;
  for (const char* name : {"accuracy", "generation_score", kAnswerNll}) {
    for (const SettingStatistics& one : statistics.settings) {
      if (one.measure == name) measure = name;
    }
  }
  return measure;
}

// Returns the smallest p of the test of places. Permuting the places of all samples in the same way
// leaves the statistic unchanged, so the smallest p is 1 / places!^(samples - 1).
double SmallestPlaceP(size_t places, int64_t samples) {
  const double orders = std::tgamma(static_cast<double>(places) + 1);
  return std::pow(orders, -static_cast<double>(samples - 1));
}

std::string PEquals(double p) {
  if (p < 0.001) return "p < 0.001";
  return fmt::format("p = {:.{}f}", p, p < 0.1 ? 3 : 2);
}

// Returns the gap: "1.16 nats [0.78, 1.55] apart"; scores have no unit, and their measure is named.
std::string GapText(const PlaceVerdict& verdict) {
  const bool nats = verdict.measure == kAnswerNll;
  std::string text = fmt::format("{:.2f}{}", verdict.gap, nats ? " nats" : "");
  if (std::isfinite(verdict.gap_interval.low)) {
    text += fmt::format(" [{:.2f}, {:.2f}]", verdict.gap_interval.low, verdict.gap_interval.high);
  }
  return text + (nats ? "" : " of " + verdict.measure) + " apart";
}

std::string SpreadText(const PlaceVerdict& verdict) {
  if (!verdict.best || !verdict.worst) return "all places are equal";
  std::string text =
      fmt::format("best {}, worst {}, {}", verdict.best_text, verdict.worst_text, GapText(verdict));
  if (std::isfinite(verdict.chance)) text += fmt::format("; chance {:.2f}", verdict.chance);
  return text;
}

// Returns the reason why there is no verdict; "" if there is one.
std::string Reason(const SweepPlan& plan, const SettingStatistics& setting) {
  if (plan.places.size() < 2) return "the sweep has one place";
  const int64_t samples = setting.samples;
  if (samples == 0) return "the setting ran on no sample";
  int64_t needed = kAdviceSamples;
  while (SmallestPlaceP(plan.places.size(), needed) >= kVerdictLevel) ++needed;
  if (samples < needed) {
    return fmt::format("{} too few, {} are needed",
                       CountText(samples, "sample") + (samples == 1 ? " is" : " are"), needed);
  }
  return std::isfinite(setting.place_p) ? "" : "a value is not a number";
}

PlaceVerdict VerdictOf(const SweepPlan& plan, const SettingStatistics& setting) {
  PlaceVerdict verdict;
  verdict.setting = setting.setting;
  verdict.measure = setting.measure;
  if (plan.places.size() > 1) {
    verdict.p = setting.place_p;
    verdict.p_adjusted = setting.place_p_holm;
    verdict.best = setting.best_place;
    verdict.worst = setting.worst_place;
    verdict.best_text = PlacesText(plan, setting.best_places);
    verdict.worst_text = PlacesText(plan, setting.worst_places);
    verdict.gap = setting.gap;
    verdict.gap_interval = setting.gap_interval;
    verdict.chance = setting.chance_gap;
    verdict.detectable = setting.detectable_gap;
  }
  const std::string reason = Reason(plan, setting);
  if (!reason.empty()) {
    verdict.text = "no verdict on the place: " + reason;
    return verdict;
  }
  verdict.matters = verdict.p_adjusted < kVerdictLevel;
  verdict.text =
      fmt::format("place {}: {}{}; {}", *verdict.matters ? "matters" : "does not matter measurably",
                  plan.settings.size() > 1 ? "adjusted " : "", PEquals(verdict.p_adjusted),
                  SpreadText(verdict));
  if (!*verdict.matters && verdict.detectable > 0) {
    verdict.text +=
        fmt::format("; {} detect a gap of {:.2f}{}", CountText(setting.samples, "sample"),
                    verdict.detectable, verdict.measure == kAnswerNll ? " nats" : "");
  }
  return verdict;
}

}  // namespace

std::vector<PlaceVerdict> PlaceVerdicts(const SweepPlan& plan, const SweepStatistics& statistics) {
  std::vector<PlaceVerdict> verdicts;
  const std::string measure = VerdictMeasure(statistics);
  for (const SettingStatistics& setting : statistics.settings) {
    if (setting.measure == measure) verdicts.push_back(VerdictOf(plan, setting));
  }
  std::sort(verdicts.begin(), verdicts.end(),
            [](const PlaceVerdict& a, const PlaceVerdict& b) { return a.setting < b.setting; });
  return verdicts;
}

}  // namespace midscope
