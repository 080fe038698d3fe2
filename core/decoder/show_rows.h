// SPDX-License-Identifier: MIT
// Passes rows of tensors to hooks in host memory: the tensor itself if it is there, else a copy of
// the requested rows. Hooks that read get the copy once it is finished (shown_copies.h); hooks that
// write get it immediately, and it is copied back. Internal to core.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"

namespace midscope {

// Passes values [rows, width], which begin at absolute row first_row and may have any row stride,
// as [1, pos, width], or if `heads` > 0 as [1, pos, head, width / heads].
void ShowRows(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
              int64_t first_row, kernels::Dtype dtype, const at::Tensor& values, int64_t heads = 0);

// Passes attention weights [query, head, key], float32 and contiguous, of the queries from
// first_row on, as [1, head, query, key]. They must not be overwritten later.
void ShowWeights(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
                 int64_t first_row, const at::Tensor& weights);

// Likewise weights in host memory, whatever the layer's device.
void ShowHostWeights(const SequencePass& sequence, const HookPoint& point, int64_t first_row,
                     const at::Tensor& weights);

// Finds rows whose output of the last layers is not needed. Internal to core.

// Returns the first active row whose layer output is computed: the first active row, but from the
// last layer on that has its own keys, the first row that logits, hooks or the plans' ratios need.
// Rows before it only get keys and values there.
int64_t FirstNeededRow(const ModelConfig& config, const SequencePass& sequence, int64_t layer);

}  // namespace midscope
