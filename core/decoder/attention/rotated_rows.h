// SPDX-License-Identifier: MIT
// Queries and keys after rotation, for hooks that read them; the attention kernels do their own
// rotation. Internal to core.
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

// Rotates q of `rows` [rows, heads * head_dim], which may be on any device, by the tables of near
// keys. Returns [rows, heads * head_dim], float32 in host memory.
at::Tensor RotatedQueries(const ModelConfig& config, const RotaryTables& tables, RowRange rows,
                          const at::Tensor& q);

// Rotates k of `rows` [rows, key_value_heads * head_dim]. Returns [rows, heads * head_dim], float32
// in host memory: for each query head, its key as the query at row `query` sees it. Keys far from
// that query (kernels::FarPositions) are also turned by the difference between its near and far
// rotations, so that their product with its RotatedQueries is the logit.
at::Tensor RotatedKeys(const ModelConfig& config, const RotaryTables& tables, int64_t query,
                       RowRange rows, const at::Tensor& k);

// Scales queries by a factor that grows with their position. Internal to core.

// Returns q [rows, heads * head_dim] of these rows, each multiplied by the model's and the plan's
// scale for its position; q itself if all scales are 1.
at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q);

// A scale of queries that grows with the logarithm of their position, so that attention over more
// keys remains equally sharp: Self-Extend's scale_base (public code of arXiv 2401.01325), EABF
// (arXiv 2401.07004), and the scaling of some models themselves (Llama 4's, in ministral3 of
// transformers).
// Internal to core.

// Returns the factor of the query at this position id; 1 below `base`. base > 1.
inline double QueryScale(double position, int64_t base) {
  return std::max(1.0, std::log(position + 1) / std::log(static_cast<double>(base)));
}

// Returns the model's own factor; 1 below the context.
inline double QueryGrowth(double position, const ModelConfig& config) {
  return 1.0 +
         config.query_growth * std::log(1.0 + std::floor(position / config.query_growth_context));
}

}  // namespace midscope
