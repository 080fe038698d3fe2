// SPDX-License-Identifier: MIT
// Queries and keys after rotation, for hooks that read them; attention kernels rotate for
// themselves. Internal to core.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/base/row_range.h"
#include "core/compute/layer_ops.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// q of `rows` [rows, heads * head_dim] before rotation, on any device; [rows, heads * head_dim]
// float32 in host memory after it, by the tables of near keys.
at::Tensor RotatedQueries(const ModelConfig& config, const RotaryTables& tables, RowRange rows,
                          const at::Tensor& q);

// k of `rows` [rows, key_value_heads * head_dim] before rotation; [rows, heads * head_dim] float32
// in host memory: for each query head its key as the query at row `query` sees it. Keys that are
// far from it (kernels::FarPositions) are turned by the difference of the query's near and far
// rotation too, so that their product with its RotatedQueries is the logit.
at::Tensor RotatedKeys(const ModelConfig& config, const RotaryTables& tables, int64_t query,
                       RowRange rows, const at::Tensor& k);

// Queries that grow with their position (core/decoder/attention/rotated_rows.h). Internal to core.

// q [rows, heads * head_dim] of these rows, each with the model's and the plan's scale of its
// position; q itself where all are 1.
at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q);

// Queries that grow with the logarithm of their position, so that attention over more keys stays as
// sharp: Self-Extend's scale_base (public code of arXiv 2401.01325), EABF (arXiv 2401.07004), and
// what a model was made with (Llama 4's scaling in ministral3 of transformers).
// Internal to core.

// The factor of the query at this position id; 1 below `base`. base > 1.
inline double QueryScale(double position, int64_t base) {
  return std::max(1.0, std::log(position + 1) / std::log(static_cast<double>(base)));
}

// The model's own; 1 below the context.
inline double QueryGrowth(double position, const ModelConfig& config) {
  return 1.0 +
         config.query_growth * std::log(1.0 + std::floor(position / config.query_growth_context));
}

}  // namespace midscope
