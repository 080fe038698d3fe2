// SPDX-License-Identifier: MIT
#include "core/plan/attention_plan.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/plan/plan_changes.h"
#include "core/plan/rope_frequencies.h"
#include "core/plan/row_plans.h"
#include "core/plan/run_positions.h"
#include "core/plan/term_plans.h"
#include "kernels/types.h"

namespace midscope {

namespace {

std::vector<float> SlopesOf(const ModelConfig& config) {
  std::vector<float> slopes = AlibiSlopes(config.heads, config.alibi_max_bias);
  for (float& slope : slopes) {
    if (config.alibi_bfloat16) slope = kernels::RoundedTo(kernels::Dtype::kBFloat16, slope);
    slope = static_cast<float>(config.alibi_scale * slope);
  }
  return slopes;
}

// Returns the model's own plans, layer by layer.
std::vector<AttentionPlan> PlainPlans(const ModelConfig& config, int64_t tokens) {
  AttentionPlan plain;
  plain.logit_scale = config.logit_scale != 0
                          ? config.logit_scale
                          : 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  plain.softcap = config.attention_softcap;
  plain.q_ratio.assign(static_cast<size_t>(config.heads), 1.0);
  plain.k_ratio = plain.q_ratio;
  RopeFrequencies global;
  if (config.positions == PositionKind::kRotary) {
    global = ModelFrequencies(config, tokens);
  } else if (config.positions == PositionKind::kAlibi) {
    plain.alibi_slopes = SlopesOf(config);
  }
  std::vector<AttentionPlan> plans(static_cast<size_t>(config.layers), plain);
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    const LayerAttention attention = config.AttentionOf(static_cast<int64_t>(layer));
    plans[layer].window = attention.window;
    plans[layer].chunk = attention.chunk;
    plans[layer].logit_scale /= attention.logit_divisor;
    if (!attention.rotary) continue;
    const RopeFrequencies frequencies =
        attention.local ? LocalFrequencies(config, static_cast<int64_t>(layer)) : global;
    plans[layer].inverse_frequency = frequencies.inverse_frequency;
    plans[layer].magnitude = frequencies.magnitude;
  }
  return plans;
}

// Takes edits of attention out of the plans of layers that have none.
void LeaveAttentionAlone(const ModelConfig& config, int64_t tokens,
                         std::vector<AttentionPlan>& plans) {
  std::vector<AttentionPlan> plain = PlainPlans(config, tokens);
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    if (config.HasAttention(static_cast<int64_t>(layer))) continue;
    plain[layer].residual = std::move(plans[layer].residual);
    plain[layer].patches = std::move(plans[layer].patches);
    plans[layer] = std::move(plain[layer]);
  }
}

}  // namespace

std::vector<float> AlibiSlopes(int64_t heads, double max_bias) {
  int64_t power = 1;
  while (power < heads) power *= 2;
  const auto slope = [&](int64_t i) {
    const double exponent = max_bias * static_cast<double>(i + 1) / static_cast<double>(power);
    return static_cast<float>(std::exp2(-exponent));
  };
  std::vector<float> slopes;
  if (power == heads) {
    for (int64_t i = 0; i < heads; ++i) slopes.push_back(slope(i));
  } else {
    for (int64_t i = 1; i < power; i += 2) slopes.push_back(slope(i));
    for (int64_t i = 0; i < power; i += 2) slopes.push_back(slope(i));
    slopes.resize(static_cast<size_t>(heads));
  }
  return slopes;
}

std::vector<AttentionPlan> CompilePlans(const Intervention& intervention, const ModelConfig& config,
                                        int64_t prompt_tokens, int64_t tokens) {
  const int64_t length = tokens > 0 ? tokens : prompt_tokens;
  const int64_t positions = PositionsTaken(intervention, prompt_tokens, length);
  const RowRange id_rows = RowsOfIds(intervention, prompt_tokens);
  std::vector<AttentionPlan> plans = PlainPlans(config, positions);
  const auto apply = [&](TermStage stage) {
    ApplyTerms(stage, intervention, config, prompt_tokens, positions, plans);
  };
  apply(TermStage::kBeforePositions);
  // The plans of rows that see neither scheme nor ids.
  const std::vector<AttentionPlan> own = id_rows == kAllRows ? plans : PlainPlans(config, length);
  apply(TermStage::kPositions);
  LimitScheme(RowsOf(PositionSchemeRows(intervention), prompt_tokens), own, plans);
  apply(TermStage::kAfterPositions);
  LimitIds(id_rows, own, plans);
  if (config.HasMixers()) LeaveAttentionAlone(config, length, plans);
  // A norm after the rotation would cancel such a factor.
  if (config.norm_after_rotation) {
    for (AttentionPlan& plan : plans) plan.magnitude = 1.0;
  }
  return plans;
}

namespace {

// Calls visit(patch) for patches that are not at the same index in the other list: if rows overlap,
// the later patch overrides.
template <class Visit>
void VisitDifferences(const std::vector<RowPatch>& a, const std::vector<RowPatch>& b,
                      const Visit& visit) {
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && a[i] == b[i]) continue;
    if (i < a.size()) visit(a[i]);
    if (i < b.size()) visit(b[i]);
  }
}

}  // namespace

int64_t FirstPatchedRow(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after) {
  int64_t first = INT64_MAX;
  VisitDifferences(before, after,
                   [&](const RowPatch& patch) { first = std::min(first, patch.taken.rows.first); });
  return first;
}

bool PatchedScoresDiffer(const std::vector<RowPatch>& before, const std::vector<RowPatch>& after) {
  bool differ = false;
  VisitDifferences(before, after, [&](const RowPatch& patch) {
    differ = differ || patch.what == PatchWhat::kQuery || patch.what == PatchWhat::kKey;
  });
  return differ;
}

namespace {

bool TakesMeanOf(const ResidualPlan& plan, int64_t channel) {
  return std::any_of(plan.set.begin(), plan.set.end(), [channel](const SetChannel& set) {
    return set.channel == channel && !set.value;
  });
}

bool AddsMean(const ResidualPlan& before, const ResidualPlan& after) {
  return std::any_of(after.set.begin(), after.set.end(), [&](const SetChannel& set) {
    return !set.value && !TakesMeanOf(before, set.channel);
  });
}

// Returns the smallest first row among the entries that are not at the same index in the other
// list.
template <class Entry>
int64_t FirstDifference(const std::vector<Entry>& a, const std::vector<Entry>& b) {
  int64_t first = INT64_MAX;
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    if (i < a.size() && i < b.size() && a[i] == b[i]) continue;
    if (i < a.size()) first = std::min(first, a[i].rows.first);
    if (i < b.size()) first = std::min(first, b[i].rows.first);
  }
  return first;
}

}  // namespace

bool ResidualPlan::TakesMeans() const {
  return std::any_of(set.begin(), set.end(), [](const SetChannel& one) { return !one.value; });
}

int64_t FirstChangedRow(const ResidualPlan& before, const ResidualPlan& after) {
  // Different vectors change means too.
  const bool other_means = after.TakesMeans() && before.added != after.added;
  if (other_means || AddsMean(before, after)) return 0;
  return std::min(FirstDifference(before.added, after.added),
                  FirstDifference(before.set, after.set));
}

}  // namespace midscope
