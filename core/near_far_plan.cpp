// SPDX-License-Identifier: MIT
#include "core/near_far_plan.h"

#include <algorithm>
#include <map>

#include "core/error.h"

namespace midscope {
namespace {

constexpr const char* kTerm = "self-extend";

// The longest run whose distances, seen through the rule, stay below `distance`.
int64_t Reach(const SelfExtend& scheme, int64_t distance) {
  return (distance - scheme.window) * scheme.group + scheme.window;
}

}  // namespace

void ApplySelfExtend(const SelfExtend& scheme, const Intervention& intervention,
                     std::vector<AttentionPlan>& plans) {
  if (scheme.group < 1) throw UsageError(kTerm, "group must be at least 1");
  if (scheme.window < 1) {
    throw UsageError(kTerm, "window must be at least 1", "It counts the query's own key");
  }
  if (!intervention.moves.empty()) {
    throw UsageError(kTerm,
                     "it does not go together with move: near and far are told apart by "
                     "where tokens stand in the text",
                     "Leave one of the two out");
  }
  const auto windowed = std::find_if(plans.begin(), plans.end(),
                                     [](const AttentionPlan& plan) { return plan.window > 0; });
  if (windowed != plans.end()) {
    throw UsageError(kTerm,
                     "layer " + std::to_string(windowed - plans.begin()) + " sees the last " +
                         std::to_string(windowed->window) +
                         " keys alone, so that far keys would stay unseen",
                     "Switch the model's window off: --sliding-window off");
  }
  for (AttentionPlan& plan : plans) {
    if (!plan.inverse_frequency.empty()) plan.near_far = NearFarRule{scheme.group, scheme.window};
  }
}

void AddFarTables(const AttentionPlan& plan, int64_t rows, RotaryCache& rotary,
                  HeadTables& tables) {
  const NearFarRule& rule = *plan.near_far;
  // No row has a far key.
  if (rows <= rule.window) return;
  tables.near = rule.window;
  const auto add = [&](const std::vector<double>& ratios, int64_t offset, auto& views) {
    std::map<double, kernels::RotaryView> by_ratio;
    for (const double ratio : ratios) {
      const auto found = by_ratio.find(ratio);
      if (found == by_ratio.end()) {
        tables.owned.push_back(
            rotary.Get(plan.inverse_frequency, plan.magnitude, ratio, rows, {rule.group, offset}));
        by_ratio[ratio] = tables.owned.back()->View();
      }
      views.push_back(by_ratio[ratio]);
    }
  };
  add(plan.q_ratio, rule.window - rule.window / rule.group, tables.far_q);
  add(plan.k_ratio, 0, tables.far_k);
}

std::string SelfExtendAdvice(const SelfExtend& scheme, const ModelConfig& config, int64_t tokens) {
  const int64_t trained = config.trained_context;
  if (tokens <= trained || tokens <= scheme.window) return "";
  const auto beyond = [&](int64_t distance) {
    return " beyond " + std::to_string(std::max(trained, Reach(scheme, distance))) +
           " tokens group=" + std::to_string(scheme.group) +
           " and window=" + std::to_string(scheme.window);
  };
  if (tokens > Reach(scheme, trained)) {
    return std::string(kTerm) + ": warning:" + beyond(trained) +
           " make distances of more than the trained " + std::to_string(trained) +
           ". Take a larger group or a smaller window";
  }
  const int64_t well_trained = 2 * trained / 3;
  if (tokens <= Reach(scheme, well_trained)) return "";
  return std::string(kTerm) + ":" + beyond(well_trained) +
         " make distances of more than two thirds of the trained " + std::to_string(trained) +
         ", which models know less well. A larger group or a smaller window may do better";
}

}  // namespace midscope
