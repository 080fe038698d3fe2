// SPDX-License-Identifier: MIT
// States in one sentence whether the place of the gold piece matters under a setting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "probes/sweep/sweep_plan.h"
#include "probes/sweep/sweep_statistics.h"

namespace midscope {

// Level of significance: the place matters if its adjusted p is below it.
inline constexpr double kVerdictLevel = 0.05;

struct PlaceVerdict {
  size_t setting = 0;
  std::string measure;  // name of the measure that the verdict is about
  // Whether the place matters; nullopt if the samples allow no test.
  std::optional<bool> matters;
  double p = kUndefined;           // SettingStatistics::place_p
  double p_adjusted = kUndefined;  // adjusted by Holm over the settings of the sweep
  // Place with the best mean; nullopt if all places are equal or there is one place.
  std::optional<int64_t> best;
  std::optional<int64_t> worst;
  std::string best_text;  // all places of a tie: "1 and 20"
  std::string worst_text;
  // Mean at the best place minus that at the worst, with its 95 % interval, and the mean gap if
  // places are permuted; in nats, or as a share for scores.
  double gap = kUndefined;
  Interval gap_interval = {kUndefined, kUndefined};
  double chance = kUndefined;
  double detectable = kUndefined;  // SettingStatistics::detectable_gap
  // The verdict without the setting's name: "place matters: p < 0.001; best 5, worst 1, 1.16 nats
  // [0.78, 1.55] apart; chance 0.30", "place does not matter measurably: p = 0.41; ...", or "no
  // verdict: " and the reason.
  std::string text;
};

// Returns one verdict per setting, in the plan's order, on answer_nll if answers are scored by
// likelihood, else on the score of the generated text. `matters` is nullopt for one place, for
// fewer than kAdviceSamples samples, or for so few that p cannot fall below kVerdictLevel. Returns
// no verdicts if `statistics` has no measure.
std::vector<PlaceVerdict> PlaceVerdicts(const SweepPlan& plan, const SweepStatistics& statistics);

}  // namespace midscope
