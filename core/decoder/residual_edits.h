// SPDX-License-Identifier: MIT
// Applies a plan's edits of residual stream and head outputs to a sequence. Internal to core.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/decoder/sequence_pass.h"

namespace midscope {

// Applies the edits of the layer's plan to the sequence's active rows of `residual` [packed rows,
// hidden], the layer's output. Means over the prompt are computed when the layer runs all prompt
// rows, and stored in the trace for runs of later rows.
void EditResidual(SequencePass& sequence, int64_t layer, const at::Tensor& residual);

// Replaces the outputs of heads that the layer's plan ablates, in the sequence's active rows of z
// [packed rows, heads * head_dim]. Sums of head outputs, from which means are computed, are stored
// in the trace for runs of later rows.
void AblateHeads(SequencePass& sequence, int64_t layer, int64_t head_dim, const at::Tensor& z);

}  // namespace midscope
