// SPDX-License-Identifier: MIT
// What a residual plan does to the stream of one sequence. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/decoder/sequence_pass.h"

namespace midscope {

// Changes the sequence's active rows of `residual` [packed rows, hidden], which leave the layer.
// Means over the prompt are taken where the layer runs all of its rows, and kept in the trace for
// runs of later ones.
void EditResidual(SequencePass& sequence, int64_t layer, const at::Tensor& residual);

}  // namespace midscope
