// SPDX-License-Identifier: MIT
#include "core/tuning/layer_tensors.h"

#include <ATen/ATen.h>

#include <vector>

#include "kernels/rotary.h"

namespace midscope {
namespace {

std::vector<double> PositionsOf(const AttentionPlan& plan, int64_t tokens) {
  std::vector<double> positions;
  positions.reserve(static_cast<size_t>(tokens));
  for (int64_t row = 0; row < tokens; ++row) positions.push_back(plan.position_ids.At(row));
  return positions;
}

// Returns [1, token, 1] on the host; undefined if the model and the plan scale no query.
at::Tensor QueryScales(const ModelConfig& config, const AttentionPlan& plan,
                       const std::vector<double>& positions) {
  const bool by_row = config.query_growth_unrotated;
  const bool grows = config.query_growth > 0 && (!by_row || plan.inverse_frequency.empty());
  if (!grows && plan.log_scale_base <= 0) return {};
  std::vector<float> scales;
  for (const double position : positions) {
    double scale = plan.log_scale_base > 0 ? QueryScale(position, plan.log_scale_base) : 1.0;
    const double grown = by_row ? static_cast<double>(scales.size() + 1) : position;
    if (grows) scale *= QueryGrowth(grown, config);
    scales.push_back(static_cast<float>(scale));
  }
  return at::tensor(scales).view({1, -1, 1});
}

// Returns [query, key] on the host.
at::Tensor VisibleKeys(const AttentionPlan& plan, int64_t tokens) {
  const at::Tensor key = at::arange(tokens, at::kLong);
  const at::Tensor query = key.unsqueeze(1);
  at::Tensor visible = key <= query;
  if (plan.window > 0) visible = visible & (query - key < plan.window);
  if (plan.chunk > 0) visible = visible & (key >= query - query.remainder(plan.chunk));
  return visible;
}

}  // namespace

LayerTensors::LayerTensors(const ModelConfig& config, int64_t layer, const AttentionPlan& plan,
                           int64_t tokens, at::Device device)
    : index(layer),
      prefix(std::to_string(layer) + "."),
      logit_scale(plan.logit_scale),
      softcap(plan.softcap) {
  const std::vector<double> positions = PositionsOf(plan, tokens);
  if (!plan.inverse_frequency.empty()) {
    const auto pairs = static_cast<int64_t>(plan.inverse_frequency.size());
    cos = at::empty({tokens, 1, pairs}, at::kFloat);
    sin = at::empty_like(cos);
    kernels::FillRotaryAt(plan.inverse_frequency, plan.q_ratio.front(), positions, plan.magnitude,
                          cos.data_ptr<float>(), sin.data_ptr<float>());
    cos = cos.to(device);
    sin = sin.to(device);
  }
  query_scale = QueryScales(config, plan, positions);
  if (query_scale.defined()) query_scale = query_scale.to(device);
  const auto hides = [tokens](int64_t keys) { return keys > 0 && keys < tokens; };
  if (hides(plan.window) || hides(plan.chunk) || plan.softcap != 0 || config.attention_sinks)
    visible = VisibleKeys(plan, tokens).to(device);
}

}  // namespace midscope
