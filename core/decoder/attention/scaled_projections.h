// SPDX-License-Identifier: MIT
// Queries, keys and values from an input with scaled channels (positional channel scaling).
// Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/compute/layer_ops.h"
#include "core/compute/weights.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"
#include "core/plan/attention_plan.h"
#include "kernels/parallel.h"

namespace midscope {

// One layer of one sequence; its active rows are in the trace already.
struct ProjectionSource {
  const ModelConfig& config;
  const LayerOps& ops;
  const SequencePass& sequence;
  int64_t layer;
  const LayerWeights& weights;
  const at::Tensor& normalized;  // the projections' input [packed rows, hidden]
  const at::Tensor& projected;   // [packed rows, (heads + 2 key_value_heads) * head_dim]
};

// Before rotation.
struct ScaledProjections {
  at::Tensor q;          // [requested rows, heads * head_dim]
  at::Tensor k;          // [sequence rows, key_value_heads * head_dim]
  at::Tensor v;          // the same shape; the trace's own where no channel changes values
  KeyUpdate key_update;  // of k, which is the trace's own then
};

// 1 - s of a channel, as it is multiplied by.
float AmountOf(const ScaledChannel& scaled);

// k~ = k - (1 - s) x_p W_k[:, p], and likewise q and v: a rank-one change of the projection per
// channel (its bias is unchanged), before norm and clamp. Latent keys (ModelConfig::latent) are
// normed within their projections: these are computed anew from the scaled input. `leaves_keys`:
// the change of one channel may be left to whoever reads the keys. `rows` must be among the active
// ones. Throws Cancelled.
ScaledProjections ScaleChannels(const ProjectionSource& source, const RowOverride& change,
                                RowRange rows, bool leaves_keys, const kernels::Executor& executor,
                                kernels::CancelFlag cancel);

}  // namespace midscope
