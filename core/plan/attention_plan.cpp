// SPDX-License-Identifier: MIT
#include "core/plan/attention_plan.h"

#include <algorithm>
#include <cmath>

#include "core/plan/given_positions.h"
#include "core/plan/plan_checks.h"
#include "core/plan/rope_frequencies.h"
#include "core/plan/row_plans.h"
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

// What the model itself does, layer by layer.
std::vector<AttentionPlan> PlainPlans(const ModelConfig& config, int64_t tokens) {
  AttentionPlan plain;
  plain.logit_scale = config.logit_scale != 0
                          ? config.logit_scale
                          : 1.0 / std::sqrt(static_cast<double>(config.head_dim));
  plain.softcap = config.attention_softcap;
  plain.q_ratio.assign(static_cast<size_t>(config.heads), 1.0);
  plain.k_ratio = plain.q_ratio;
  RopeFrequencies global;
  RopeFrequencies local;
  if (config.positions == PositionKind::kRotary) {
    global = ModelFrequencies(config, tokens);
    local = LocalFrequencies(config);
  } else if (config.positions == PositionKind::kAlibi) {
    plain.alibi_slopes = SlopesOf(config);
  }
  std::vector<AttentionPlan> plans(static_cast<size_t>(config.layers), plain);
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    const LayerAttention attention =
        layer < config.attention.size() ? config.attention[layer] : LayerAttention{};
    plans[layer].window = attention.window;
    plans[layer].chunk = attention.chunk;
    plans[layer].logit_scale /= attention.logit_divisor;
    if (!attention.rotary) continue;
    const RopeFrequencies& frequencies = attention.local ? local : global;
    plans[layer].inverse_frequency = frequencies.inverse_frequency;
    plans[layer].magnitude = frequencies.magnitude;
  }
  return plans;
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
  // Of the rows that see neither scheme nor ids.
  const std::vector<AttentionPlan> own = id_rows == kAllRows ? plans : PlainPlans(config, length);
  apply(TermStage::kPositions);
  LimitScheme(RowsOf(PositionSchemeRows(intervention), prompt_tokens), own, plans);
  apply(TermStage::kAfterPositions);
  LimitIds(id_rows, own, plans);
  // A norm after the rotation takes a factor of it away again.
  if (config.norm_after_rotation) {
    for (AttentionPlan& plan : plans) plan.magnitude = 1.0;
  }
  return plans;
}

}  // namespace midscope
