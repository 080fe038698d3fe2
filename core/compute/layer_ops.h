// SPDX-License-Identifier: MIT
// The operations of a decoder block other than matrix products with many rows, on the device of its
// tensors. There are two implementations: HighwayOps (Midscope's kernels, on the CPU) and AtenOps
// (LibTorch's operations, on any device). Shapes and dtypes are those of kernels/normalise.h and
// kernels/attention.h; rows of x, q, k, v and out are contiguous, with any row stride. Arithmetic
// is float32 for all dtypes. Internal to core.
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

// The rank-one change of keys by a scaled channel: row j becomes k[j] - amount[j] * direction.
struct KeyUpdate {
  at::Tensor amount;     // [rows] float32; undefined: no change
  at::Tensor direction;  // [key_value_heads * head_dim] float32
};

// Values that a norm writes in addition to its result. An undefined tensor is not written.
struct NormKeeps {
  at::Tensor mean;   // [rows] float32; not written by an RMS norm
  at::Tensor scale;  // [rows] float32
  at::Tensor input;  // [rows, width], contiguous: the norm's input rows
};

// A norm's statistics and parameters for one channel. Without `scale`, there is no norm.
struct NormOfColumn {
  at::Tensor mean;   // [rows] float32, or undefined
  at::Tensor scale;  // [rows] float32, or undefined
  float weight = 1;
  float bias = 0;
};

// A norm of each head's part of a row (`heads` equal parts), without bias.
struct HeadNorm {
  NormKind kind = NormKind::kRms;
  int64_t heads = 1;
  const std::vector<float>& weight;  // [head_dim], shared by all heads, or [heads * head_dim]
  float epsilon = 0;
};

// A factor, either as a host value or as a tensor on the device.
struct ColumnFactor {
  float value = 1;
  at::Tensor on_device;  // [1] float32; undefined: use `value`
};

// Recorded work on a device: one launch runs all of it. The addresses of its inputs and outputs are
// fixed.
class RecordedWork {
 public:
  virtual ~RecordedWork() = default;
  virtual void Start() const = 0;
};

// The rotary tables and other per-head inputs of a layer's attention. Tables are in host memory;
// `owned` keeps them alive. They need not be filled for operations that compute tables themselves.
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
  int64_t near = 0;                        // window of kernels::FarPositions; 0: all keys are near
  RowEdits edits;
  // [head], or empty: factor of attention weights and z (Infini-attention: 1 - gate).
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

// Returns the kernels' name of the activation.
kernels::ActivationKind ActivationKindOf(Activation activation);

class LayerOps {
 public:
  virtual ~LayerOps() = default;

  virtual at::Device device() const = 0;
  // Whether kernels and hooks can read the tensors in place. If false, matrix products use
  // WeightMatrix::MultiplyOnDevice, and hooks get copies.
  virtual bool host_memory() const = 0;
  // Records the operations that `work` launches on the device; they run only when the record is
  // launched. Returns null if the device cannot record or `work` does something that cannot be
  // recorded (waits for the device, or copies from or to host memory). Implementations call `work`
  // either now or at every launch.
  virtual std::unique_ptr<RecordedWork> Record(const std::function<void()>& /*work*/) const {
    return nullptr;
  }
  // Must be called if recorded work reads an x that it did not create: keeps x alive.
  virtual void KeepRecorded(const at::Tensor& /*x*/) const {}
  // Whether rotary tables are computed on the device. Tables in host memory are then not filled.
  virtual bool forms_tables() const { return false; }
  // Returns the operations that read quantised matrices on the device. If null, matrices are
  // expanded there.
  virtual const BlockOps* blocks() const { return nullptr; }

  // Returns a tensor on the device with a few values. Equal values give the tensor of an earlier
  // call, which must not be changed; unlike in OnDevice, the array at `values` may change later. A
  // tensor that recorded work uses stays alive after it has left the cache.
  virtual at::Tensor FewOnDevice(const std::vector<float>& values) const = 0;

