// SPDX-License-Identifier: MIT
#include "core/tuning/tuning_plans.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/terms/intervention_text.h"
#include "core/terms/terms.h"

namespace midscope {
namespace {

bool AllEqual(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](double value) { return value == values.front(); });
}

// Whether a model without positions is given nothing but its tokens' own.
bool LeavesNoneAlone(const std::vector<double>& ids, const ModelConfig& config) {
  if (config.positions != PositionKind::kNone) return false;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] != static_cast<double>(i)) return false;
  }
  return true;
}

// Returns what the plan does besides positions; "" if it does nothing else.
std::string BesidesPositions(const AttentionPlan& plan) {
  if (plan.ratio_rule || !AllEqual(plan.q_ratio) || !AllEqual(plan.k_ratio))
    return "it gives heads different positions";
  if (plan.near_far) return "it gives near and far keys different positions";
  if (plan.scheme_rows) return "it changes only some rows";
  if (plan.memory) return "it attends through a compressive memory";
  if (plan.row_override || !plan.patches.empty() || !plan.residual.empty() ||
      plan.edits != AttentionEdits())
    return "it edits activations";
  return "";
}

}  // namespace

std::vector<AttentionPlan> TuningPlans(const Intervention& setting,
                                       const std::vector<double>& position_ids,
                                       const ModelConfig& config, int64_t tokens) {
  Intervention with_ids = setting;
  if (!position_ids.empty()) {
    if (setting.Find<GivenPositions>() != nullptr) {
      throw UsageError("setting '" + PrintIntervention(setting) + "'",
                       "it must not set position ids, which are given separately",
                       "Remove positions(...)");
    }
    if (static_cast<int64_t>(position_ids.size()) != tokens) {
      throw UsageError("position ids", "there must be " + std::to_string(tokens) +
                                           ", one per token; there are " +
                                           std::to_string(position_ids.size()));
    }
    GivenPositions given;
    given.ids = position_ids;
    if (!LeavesNoneAlone(position_ids, config)) with_ids.Add(TermOf(given));
  }
  ModelConfig beyond = config;
  beyond.beyond_context = true;
  std::vector<AttentionPlan> plans = CompilePlans(with_ids, beyond, tokens, tokens);
  for (const AttentionPlan& plan : plans) {
    const std::string reason = BesidesPositions(plan);
    if (reason.empty()) continue;
    throw UsageError("setting '" + PrintIntervention(setting) + "'",
                     reason + ", which a pass with gradients does not support",
                     "Use a position scheme that treats all heads and rows alike: pi, base, ntk, "
                     "yarn");
  }
  return plans;
}

}  // namespace midscope
