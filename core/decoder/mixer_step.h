// SPDX-License-Identifier: MIT
// Mixes the rows of a sequence in layers with a mixer, by the model's mixer
// (ModelConfig::Mixer). A row needs the layer's state before it, so a trace stores states: one
// every kStateRows rows, and the one after its last row. Runs start at such a row. Internal to
// core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "core/base/job.h"
#include "core/compute/weights.h"
#include "core/decoder/sequence_pass.h"
#include "core/model/model_config.h"
#include "kernels/parallel.h"

namespace midscope {

// Whether hooks request weights of values for rows that the pass changes in this layer. The pass
// must then compute every row.
bool ShowsEffectivePattern(const SequencePass& sequence, int64_t layer);

// Lowers sequence.first_row, from the trace's first layer on, to a row at which every layer with a
// mixer that runs has a state.
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
