// SPDX-License-Identifier: MIT
// Shows rows of tensors to hooks, in host memory: the tensor itself where it is there, else a copy
// of the requested rows. Hooks that read get the copy when it is made (shown_copies.h), those that
// write at once, and it is copied back. Internal to core.
#pragma once

#include <cstdint>

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"

namespace midscope {

// values [rows, width] from absolute row first_row on, with any distance of rows. As [1, pos,
// width], or with `heads` > 0 as [1, pos, head, width / heads].
void ShowRows(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
              int64_t first_row, kernels::Dtype dtype, const at::Tensor& values, int64_t heads = 0);

// Attention weights [query, head, key] float32, contiguous, of the queries from first_row on; as
// [1, head, query, key]. Nothing may write to them later.
void ShowWeights(const LayerOps& ops, const SequencePass& sequence, const HookPoint& point,
                 int64_t first_row, const at::Tensor& weights);

// Rows whose last-layer output is not requested. Internal to core.

// The first active row whose output of the layer is computed: the first one, but in the last layer
// the first that logits, hooks or the plan's ratios need. Rows before it have keys and values there
// alone.
int64_t FirstNeededRow(const ModelConfig& config, const SequencePass& sequence, int64_t layer);

}  // namespace midscope
