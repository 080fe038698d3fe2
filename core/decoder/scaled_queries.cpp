// SPDX-License-Identifier: MIT
#include "core/decoder/scaled_queries.h"

#include <ATen/ATen.h>

#include <vector>

#include "core/plan/query_scale.h"

namespace midscope {

at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q) {
  const bool given = plan.position_ids.given();
  const bool by_row = config.query_growth_unrotated;
  const int64_t offset = by_row ? 1 : 0;
  const bool grows =
      config.query_growth > 0 && (!by_row || plan.inverse_frequency.empty()) &&
      ((given && !by_row) || static_cast<double>(rows.last + offset) > config.query_growth_context);
  const bool scales_by_plan = plan.log_scale_base > 0 && (given || rows.last > plan.log_scale_base);
  if (!grows && !scales_by_plan) return q;
  std::vector<float> scales;
  scales.reserve(static_cast<size_t>(rows.last - rows.first));
  for (int64_t row = rows.first; row < rows.last; ++row) {
    const double position = plan.position_ids.At(row);
    const double grown = by_row ? static_cast<double>(row + offset) : position;
    const double own = grows ? QueryGrowth(grown, config) : 1.0;
    const double by_plan = scales_by_plan ? QueryScale(position, plan.log_scale_base) : 1.0;
    scales.push_back(static_cast<float>(own * by_plan));
  }
  return (q.to(at::kFloat) * ops.FewOnDevice(scales).unsqueeze(1)).to(q.scalar_type());
}

}  // namespace midscope
