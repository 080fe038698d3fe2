// SPDX-License-Identifier: MIT
#include "core/attention_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/plan_checks.h"
#include "core/rope_frequencies.h"

namespace midscope {
namespace {

void AddChannel(const ChannelScaling& scaling, const ModelConfig& config, int64_t prompt_tokens,
                std::vector<AttentionPlan>& plans) {
  const std::string term = "channel(" + std::to_string(scaling.channel) + ")";
  if (scaling.channel < 0 || scaling.channel >= config.hidden) {
    throw UsageError(term, "the model has no such channel",
                     "It has channels 0-" + std::to_string(config.hidden - 1));
  }
  CheckLayers(scaling.layers, config, term);
  const RowRange rows = RowsOf({scaling.rows, scaling.last_rows}, prompt_tokens);
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    if (!scaling.layers.Contains(layer)) continue;
    auto& override = plans[static_cast<size_t>(layer)].row_override;
    if (!override) {
      override = RowOverride{rows.first, rows.last, {}};
    } else if (override->first_row != rows.first || override->last_row != rows.last) {
      throw UsageError(
          term, "layer " + std::to_string(layer) + " has another channel term with other rows",
          "Give channel terms that share a layer the same rows=");
    }
    for (const auto& other : override->channels) {
      if (other.channel == scaling.channel) {
        throw UsageError(term, "layer " + std::to_string(layer) + " scales this channel twice",
                         "Give one factor for a channel and layer");
      }
    }
    override->channels.push_back({scaling.channel, scaling.factor});
  }
}

// Of a model that has positions but does not rotate by them, position ratios mean nothing.
void CheckRotates(const ModelConfig& config, const std::string& term) {
  if (config.positions == PositionKind::kRotary) return;
  throw UsageError(term, "this model has no rotary positions to rescale: it attends with ALiBi",
                   "Channel scaling works on all models");
}

void SetRatio(AttentionPlan& plan, double ratio) {
  if (plan.inverse_frequency.empty()) return;
  std::fill(plan.q_ratio.begin(), plan.q_ratio.end(), ratio);
  std::fill(plan.k_ratio.begin(), plan.k_ratio.end(), ratio);
}

void ApplyScheme(const PositionScheme& scheme, const ModelConfig& config,
                 std::vector<AttentionPlan>& plans) {
  if (const auto* interpolation = std::get_if<PositionInterpolation>(&scheme)) {
    CheckRotates(config, "pi");
    for (auto& plan : plans) SetRatio(plan, interpolation->ratio);
  } else if (const auto* ms_poe = std::get_if<MsPoe>(&scheme)) {
    CheckRotates(config, "ms-poe");
    CheckLayers(ms_poe->layers, config, "ms-poe");
    for (int64_t layer = 0; layer < config.layers; ++layer) {
      if (!ms_poe->layers.Contains(layer)) continue;
      AttentionPlan& plan = plans[static_cast<size_t>(layer)];
      if (plan.inverse_frequency.empty()) continue;
      plan.ratio_rule = RatioRule{*ms_poe};
      if (RatiosAreFixed(*plan.ratio_rule)) {
        const std::vector<int64_t> no_counts(static_cast<size_t>(config.heads), 0);
        HeadRatios ratios = ResolveRatios(*plan.ratio_rule, no_counts, config.key_value_heads);
        plan.q_ratio = std::move(ratios.q);
        plan.k_ratio = std::move(ratios.k);
      }
    }
  }
}

// The ramp's value at `index` of `count`. The public code divides by count, so that max is never
// reached; the paper by count - 1.
double Ramp(const MsPoe& scheme, int64_t index, int64_t count) {
  const int64_t divisor = scheme.mode == MsPoeMode::kCode ? count : std::max<int64_t>(count - 1, 1);
  return scheme.min +
         (scheme.max - scheme.min) * static_cast<double>(index) / static_cast<double>(divisor);
}

// Items by falling count, ties in their own order: order[rank] = item.
std::vector<int64_t> ByFallingCount(std::span<const int64_t> counts) {
  std::vector<int64_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return counts[static_cast<size_t>(a)] > counts[static_cast<size_t>(b)];
  });
  return order;
}

