// SPDX-License-Identifier: MIT
// Runs a layer's recurrent mixer (ModelConfig::Mixer: delta rule, state space or convolution). A
// row needs the layer's state before it, so a trace stores a state every kStateRows rows and the
// one after its last row. Runs start at a row with a stored state. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/base/job.h"
#include "core/compute/weights.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"
#include "kernels/parallel.h"

namespace midscope {

// Whether hooks request hook_effective_pattern for rows that the pass changes in this layer. The
// pass must then compute every row.
bool ShowsEffectivePattern(const SequencePass& sequence, int64_t layer);

// Lowers sequence.first_row, in the layers that the trace stores, to a row before which every
// running layer with a mixer has a stored state.
void StartAtStates(const ModelConfig& config, SequencePass& sequence);

struct MixerStep {
  const ModelConfig& config;
  const MixerWeights& weights;
  const kernels::Executor& executor;
  const JobContext& context;
};

// Computes z of the sequence's active rows, [packed rows, MixerSizes::outputs], from `projected`
// [packed rows, outputs of MixerWeights::input]: both in the run's dtype, on any device. The
// arithmetic is float32, in host memory. Stores states in the trace if the pass keeps its rows.
// Throws Cancelled.
void MixRows(const MixerStep& step, const SequencePass& sequence, int64_t layer,
             const at::Tensor& projected, const at::Tensor& z);

}  // namespace midscope
