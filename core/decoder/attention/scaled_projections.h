// SPDX-License-Identifier: MIT
// Computes queries, keys and values from an input with scaled channels (positional channel
// scaling). Internal to core.
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

// A layer of a sequence whose active rows are already in the trace: inputs of ScaleChannels.
struct ProjectionSource {
  const ModelConfig& config;
  const LayerOps& ops;
  const SequencePass& sequence;
  int64_t layer;
  const LayerWeights& weights;
  const at::Tensor& normalized;  // the projections' input [packed rows, hidden]
  const at::Tensor& projected;   // [packed rows, (heads + 2 key_value_heads) * head_dim]
};

// Queries, keys and values before rotation, computed from the scaled input.
struct ScaledProjections {
  at::Tensor q;          // [requested rows, heads * head_dim]
  at::Tensor k;          // [sequence rows, key_value_heads * head_dim]
  at::Tensor v;          // shape of k; the trace's tensor if values are unchanged
  KeyUpdate key_update;  // pending change of k; k is then the trace's tensor
};

// Returns 1 - s, the factor of the rank-one change, for a channel with factor s.
float AmountOf(const ScaledChannel& scaled);

// k~ = k - (1 - s) x_p W_k[:, p], and likewise q and v: a rank-one change of the projection per
// channel (its bias is unchanged), before norm and clamp. Latent keys (ModelConfig::latent) are
// normed within their projections, which are therefore recomputed from the scaled input.
// `leaves_keys`: if only one channel is scaled, the change of k may be returned as key_update,
// which the caller must apply. In a layer that reads another layer's keys, only q is scaled; k and
// v are not set. `rows` must be active rows. Throws Cancelled.
ScaledProjections ScaleChannels(const ProjectionSource& source, const RowOverride& change,
                                RowRange rows, bool leaves_keys, const kernels::Executor& executor,
                                kernels::CancelFlag cancel);

}  // namespace midscope
