// SPDX-License-Identifier: MIT
// One pass of a packed batch through the decoder blocks. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <vector>

#include "core/base/job.h"
#include "core/compute/layer_devices.h"
#include "core/compute/top_tokens.h"
#include "core/compute/weights.h"
#include "core/decoder/attention/attention_step.h"
#include "core/decoder/sequence_pass.h"
#include "core/decoder/show_rows.h"
#include "core/decoder/trace_storage.h"

namespace midscope {

// The model and the resources that passes share. Every layer's weights and trace must be on the
// layer's device; `executor` runs the layers in host memory.
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

  // Runs the decoder blocks for each sequence's rows from first_row on. The input is the tokens if
  // the pass begins in layer 0, else the trace's residual stream. Afterwards residual() [packed
  // rows, hidden] holds the residual stream of all active rows.
  void Run(std::vector<SequencePass>& sequences);
  const at::Tensor& residual() const { return residual_; }
  // Returns the layer that is being computed; after Run, the layer whose device also computes the
  // logits.
  int64_t layer() const { return layer_; }

  // Returns logits [row, vocabulary] float32 of rows [first, sequence.rows) of a sequence that has
  // been run.
  std::vector<float> Logits(const SequencePass& sequence, int64_t first);
  // The two steps of Logits on a device: LogitsFrom returns [row, vocabulary] float32 there, for up
  // to kLogitRows rows; the second function finishes them on the host.
  static constexpr int64_t kLogitRows = 64;
  at::Tensor LogitsOnDevice(const SequencePass& sequence, int64_t first);
  std::vector<float> LogitsFrom(const at::Tensor& on_device) const;
  // Returns [row, k]: the k most likely tokens of rows [first, sequence.rows)
  // (LayerOps::TopTokens). The logits stay on the device.
  std::vector<TopToken> Likeliest(const SequencePass& sequence, int64_t first, int64_t k);
  // Returns [sequence][row, vocabulary]: the logits of every sequence from its first requested row
  // on, computed from residual(). Hooks are not called. All sequences are computed together, so
  // that the output matrix is read once.
  std::vector<std::vector<float>> LogitsTogether(const std::vector<SequencePass>& sequences);
  // Returns logits [row, vocabulary] of rows of the residual stream [row, hidden]. Needs no run.
  std::vector<float> Unembed(std::span<const float> residual);

