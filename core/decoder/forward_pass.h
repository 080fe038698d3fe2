// SPDX-License-Identifier: MIT
// One pass of a packed batch through the decoder blocks. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "core/compute/layer_devices.h"
#include "core/compute/top_tokens.h"
#include "core/compute/weights.h"
#include "core/decoder/attention/attention_step.h"
#include "core/decoder/sequence_pass.h"
#include "core/decoder/shown_copies.h"
#include "core/decoder/trace_storage.h"

namespace midscope {

// The shared parts of passes. Every layer's weights and trace must be on its device; `executor` is
// for those in host memory.
struct PassParts {
  const ModelConfig& config;
  const Weights& weights;
  const LayerDevices& devices;
  kernels::Dtype dtype;
  RotaryCache& rotary;
  const kernels::Executor& executor;
};

class ForwardPass {
 public:
  ForwardPass(const PassParts& parts, const JobContext& context);

  // Runs the blocks for each sequence's rows from first_row on, whose inputs are tokens in layer 0
  // and the trace's residual stream elsewhere; afterwards the residual stream of all active rows is
  // in residual() [packed rows, hidden].
  void Run(std::vector<SequencePass>& sequences);
  const at::Tensor& residual() const { return residual_; }
  // The layer whose device computes; after Run, of the logits too.
  int64_t layer() const { return layer_; }

  // Logits of rows [first, sequence.rows) of a sequence that has been run. [row, vocabulary]
  // float32.
  std::vector<float> Logits(const SequencePass& sequence, int64_t first);
  // The two halves of it where logits are computed on a device and not in host memory: [row,
  // vocabulary] float32 there, of up to kLogitRows rows, and what becomes of them.
  static constexpr int64_t kLogitRows = 64;
  at::Tensor LogitsOnDevice(const SequencePass& sequence, int64_t first);
  std::vector<float> LogitsFrom(const at::Tensor& on_device) const;
  // The k likeliest tokens of those rows by their logits, which stay on the device: as
  // LayerOps::TopTokens. [row, k]
  std::vector<TopToken> Likeliest(const SequencePass& sequence, int64_t first, int64_t k);
  // Logits of every sequence, from the first row that it requests, of which `residual` holds the
  // active ones; without hooks. All together, so that the output's weights are read once.
  // [sequence][row, vocabulary]
  std::vector<std::vector<float>> LogitsTogether(const std::vector<SequencePass>& sequences);
  // Logits of any rows of the residual stream [row, hidden]; nothing need have been run. [row,
  // vocabulary]
  std::vector<float> Unembed(std::span<const float> residual);

