// SPDX-License-Identifier: MIT
// The operations of a decoder block other than matrix products with many rows, on the device of its
// tensors. Two implementations: HighwayOps (Midscope's kernels, on the CPU) and AtenOps (LibTorch's
// operations, on any device). Shapes and dtypes are those of kernels/normalise.h and
// kernels/attention.h; rows of x, q, k, v and out are contiguous, with any distance. Arithmetic is
// float32 for all dtypes. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/compute/block_ops.h"
#include "core/compute/rotary_cache.h"
#include "core/compute/top_tokens.h"
#include "core/compute/weights.h"
#include "core/model/model_config.h"
#include "core/plan/attention_edits.h"
#include "kernels/attention.h"
#include "kernels/normalise.h"
#include "kernels/parallel.h"
#include "kernels/position_awareness.h"

namespace midscope {

// Row j of the keys is k[j] - amount[j] direction: the keys after a channel's change.
struct KeyUpdate {
  at::Tensor amount;     // [rows] float32; undefined: none
  at::Tensor direction;  // [key_value_heads * head_dim] float32
};

// Values of a norm that are written besides its result, each unless undefined.
struct NormKeeps {
  at::Tensor mean;   // [rows] float32; an RMS norm does not write it
  at::Tensor scale;  // [rows] float32
  at::Tensor input;  // [rows, width], contiguous: the rows that are normalised
};

// The effect of a norm on one channel: none without `scale`.
struct NormOfColumn {
  at::Tensor mean;   // [rows] float32, or undefined
  at::Tensor scale;  // [rows] float32, or undefined
  float weight = 1;
  float bias = 0;
};

// A norm of each of `heads` equal parts of a row, without bias.
struct HeadNorm {
  NormKind kind = NormKind::kRms;
  int64_t heads = 1;
  const std::vector<float>& weight;  // [head_dim], for all heads alike, or [heads * head_dim]
  float epsilon = 0;
};

// A factor that is known, or is on the device.
struct ColumnFactor {
  float value = 1;
  at::Tensor on_device;  // [1] float32; undefined: `value`
};

// Recorded work on a device: one launch runs all of it. Its inputs and outputs stay at the same
// addresses.
class RecordedWork {
 public:
  virtual ~RecordedWork() = default;
  virtual void Start() const = 0;
};

// The rotary tables of a layer's heads. Tables are in host memory; `owned` keeps them alive. They
// need not be filled for operations that form tables by themselves.
struct RotaryTables {
  std::vector<std::shared_ptr<const RotaryCache::Table>> owned;
  std::vector<kernels::RotaryView> q;  // [head]; without data: not rotated
  std::vector<kernels::RotaryView> k;  // [head]
  std::vector<float> scale;            // [head]
  std::vector<float> alibi_slopes;     // [head], or empty
  std::vector<float> sinks;            // [head], or empty
  std::vector<float> query_weight;     // [head_dim], or empty
  int64_t window = 0;
  float softcap = 0;
  std::vector<kernels::RotaryView> far_q;  // [head], or empty
  std::vector<kernels::RotaryView> far_k;  // [head], or empty
  int64_t near = 0;                        // kernels::FarPositions' window; 0: all keys are near
  RowEdits edits;
  // [head], or empty: factor of the resulting weights and z (Infini-attention's local part).
  std::vector<float> share;
  kernels::HeadPositions Positions() const {
    return {q,
            k,
            scale,
            alibi_slopes,
            edits.temperature,
            sinks,
            query_weight,
            edits.hidden,
            edits.factors,
            {far_q, far_k, near}};
  }
};

// The kernels' name of it.
kernels::ActivationKind ActivationKindOf(Activation activation);

class LayerOps {
 public:
  virtual ~LayerOps() = default;

  virtual at::Device device() const = 0;
  // False: kernels and hooks can't read the tensors in place: matrix products are
  // WeightMatrix::MultiplyOnDevice, and hooks get copies.
  virtual bool host_memory() const = 0;
  // Records what `work` starts on the device, which is not done before it is started. Null: the
  // device can't, or `work` does what can't be recorded (waits for the device, or copies from or to
  // host memory). `work` is called now, or at every start.
  virtual std::unique_ptr<RecordedWork> Record(const std::function<void()>& /*work*/) const {
    return nullptr;
  }
  // Work that is being recorded reads x, which it has not made: the record keeps it.
  virtual void KeepRecorded(const at::Tensor& /*x*/) const {}
  // Whether rotary tables are formed on the device, where those in host memory are not filled.
  virtual bool forms_tables() const { return false; }
  // Operations that read quantised matrices on the device. Null: they are expanded there.
  virtual const BlockOps* blocks() const { return nullptr; }

  // A few values in a tensor on the device, whose address may come to hold others: that of an
  // earlier call where they are the same, which must not be changed. A tensor that is recorded
  // work's outlives its being found.
  virtual at::Tensor FewOnDevice(const std::vector<float>& values) const = 0;