 private:
  void Embed(std::vector<SequencePass>& sequences);
  void AddPositions(const std::vector<SequencePass>& sequences);
  void EnterFromTrace(std::vector<SequencePass>& sequences, int64_t layer);
  // Writes the active tokens' rows of `table`, times `scale`, to `out`; both are in host memory.
  void Gather(const std::vector<SequencePass>& sequences, const WeightMatrix& table, double scale,
              const at::Tensor& out) const;
  // Computes layer_inputs_ from the tokens, if the model has per-layer embeddings.
  void MakeLayerInputs(const std::vector<SequencePass>& sequences);
  // Adds the layer's own embedding to rows of the residual stream, from active row `first` on.
  void AddLayerInput(std::vector<SequencePass>& sequences, int64_t layer, int64_t first,
                     const at::Tensor& stream);
  // Sets the active rows to the rows that the layer computes, if they differ from the previous
  // layer's.
  void ChangeRows(std::vector<SequencePass>& sequences, int64_t layer);
  // Selects the layer's operations and moves the residual stream to its device.
  void EnterDevice(int64_t layer);
  void Pack(std::vector<SequencePass>& sequences, at::Device device);
  // Stores the layer's input, the active rows of the residual stream, in the traces.
  void KeepResidual(std::vector<SequencePass>& sequences, int64_t layer);
  void Layer(std::vector<SequencePass>& sequences, int64_t layer);
  // Runs the first half of a layer, which mixes rows: attention, a mixer or both.
  void MixingHalf(std::vector<SequencePass>& sequences, int64_t layer);
  // Return z of the active rows, before the output projection, computed from normalized_: [packed
  // rows, heads * head_dim] of attention, [packed rows, MixerSizes::outputs] of the mixer.
  at::Tensor AttentionZ(std::vector<SequencePass>& sequences, int64_t layer);
  at::Tensor MixerZ(std::vector<SequencePass>& sequences, int64_t layer);
  // Drops active rows, rows of the residual stream and rows of each z [packed rows, width] before
  // first_needed_row. Undefined tensors stay undefined.
  void DropUnneededRows(std::vector<SequencePass>& sequences,
                        std::initializer_list<at::Tensor*> all_z);
  // Computes normalized_, the input of the projections of attention and mixer.
  void EnterMixing(std::vector<SequencePass>& sequences, int64_t layer);
  // Applies output norm and hooks to the update of attention and mixer; then calls EnterMlp.
  void LeaveMixing(std::vector<SequencePass>& sequences, int64_t layer, const at::Tensor& update);
  // SkipMixing and SkipMlp replace a half that the layer does not have: hooks get zeros as its
  // output.
  void SkipMixing(std::vector<SequencePass>& sequences, int64_t layer);
  void SkipMlp(std::vector<SequencePass>& sequences, int64_t layer, const at::Tensor& update);
  // Adds the update of attention and mixer to the stream and computes normalized_, the MLP's input.
  void EnterMlp(std::vector<SequencePass>& sequences, int64_t layer, const at::Tensor& update);
  void MlpHalf(std::vector<SequencePass>& sequences, int64_t layer);
  at::Tensor ProjectQueryKeyValue(std::vector<SequencePass>& sequences, int64_t layer);
  // Returns the output of the layer's MLP, or of its experts, for rows [first, first + rows) of
  // normalized_: [rows, hidden].
  at::Tensor Mlp(std::vector<SequencePass>& sequences, int64_t layer, int64_t first, int64_t rows);
  at::Tensor Experts(std::vector<SequencePass>& sequences, int64_t layer, int64_t first,
                     int64_t rows);
  // Returns the tensor [rows] to which the layer's input norm writes one of its statistics: a
  // tensor of the trace if there is a single sequence, else a temporary one from which KeepNormRows
  // copies; undefined if no trace stores the statistic.
  at::Tensor NormRows(const std::vector<SequencePass>& sequences,
                      std::vector<at::Tensor> Trace::Storage::*where, int64_t layer) const;
  void KeepNormRows(std::vector<SequencePass>& sequences, const at::Tensor& values,
                    std::vector<at::Tensor> Trace::Storage::*where, int64_t layer);
  // Returns the tensors to which the layer's input norm writes: tensors of the trace if there is a
  // single sequence, else temporary ones for KeepNormRows. If `input` is undefined, the caller must
  // call KeepResidual.
  NormKeeps KeepsOfNorm(const std::vector<SequencePass>& sequences, int64_t layer) const;
  // Whether the MLP's update can be added to the stream together with the next layer's norm,
  // because no hook or edit needs the residual stream in between.
  bool AddsWithNextNorm(const std::vector<SequencePass>& sequences, int64_t layer) const;
  // Computes out = norm(x), [rows, hidden].
  void Normalise(const at::Tensor& x, const Norm& norm, const at::Tensor& out,
                 const NormKeeps& keeps = {});
  // Computes residual += update; out = norm(residual).
  void AddNormalise(const at::Tensor& residual, const at::Tensor& update, const Norm& norm,
                    const at::Tensor& out, const NormKeeps& keeps);
  at::Tensor Projected(const at::Tensor& x, const Projection& projection) const;
  // Passes rows of `packed` [rows, width], in the run's dtype or float32, to the hooks, as [1, pos,
  // width] or, if `heads` > 0, as [1, pos, head, width / heads].
  void Show(std::vector<SequencePass>& sequences, HookSite site, int64_t layer,
            const at::Tensor& packed, int64_t heads = 0, int64_t packed_first = 0);
  // Returns rows [first, sequence.rows) after the final norm, [row, hidden]; hooks get them.
  at::Tensor FinalNormalised(const SequencePass& sequence, int64_t first);
  // Calls take(first row, logits [row, vocabulary] float32 on the last device) for a few rows of
  // normalized at a time; the logits are without bias, scale and soft cap.
  void PartsOfLogits(const at::Tensor& normalized,
                     const std::function<void(int64_t first, const at::Tensor& part)>& take);
  // Returns logits of normalised rows [row, hidden], by dot products in float32.
  std::vector<float> Output(const at::Tensor& normalized);
  // OutputOfMany is Output for many rows, by one matrix product if that gives float32.
  void FinalNorm(const at::Tensor& residual, const at::Tensor& out);
  std::vector<float> OutputOfMany(const at::Tensor& normalized);
  // Applies the output's bias and the soft cap, if the model has them.
  void FinishLogits(std::vector<float>& logits) const;
  bool Wanted(const std::vector<SequencePass>& sequences, HookSite site, int64_t layer) const;
  // Returns an uninitialised tensor in the run's dtype on the layer's device.
  at::Tensor Empty(int64_t rows, int64_t width) const;

  const ModelConfig& config_;
  const Weights& weights_;
  const LayerDevices& devices_;
  const LayerOps* ops_;  // operations of the running layer
  int64_t layer_ = 0;
  kernels::Dtype dtype_;
  const kernels::Executor& executor_;
  const JobContext& context_;
  AttentionStep attention_;
  ShownCopies copies_;
  int64_t packed_rows_ = 0;
  at::Tensor residual_;    // [packed rows, hidden]
  at::Tensor normalized_;  // [packed rows, hidden]
  at::Tensor pending_;     // an update not yet added to residual_, or undefined
  // [packed rows, layers * layer_input_width], or undefined.
  at::Tensor layer_inputs_;
};

}  // namespace midscope
