// SPDX-License-Identifier: MIT
// One pass of a packed batch through the decoder blocks. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "core/attention_step.h"
#include "core/job.h"
#include "core/sequence_pass.h"
#include "core/weights.h"

namespace midscope {

// Which rows a pass computes: rows from each sequence's active_first on enter at layer
// `tail_layer`; from `full_layer` on all rows are computed, those before entering from the trace's
// residual stream.
struct PassRange {
  int64_t tail_layer = 0;
  int64_t full_layer = 0;
};

class ForwardPass {
 public:
  ForwardPass(const ModelConfig& config, const Weights& weights, kernels::Dtype dtype,
              RotaryCache& rotary, const kernels::Executor& executor, const JobContext& context);

  // Runs the blocks; afterwards the residual stream of all active rows is in residual() [packed
  // rows, hidden].
  void Run(std::vector<SequencePass>& sequences, const PassRange& range);
  const at::Tensor& residual() const { return residual_; }

  // Logits of rows [first, sequence.rows) of a sequence that has been run. [row, vocabulary]
  // float32.
  std::vector<float> Logits(const SequencePass& sequence, int64_t first);

 private:
  void Embed(std::vector<SequencePass>& sequences);
  void EnterFromTrace(std::vector<SequencePass>& sequences, int64_t layer);
  void Pack(std::vector<SequencePass>& sequences);
  void KeepResidual(std::vector<SequencePass>& sequences, int64_t layer);
  void Layer(std::vector<SequencePass>& sequences, int64_t layer);
  void AttentionHalf(std::vector<SequencePass>& sequences, int64_t layer);
  void MlpHalf(std::vector<SequencePass>& sequences, int64_t layer);
  void KeepInverseRms(std::vector<SequencePass>& sequences, int64_t layer,
                      const at::Tensor& inverse_rms);
  // y = x weight^T into `y`, in row chunks so that a cancelled run ends soon.
  void Multiply(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& y);
  // Shows rows of a packed [rows, width] tensor to the hooks; `heads` > 0: as [1, pos, head, width
  // / heads].
  void Show(std::vector<SequencePass>& sequences, HookSite site, int64_t layer,
            const at::Tensor& packed, int64_t heads = 0, int64_t packed_first = 0);
  bool Wanted(const std::vector<SequencePass>& sequences, HookSite site, int64_t layer) const;
  at::Tensor Empty(int64_t rows, int64_t width) const;

  const ModelConfig& config_;
  const Weights& weights_;
  kernels::Dtype dtype_;
  const kernels::Executor& executor_;
  const JobContext& context_;
  AttentionStep attention_;
  int64_t packed_rows_ = 0;
  at::Tensor residual_;    // [packed rows, hidden]
  at::Tensor normalized_;  // [packed rows, hidden]
};

}  // namespace midscope
