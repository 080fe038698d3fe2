// SPDX-License-Identifier: MIT
// Queries and keys after rotation, for hooks that read them; attention kernels rotate for
// themselves. Internal to core.
#pragma once

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
at::Tensor RotatedKeys(const ModelConfig& config, int64_t layer, const RotaryTables& tables,
                       int64_t query, RowRange rows, const at::Tensor& k);

// Queries that grow with their position (core/plan/query_scale.h). Internal to core.

// q [rows, heads * head_dim] of these rows, each with the model's and the plan's scale of its
// position; q itself where all are 1.
at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q);

}  // namespace midscope