// Ramp index of each of `counts.size()` items.
std::vector<int64_t> RampIndices(const MsPoe& scheme, std::span<const int64_t> counts) {
  const auto items = static_cast<int64_t>(counts.size());
  std::vector<int64_t> index(counts.size());
  const bool by_score =
      scheme.order == MsPoeOrder::kScore || scheme.order == MsPoeOrder::kScoreReversed;
  if (!by_score) {
    std::iota(index.begin(), index.end(), 0);
  } else {
    const std::vector<int64_t> order = ByFallingCount(counts);
    for (int64_t rank = 0; rank < items; ++rank) {
      // The public code indexes the ramp by the sorted order itself, not by its inverse (seed-facts
      // A.3 #1).
      if (scheme.mode == MsPoeMode::kCode) {
        index[static_cast<size_t>(rank)] = order[static_cast<size_t>(rank)];
      } else {
        index[static_cast<size_t>(order[static_cast<size_t>(rank)])] = rank;
      }
    }
  }
  if (scheme.order == MsPoeOrder::kScoreReversed || scheme.order == MsPoeOrder::kReversed) {
    for (int64_t& i : index) i = items - 1 - i;
  }
  return index;
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
  } else {
    plain.alibi_slopes = AlibiSlopes(config.heads, config.alibi_max_bias);
  }
  std::vector<AttentionPlan> plans(static_cast<size_t>(config.layers), plain);
  for (size_t layer = 0; layer < plans.size(); ++layer) {
    const LayerAttention attention =
        layer < config.attention.size() ? config.attention[layer] : LayerAttention{};
    plans[layer].window = attention.window;
    if (!attention.rotary) continue;
    const RopeFrequencies& frequencies = attention.local ? local : global;
    plans[layer].inverse_frequency = frequencies.inverse_frequency;
    plans[layer].magnitude = frequencies.magnitude;
  }
  return plans;
}

}  // namespace

bool RatiosAreFixed(const RatioRule& rule) {
  return rule.scheme.order == MsPoeOrder::kSequential || rule.scheme.order == MsPoeOrder::kReversed;
}

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
  std::vector<AttentionPlan> plans = PlainPlans(config, tokens > 0 ? tokens : prompt_tokens);
  ApplyScheme(intervention.positions, config, plans);
  for (const ChannelScaling& scaling : intervention.channels)
    AddChannel(scaling, config, prompt_tokens, plans);
  std::vector<AttentionEdits> edits = CompileEdits(intervention, config, prompt_tokens);
  for (size_t layer = 0; layer < plans.size(); ++layer)
    plans[layer].edits = std::move(edits[layer]);
  return plans;
}

HeadRatios ResolveRatios(const RatioRule& rule, std::span<const int64_t> attended_keys,
                         int64_t key_value_heads) {
  const MsPoe& scheme = rule.scheme;
  const auto heads = static_cast<int64_t>(attended_keys.size());
  const int64_t group = heads / key_value_heads;
  HeadRatios ratios;
  ratios.q.resize(attended_keys.size());
  if (scheme.mode == MsPoeMode::kGroup) {
    std::vector<int64_t> group_counts(static_cast<size_t>(key_value_heads), 0);
    for (int64_t head = 0; head < heads; ++head) {
      group_counts[static_cast<size_t>(head / group)] += attended_keys[static_cast<size_t>(head)];
    }
    const std::vector<int64_t> index = RampIndices(scheme, group_counts);
    for (int64_t head = 0; head < heads; ++head) {
      ratios.q[static_cast<size_t>(head)] =
          Ramp(scheme, index[static_cast<size_t>(head / group)], key_value_heads);
    }
  } else {
    const std::vector<int64_t> index = RampIndices(scheme, attended_keys);
    for (size_t head = 0; head < index.size(); ++head)
      ratios.q[head] = Ramp(scheme, index[head], heads);
  }
  ratios.k = ratios.q;
  if (scheme.mode == MsPoeMode::kCode) {
    for (int64_t head = 0; head < heads; ++head) {
      ratios.k[static_cast<size_t>(head)] = ratios.q[static_cast<size_t>(head / group * group)];
    }
  }
  return ratios;
}

}  // namespace midscope
