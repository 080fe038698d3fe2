// SPDX-License-Identifier: MIT
// The recurrences of kernels/delta_rule.h in tensor operations that have gradients. Internal to
// core.
#pragma once

#include <ATen/core/Tensor.h>

namespace midscope {

// Returns [head, token, value_dim] for queries and keys [head, token, key_dim], values [head,
// token, value_dim], and logarithms of decays and rates, both [head, token]; all float32. Undefined
// rates: a state space. Tokens are taken 64 at a time (arXiv 2406.06484, section 3.2): time and
// memory grow with their number alone.
at::Tensor ChunkedDeltaRule(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                            const at::Tensor& log_decay, const at::Tensor& rate);

}  // namespace midscope