  // out = norm(x), [rows, width].
  virtual void Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                         const at::Tensor& out, const NormKeeps& keeps) const = 0;
  // residual += update; out = norm(residual).
  virtual void AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                            const Norm& norm, float epsilon, const at::Tensor& out,
                            const NormKeeps& keeps) const = 0;
  // out [rows] float32 = factor times what the norm of rows made of one channel, whose elements
  // before it are `column` [rows], rounded to its dtype. mean and scale: the norm's statistics;
  // weight and bias: the channel's.
  virtual void NormaliseColumn(const at::Tensor& column, const NormOfColumn& norm,
                               const ColumnFactor& factor, const at::Tensor& out) const {
    out.copy_(column);
    if (norm.mean.defined()) out.sub_(norm.mean);
    if (norm.scale.defined()) {
      out.mul_(norm.scale).mul_(norm.weight);
      if (norm.bias != 0) out.add_(norm.bias);
      out.copy_(out.to(column.scalar_type()));
    }
    factor.on_device.defined() ? out.mul_(factor.on_device) : out.mul_(factor.value);
  }
  // out = norm(x), [rows, heads * head_dim]. `out` may be x.
  virtual void NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                              const at::Tensor& out) const = 0;
  virtual void AddBias(const at::Tensor& x, const std::vector<float>& bias) const = 0;
  // residual += update.
  virtual void Add(const at::Tensor& residual, const at::Tensor& update) const = 0;
  // out = activation(gate) * up of x = [gate, up] in one row; not gated: activation(x), and `out`
  // may be x.
  virtual void Activate(Activation activation, bool gated, const at::Tensor& x,
                        const at::Tensor& out) const = 0;
  // out[r, i] = x[r, i] - amount[r] * direction[i]; amount and direction float32. `out` may be x.
  virtual void RankOneUpdate(const at::Tensor& x, const at::Tensor& amount,
                             const at::Tensor& direction, const at::Tensor& out) const = 0;

  // first and second, [rows, width] each, become the halves of from [rows, 2 width].
  virtual void SplitRows(const at::Tensor& from, const at::Tensor& first,
                         const at::Tensor& second) const {
    first.copy_(from.narrow(1, 0, first.size(1)));
    second.copy_(from.narrow(1, first.size(1), second.size(1)));
  }

  // For the shape's query rows q [query_rows, heads * head_dim] over keys and values [>= key_rows,
  // key_value_heads * head_dim], both before rotation: writes z to out [query_rows, heads *
  // head_dim]. Returns false, with `out` incomplete, when `cancel` was set.
  virtual bool Attention(const kernels::AttentionShape& shape, const at::Tensor& q,
                         const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                         const at::Tensor& out, kernels::CancelFlag cancel) const = 0;
  // For few rows: the attention weights, [query_rows, heads, key_rows] float32, on the device; of
  // keys that `update` changes, which are rounded to k's dtype where they are formed before they
  // are read (Updated), and not where they are formed while they are.
  virtual at::Tensor AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                                      const at::Tensor& k, const KeyUpdate& update,
                                      const RotaryTables& tables) const = 0;
  // out = weights v. Weights of keys that are hidden from all rows are not read.
  virtual void WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                              const at::Tensor& v, const at::Tensor& out) const = 0;
  // out = attention of few rows; `weights`: those of AttentionWeights where they are known, else
  // undefined.
  virtual void RowAttention(const kernels::AttentionShape& shape, const at::Tensor& q,
                            const at::Tensor& k, const KeyUpdate& update, const at::Tensor& v,
                            const RotaryTables& tables, const at::Tensor& weights,
                            const at::Tensor& out) const {
    WeightedValues(
        shape, weights.defined() ? weights : AttentionWeights(shape, q, k, update, tables), v, out);
  }
  // The number of keys of each head that reach the threshold, as in kernels::CountAttendedKeys,
  // from weights [1, heads, keys] on the device.
  virtual std::vector<int64_t> CountAttendedKeys(
      const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const = 0;
  // TopTokensOfRows of logits [row, vocabulary], in float32 on the device; for a row with logits
  // that are not finite only the first is returned.
  virtual std::vector<TopToken> TopTokens(const at::Tensor& logits, int64_t k) const;

 protected:
  // The changed keys in a tensor of their own; k itself where there is no change.
  at::Tensor Updated(const at::Tensor& k, const KeyUpdate& update) const {
    if (!update.amount.defined()) return k;
    at::Tensor updated = k.new_empty(k.sizes());
    RankOneUpdate(k, update.amount, update.direction, updated);
    return updated;
  }
};

// LibTorch does not specify which of equal values it takes.
inline std::vector<TopToken> LayerOps::TopTokens(const at::Tensor& logits, int64_t k) const {
  const at::Tensor on_host = logits.cpu();
  const auto* values = on_host.const_data_ptr<float>();
  return TopTokensOfRows(std::span(values, static_cast<size_t>(on_host.numel())), on_host.size(1),
                         k);
}

}  // namespace midscope
