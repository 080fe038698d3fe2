// SPDX-License-Identifier: MIT
// A decoder block's operations by LibTorch alone, on the device of the tensors. Internal to core.
//
// Norms, softmax and sums are float32; attention rotates and multiplies in float32 even if tensors
// are bfloat16 (Midscope's CPU kernels round to bfloat16 there). Attention is computed in blocks of
// query rows and key-value heads, so that no array of tokens x tokens is made.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "core/compute/layer_ops.h"

namespace midscope {

// Copies on a device of values that are requested repeatedly. Internal to core.

// A cache of the device copies of the latest `most` arrays, keyed by their contents.
template <class T>
class KeptCopies {
 public:
  explicit KeptCopies(size_t most) : most_(most) {}

  // Returns the cached copy of `values`, or else copy(values), which it caches.
  template <class Copy>
  const at::Tensor& Of(const std::vector<T>& values, const Copy& copy) {
    auto found = std::find_if(kept_.begin(), kept_.end(),
                              [&](const auto& kept) { return kept.first == values; });
    if (found == kept_.end()) {
      at::Tensor made = copy(values);
      if (kept_.size() == most_) kept_.pop_back();
      kept_.emplace_back(values, std::move(made));
      found = kept_.end() - 1;
    }
    std::rotate(kept_.begin(), found, found + 1);
    return kept_.front().second;
  }

 private:
  size_t most_;
  std::vector<std::pair<std::vector<T>, at::Tensor>> kept_;  // most recently used first
};

// Returns the activation of x, in x's dtype; differentiable. Throws std::logic_error for the
// activations that have kernels of their own (xielu.h, clamped_swiglu.h).
at::Tensor ActivatedByAten(Activation activation, const at::Tensor& x);

// Computes y = x weight^T for tensors on one device. y may be float32 if x and weight are bfloat16;
// sums are then not rounded.
void MultiplyByAten(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& y);

// Implements LayerOps::NormaliseHeads, with the norm's weights on x's device.
void NormaliseHeadsByAten(const at::Tensor& x, const HeadNorm& norm, const at::Tensor& weight,
                          const at::Tensor& out);

// Memory limits of one block of attention; a block has at least one query row and one key-value
// head. Up to three copies of the logits exist during softmax.
struct AttentionLimits {
  int64_t logit_floats = int64_t{16} << 20;
  int64_t query_rows = 512;
  int64_t key_floats = int64_t{64} << 20;  // for rotated keys and values together
  // Limit on the bytes of rotary tables cached on the device (one table per head and length). If it
  // is exceeded, all are dropped.
  int64_t table_bytes = int64_t{256} << 20;
};

// Whether, in each group of `group` query heads, all heads use the same rotary table.
bool GroupsShareTables(std::span<const kernels::RotaryView> tables, int64_t group);

// Returns the index of the first key that is visible to any query row >= `row` (absolute).
int64_t FirstSeenKey(const kernels::AttentionShape& shape, const RowEdits& edits, int64_t row);

// LayerOps by LibTorch's operations, on any device. May be used by one thread at a time.
class AtenOps : public LayerOps {
 public:
  explicit AtenOps(at::Device device, const AttentionLimits& limits = {})
      : device_(device), limits_(limits) {}

  at::Device device() const override { return device_; }
  bool host_memory() const override { return false; }
  // Returns work that calls `work` at every launch; saves no time, but works on every device.
  std::unique_ptr<RecordedWork> Record(const std::function<void()>& work) const override;
  at::Tensor FewOnDevice(const std::vector<float>& values) const override;
  // Vectors of norms and biases are copied to the device once and cached by address: they must not
  // change, move or be freed before this object.
  void Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                 const at::Tensor& out, const NormKeeps& keeps) const override;
  void AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                    const Norm& norm, float epsilon, const at::Tensor& out,
                    const NormKeeps& keeps) const override;
  void NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                      const at::Tensor& out) const override;
  void AddBias(const at::Tensor& x, const std::vector<float>& bias) const override;
  void Add(const at::Tensor& residual, const at::Tensor& update) const override;
  void Activate(Activation activation, bool gated, const at::Tensor& x,
                const at::Tensor& out) const override;
  void RankOneUpdate(const at::Tensor& x, const at::Tensor& amount, const at::Tensor& direction,
                     const at::Tensor& out) const override;
  bool Attention(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                 const at::Tensor& v, const RotaryTables& tables, const at::Tensor& out,
                 kernels::CancelFlag cancel) const override;
  at::Tensor AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                              const at::Tensor& k, const KeyUpdate& update,
                              const RotaryTables& tables) const override;
  void WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                      const at::Tensor& v, const at::Tensor& out) const override;
  std::vector<int64_t> CountAttendedKeys(
      const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const override;

 protected:
  // A rotary table on the device: cos and sin, [rows, pairs] each.
  struct DeviceTable {
    std::shared_ptr<const RotaryCache::Table> host;  // keeps its memory from being reused
    at::Tensor cos;
    at::Tensor sin;
  };
  // Returns a table on the device: a copy of the host's table, which must be filled.
  virtual DeviceTable MakeTable(const std::shared_ptr<const RotaryCache::Table>& host) const;
  // Returns the view's table on the device; `tables` must own the view's data. The copy is cached
  // for later calls.
  DeviceTable TableOf(const RotaryTables& tables, const kernels::RotaryView& view) const;
  // Returns a device copy of `values`, cached by their address. Throws std::logic_error if a sample
  // shows that the values at that address have changed since they were copied.
  at::Tensor OnDevice(const std::vector<float>& values) const;
  // Called before data is copied from the host. Throws while work is recorded, because each launch
  // would repeat the copy from freed memory.
  virtual void CheckNotRecorded() const {}

 private:
  struct HeadRange;
  at::Tensor Upload(const float* values, at::IntArrayRef shape) const;
  at::Tensor Rotated(const at::Tensor& x, const RotaryTables& tables,
                     std::span<const kernels::RotaryView> views, int64_t first_row) const;
  HeadRange MakeRange(const kernels::AttentionShape& shape, const at::Tensor& k,
                      const RotaryTables& tables, int64_t first_head, int64_t heads) const;
  at::Tensor OfHeads(const std::vector<float>& values, int64_t first_head, int64_t heads) const;
  // Returns the attention weights for scaled products of queries and keys, which are overwritten:
  // [heads from first_head on, rows from first_row (absolute) on, keys from first_key on].
  at::Tensor Softmaxed(const kernels::AttentionShape& shape, const RotaryTables& tables,
                       const at::Tensor& products, int64_t first_head, int64_t first_row,
                       int64_t first_key) const;
  at::Tensor Products(const kernels::AttentionShape& shape, const HeadRange& range,
                      const at::Tensor& q, const RotaryTables& tables, int64_t first_row,
                      int64_t rows, int64_t first_key, int64_t last_key) const;
  at::Tensor Weights(const kernels::AttentionShape& shape, const HeadRange& range,
                     const at::Tensor& q, const RotaryTables& tables, int64_t first_row,
                     int64_t rows, int64_t first_key, int64_t last_key) const;

  at::Device device_;
  AttentionLimits limits_;
  struct CopiedVector {
    at::Tensor copy;
    std::array<uint32_t, 3> sample;  // bits of the first, middle and last value
  };
  mutable std::unordered_map<const float*, CopiedVector> vectors_;
  mutable KeptCopies<float> few_{8};
  mutable std::unordered_map<const float*, DeviceTable> tables_;
  mutable int64_t table_bytes_ = 0;
};

}  // namespace midscope
