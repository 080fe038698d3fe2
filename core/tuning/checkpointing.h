// SPDX-License-Identifier: MIT
// Activation checkpointing (arXiv 1604.06174): a part of a computation keeps only its input, and is
// computed again when gradients flow back through it. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

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

}  // namespace midscope