  // Computes out = norm(x), [rows, width].
  virtual void Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                         const at::Tensor& out, const NormKeeps& keeps) const = 0;
  // Computes residual += update; out = norm(residual).
  virtual void AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                            const Norm& norm, float epsilon, const at::Tensor& out,
                            const NormKeeps& keeps) const = 0;
  // Sets out [rows] float32 to factor times one channel's result of the norm, rounded to the dtype
  // of `column` [rows], the channel's input. `norm` contains the norm's statistics per row and the
  // channel's weight and bias.
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
  // Computes out = norm(x), [rows, heads * head_dim]. `out` may be x.
  virtual void NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                              const at::Tensor& out) const = 0;
  virtual void AddBias(const at::Tensor& x, const std::vector<float>& bias) const = 0;
  // Computes residual += update.
  virtual void Add(const at::Tensor& residual, const at::Tensor& update) const = 0;
  // Computes out = activation(gate) * up, where a row of x is [gate, up]; if not gated,
  // activation(x), and `out` may be x.
  virtual void Activate(Activation activation, bool gated, const at::Tensor& x,
                        const at::Tensor& out) const = 0;
  // Computes out[r, i] = x[r, i] - amount[r] * direction[i]; amount and direction are float32.
  // `out` may be x.
  virtual void RankOneUpdate(const at::Tensor& x, const at::Tensor& amount,
                             const at::Tensor& direction, const at::Tensor& out) const = 0;

  // Copies the halves of from [rows, 2 width] to first and second, [rows, width] each.
  virtual void SplitRows(const at::Tensor& from, const at::Tensor& first,
                         const at::Tensor& second) const {
    first.copy_(from.narrow(1, 0, first.size(1)));
    second.copy_(from.narrow(1, first.size(1), second.size(1)));
  }

  // Computes attention of the shape's query rows q [query_rows, heads * head_dim] over keys and
  // values [>= key_rows, key_value_heads * head_dim], q and k before rotation, and writes z to out
  // [query_rows, heads * head_dim]. Returns false, with `out` incomplete, if `cancel` was set.
  virtual bool Attention(const kernels::AttentionShape& shape, const at::Tensor& q,
                         const at::Tensor& k, const at::Tensor& v, const RotaryTables& tables,
                         const at::Tensor& out, kernels::CancelFlag cancel) const = 0;
  // For few rows: returns the attention weights [query_rows, heads, key_rows], float32 on the
  // device, over keys to which `update` is applied. Updated keys are rounded to k's dtype if they
  // are computed in advance (Updated), but not if they are computed while keys are read.
  virtual at::Tensor AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                                      const at::Tensor& k, const KeyUpdate& update,
                                      const RotaryTables& tables) const = 0;
  // Computes out = weights v. Weights of keys that are hidden from all rows are not read.
  virtual void WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                              const at::Tensor& v, const at::Tensor& out) const = 0;
  // Computes attention of few rows and writes z to `out`. `weights`: the result of AttentionWeights
  // if the caller has it, else undefined.
  virtual void RowAttention(const kernels::AttentionShape& shape, const at::Tensor& q,
                            const at::Tensor& k, const KeyUpdate& update, const at::Tensor& v,
                            const RotaryTables& tables, const at::Tensor& weights,
                            const at::Tensor& out) const {
    WeightedValues(
        shape, weights.defined() ? weights : AttentionWeights(shape, q, k, update, tables), v, out);
  }
  // Returns [head]: the number of keys whose weight reaches the threshold
  // (kernels::CountAttendedKeys). weights [1, heads, keys] are on the device.
  virtual std::vector<int64_t> CountAttendedKeys(
      const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const = 0;
  // Returns the k most likely tokens of each row, [row, k], as TopTokensOfRows does. logits [row,
  // vocabulary] float32 on the device. A row with a logit that is not finite has k copies of the
  // first such logit.
  virtual std::vector<TopToken> TopTokens(const at::Tensor& logits, int64_t k) const;

 protected:
  // Returns the keys after `update`, in a new tensor; k itself if `update` is empty.
  at::Tensor Updated(const at::Tensor& k, const KeyUpdate& update) const {
    if (!update.amount.defined()) return k;
    at::Tensor updated = k.new_empty(k.sizes());
    RankOneUpdate(k, update.amount, update.direction, updated);
    return updated;
  }
};

// Selects on the host, because LibTorch's topk does not specify the order of equal values.
inline std::vector<TopToken> LayerOps::TopTokens(const at::Tensor& logits, int64_t k) const {
  const at::Tensor on_host = logits.cpu();
  const auto* values = on_host.const_data_ptr<float>();
  return TopTokensOfRows(std::span(values, static_cast<size_t>(on_host.numel())), on_host.size(1),
                         k);
}

}  // namespace midscope