 private:
  void Embed(std::vector<SequencePass>& sequences);
  void AddPositions(const std::vector<SequencePass>& sequences);
  void EnterFromTrace(std::vector<SequencePass>& sequences, int64_t layer);
  // Changes the active rows to those of the layer, where they differ from the one before.
  void ChangeRows(std::vector<SequencePass>& sequences, int64_t layer);
  // Selects the layer's operations and moves the residual stream to its device.
  void EnterDevice(int64_t layer);
  void Pack(std::vector<SequencePass>& sequences, at::Device device);
  // Stores those active rows in the trace that the layer computes as well.
  void KeepResidual(std::vector<SequencePass>& sequences, int64_t layer);
  void Layer(std::vector<SequencePass>& sequences, int64_t layer);
  void AttentionHalf(std::vector<SequencePass>& sequences, int64_t layer);
  // Active rows, the residual stream and z [packed rows, heads * head_dim] from first_needed_row
  // on.
  void DropUnneededRows(std::vector<SequencePass>& sequences, at::Tensor& z);
  // Computes normalized_, the input of the attention's projections.
  void EnterAttention(std::vector<SequencePass>& sequences, int64_t layer);
  // Adds the attention's update to the stream and computes normalized_, the MLP's input.
  void EnterMlp(std::vector<SequencePass>& sequences, int64_t layer, const at::Tensor& update);
  void MlpHalf(std::vector<SequencePass>& sequences, int64_t layer);
  at::Tensor ProjectQueryKeyValue(std::vector<SequencePass>& sequences, int64_t layer);
  // The layer's MLP, or its experts, of rows [first, first + rows) of normalized_: [rows, hidden].
  at::Tensor Mlp(std::vector<SequencePass>& sequences, int64_t layer, int64_t first, int64_t rows);
  at::Tensor Experts(std::vector<SequencePass>& sequences, int64_t layer, int64_t first,
                     int64_t rows);
  // Where the layer's input norm writes one of its statistics, [rows]: the trace of a single
  // sequence, or a tensor from which KeepNormRows copies; undefined where no trace has them.
  at::Tensor NormRows(const std::vector<SequencePass>& sequences,
                      std::vector<at::Tensor> Trace::Storage::*where, int64_t layer) const;
  void KeepNormRows(std::vector<SequencePass>& sequences, const at::Tensor& values,
                    std::vector<at::Tensor> Trace::Storage::*where, int64_t layer);
  // The values that the layer's input norm writes for its rows: to the trace of a single sequence,
  // or statistics for KeepNormRows; without `input`, KeepResidual is needed.
  NormKeeps KeepsOfNorm(const std::vector<SequencePass>& sequences, int64_t layer) const;
  // Whether the MLP's update can be added to the stream where the next layer's norm reads it: the
  // stream in between is not requested.
  bool AddsWithNextNorm(const std::vector<SequencePass>& sequences, int64_t layer) const;
  // out = norm(x), [rows, hidden].
  void Normalise(const at::Tensor& x, const Norm& norm, const at::Tensor& out,
                 const NormKeeps& keeps = {});
  // residual += update; out = norm(residual).
  void AddNormalise(const at::Tensor& residual, const at::Tensor& update, const Norm& norm,
                    const at::Tensor& out, const NormKeeps& keeps);
  at::Tensor Projected(const at::Tensor& x, const Projection& projection) const;
  void ScaleUpdate(const at::Tensor& update) const;
  // Shows rows of a packed [rows, width] tensor, of the run's dtype or float32, to the hooks;
  // `heads` > 0: as [1, pos, head, width / heads].
  void Show(std::vector<SequencePass>& sequences, HookSite site, int64_t layer,
            const at::Tensor& packed, int64_t heads = 0, int64_t packed_first = 0);
  // Rows [first, sequence.rows) after the final norm, which hooks are shown. [row, hidden]
  at::Tensor FinalNormalised(const SequencePass& sequence, int64_t first);
  // Calls take(first row, logits [row, vocabulary] float32 on the last device) for a few rows of
  // normalized at a time; without bias, scale and soft cap.
  void PartsOfLogits(const at::Tensor& normalized,
                     const std::function<void(int64_t first, const at::Tensor& part)>& take);
  // Logits of normalised rows [row, hidden], by dot products in float32.
  std::vector<float> Output(const at::Tensor& normalized);
  // OutputOfMany: as Output, by one product where that gives float32.
  void FinalNorm(const at::Tensor& residual, const at::Tensor& out);
  std::vector<float> OutputOfMany(const at::Tensor& normalized);
  // The output's bias and the soft cap, where the model has them.
  void FinishLogits(std::vector<float>& logits) const;
  bool Wanted(const std::vector<SequencePass>& sequences, HookSite site, int64_t layer) const;
  // On the device of the layer.
  at::Tensor Empty(int64_t rows, int64_t width) const;

  const ModelConfig& config_;
  const Weights& weights_;
  const LayerDevices& devices_;
  const LayerOps* ops_;  // of the layer that runs
  int64_t layer_ = 0;
  kernels::Dtype dtype_;
  const kernels::Executor& executor_;
  const JobContext& context_;
  AttentionStep attention_;
  ShownCopies copies_;
  int64_t packed_rows_ = 0;
  at::Tensor residual_;    // [packed rows, hidden]
  at::Tensor normalized_;  // [packed rows, hidden]
  at::Tensor pending_;     // an update that residual_ lacks, or undefined
};

}  // namespace midscope
