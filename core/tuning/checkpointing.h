// SPDX-License-Identifier: MIT
// Two ways to keep less for the backward pass. Activation checkpointing (arXiv 1604.06174): a part
// of a computation keeps only its input, and is computed again when gradients flow back through it.
// And a sum over rows whose gradients are computed with it, some rows at a time. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace midscope {

using TensorFunction = std::function<at::Tensor(const at::Tensor& x)>;

// Returns function(x). `function` must be deterministic, and `parameters` must contain all tensors
// with gradients that it uses besides x; the gradients of x and `parameters` equal those of the
// plain call. Gradients of these gradients are not supported: the backward pass throws c10::Error.
// Objects that `function` refers to must outlive the result's graph.
at::Tensor Checkpointed(const TensorFunction& function, const at::Tensor& x,
                        const std::vector<at::Tensor>& parameters);

// Returns a value of the rows x [row, ...] from `first` on: a scalar.
using RowsFunction = std::function<at::Tensor(const at::Tensor& x, int64_t first)>;

// Returns the sum of function(rows) over parts of `rows` rows of x, a scalar in float32, so that
// the intermediate results of one part exist at a time. If gradients are enabled, those of x and
// `parameters` (as above) are computed here, and the backward pass scales them.
at::Tensor SumOfParts(const RowsFunction& function, const at::Tensor& x, int64_t rows,
                      const std::vector<at::Tensor>& parameters);

}  // namespace midscope
