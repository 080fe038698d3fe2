// SPDX-License-Identifier: MIT
// Applies a linear projection on the device of its layer. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"

namespace midscope {

// Computes y = x weight^T + bias. x [rows, inputs] and y [rows, outputs] are in the run's dtype, on
// the device of `ops`. Returns early when cancelled, or throws Cancelled.
void Project(const LayerOps& ops, const at::Tensor& x, const Projection& projection,
             const at::Tensor& y, const ProductContext& context);

// Returns x weight^T + bias in a new tensor, which is faster than Project (WeightMatrix::Product).
at::Tensor Projected(const LayerOps& ops, const at::Tensor& x, const Projection& projection,
                     const ProductContext& context);

// Computes y = x weight^T + bias with y in float32: sums are not rounded to the run's dtype.
void ProjectToFloat(const LayerOps& ops, const at::Tensor& x, const Projection& projection,
                    const at::Tensor& y, const ProductContext& context);

}  // namespace midscope
