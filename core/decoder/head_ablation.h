// SPDX-License-Identifier: MIT
// Replaces the outputs of ablated heads. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/decoder/sequence_pass.h"

namespace midscope {

// In the sequence's active rows of z [packed rows, heads * head_dim], replaces outputs of heads
// that the layer's plan ablates. Sums for means are stored in the trace, for later rows.
void AblateHeads(SequencePass& sequence, int64_t layer, int64_t head_dim, const at::Tensor& z);

}  // namespace midscope
