// SPDX-License-Identifier: MIT
// Queries that grow with their position (core/plan/query_scale.h). Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/base/row_range.h"
#include "core/compute/layer_ops.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"

namespace midscope {

// q [rows, heads * head_dim] of these rows, each with the model's and the plan's scale of its
// position; q itself where all are 1.
at::Tensor ScaledQueries(const ModelConfig& config, const LayerOps& ops, const AttentionPlan& plan,
                         RowRange rows, const at::Tensor& q);

}  // namespace midscope
