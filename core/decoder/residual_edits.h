// SPDX-License-Identifier: MIT
// Edits of a residual plan to the stream of one sequence. Internal to core.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/decoder/sequence_pass.h"

namespace midscope {

// Changes the sequence's active rows of `residual` [packed rows, hidden], which leave the layer.
// Means over the prompt are taken where the layer runs all of its rows, and kept in the trace for
// runs of later ones.
void EditResidual(SequencePass& sequence, int64_t layer, const at::Tensor& residual);

// Replaces the outputs of ablated heads. Internal to core.

// In the sequence's active rows of z [packed rows, heads * head_dim], replaces outputs of heads
// that the layer's plan ablates. Sums for means are stored in the trace, for later rows.
void AblateHeads(SequencePass& sequence, int64_t layer, int64_t head_dim, const at::Tensor& z);

}  // namespace midscope
