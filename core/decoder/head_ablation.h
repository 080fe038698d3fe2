// SPDX-License-Identifier: MIT
// Replaces the outputs of ablated heads. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "core/decoder/sequence_pass.h"

namespace midscope {

// z [packed rows, heads * head_dim]: in the sequence's active rows, outputs of the heads that the
// layer's plan ablates are replaced. Sums for means are kept with the trace, so that later rows go
// on from them.
void AblateHeads(SequencePass& sequence, int64_t layer, int64_t head_dim, const at::Tensor& z);

}  // namespace midscope
