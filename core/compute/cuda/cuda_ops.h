// SPDX-License-Identifier: MIT
// A decoder block's operations on a GPU: AtenOps, except norms of rows and of heads, activations
// and attention, which are kernels of kernels/cuda. Only in builds with MIDSCOPE_CUDA. Internal to
// core.
//
// For few rows, attention reads keys and values in place, in float32 arithmetic, and applies a
// what-if's update to keys while reading them. For many bfloat16 or float16 rows it uses tensor
// cores: queries and keys are rotated (kernels/cuda/rotary.h) and passed to LibTorch's flash or
// cuDNN attention, or, with soft cap, ALiBi, sinks, temperatures, hidden keys or factors, to
// kernels/cuda/attention.h. If the heads of a group see different positions (Ms-PoE), one head of
// every group is processed at a time, so that there is one copy of the keys instead of one per
// head. Near and far keys (Self-Extend) are processed separately and the results merged
// (kernels/cuda/move_rows.h). Rotated queries and keys and the weights are rounded to that dtype,
// as by the CPU's kernels with AVX-512 BF16. Rotary tables are computed on the GPU. AtenOps
// computes the rest: many rows of float32, head sizes that the kernels lack.
#pragma once

#include <vector>

#include "core/compute/aten_ops.h"
#include "core/compute/cuda/cuda_blocks.h"
#include "core/compute/cuda/cuda_library_attention.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/attention_rows.h"
#include "kernels/types.h"

namespace midscope {

// Whether the alignment of x's rows lets kernels/cuda read chunks of 16 bytes or more.
bool RowsAreAligned(const at::Tensor& x);

// Whether the kernels of kernels/cuda can rotate heads with these tables.
bool TablesFit(const kernels::AttentionShape& shape, const RotaryTables& tables);

template <class T>
const T* DataOf(const at::Tensor& x) {
  return static_cast<const T*>(x.const_data_ptr());
}

// Calls work(T{}) with the kernels' type T of x's elements: float, BFloat16 or Float16, or only
// BFloat16 or Float16.
template <class Work>
decltype(auto) WithNarrowTypeOf(const at::Tensor& x, const Work& work) {
  return x.scalar_type() == at::kHalf ? work(kernels::Float16{}) : work(kernels::BFloat16{});
}
template <class Work>
decltype(auto) WithTypeOf(const at::Tensor& x, const Work& work) {
  return x.scalar_type() == at::kFloat ? work(float{}) : WithNarrowTypeOf(x, work);
}

class CudaOps : public AtenOps {
 public:
  explicit CudaOps(at::Device device) : AtenOps(device, {.table_bytes = int64_t{4} << 30}) {}

  const BlockOps* blocks() const override { return &blocks_; }
  bool forms_tables() const override { return true; }
  // Records `work` as a CUDA graph.
  std::unique_ptr<RecordedWork> Record(const std::function<void()>& work) const override;
  void KeepRecorded(const at::Tensor& x) const override {
    if (recorded_) recorded_->push_back(x);
  }
  void Normalise(NormKind kind, const at::Tensor& x, const Norm& norm, float epsilon,
                 const at::Tensor& out, const NormKeeps& keeps) const override;
  void AddNormalise(NormKind kind, const at::Tensor& residual, const at::Tensor& update,
                    const Norm& norm, float epsilon, const at::Tensor& out,
                    const NormKeeps& keeps) const override;
  void NormaliseHeads(const at::Tensor& x, const HeadNorm& norm,
                      const at::Tensor& out) const override;
  void NormaliseColumn(const at::Tensor& column, const NormOfColumn& norm,
                       const ColumnFactor& factor, const at::Tensor& out) const override;
  void Activate(Activation activation, bool gated, const at::Tensor& x,
                const at::Tensor& out) const override;
  void RankOneUpdate(const at::Tensor& x, const at::Tensor& amount, const at::Tensor& direction,
                     const at::Tensor& out) const override;
  void SplitRows(const at::Tensor& from, const at::Tensor& first,
                 const at::Tensor& second) const override;
  bool Attention(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                 const at::Tensor& v, const RotaryTables& tables, const at::Tensor& out,
                 kernels::CancelFlag cancel) const override;
  at::Tensor AttentionWeights(const kernels::AttentionShape& shape, const at::Tensor& q,
                              const at::Tensor& k, const KeyUpdate& update,
                              const RotaryTables& tables) const override;
  void WeightedValues(const kernels::AttentionShape& shape, const at::Tensor& weights,
                      const at::Tensor& v, const at::Tensor& out) const override;
  // For up to kernels::cuda::kMostKeysTogether keys, ignores `weights` and computes the
  // exponentials while keys and values are read. Captured runs thus give the same result.
  void RowAttention(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                    const KeyUpdate& update, const at::Tensor& v, const RotaryTables& tables,
                    const at::Tensor& weights, const at::Tensor& out) const override;
  std::vector<int64_t> CountAttendedKeys(
      const at::Tensor& weights, const kernels::AwarenessThreshold& threshold) const override;
  std::vector<TopToken> TopTokens(const at::Tensor& logits, int64_t k) const override;

 protected:
  DeviceTable MakeTable(const std::shared_ptr<const RotaryCache::Table>& host) const override;
  void CheckNotRecorded() const override;

 private:
  template <class T>
  void NormaliseAs(NormKind kind, const at::Tensor& x, const at::Tensor* update, const Norm& norm,
                   float epsilon, const at::Tensor& out, const NormKeeps& keeps) const;
  // Returns the kernel arguments of every head. `kept` receives the tables on the GPU, to keep them
  // alive until the kernel is launched.
  std::vector<kernels::cuda::AttentionHead> Heads(const kernels::AttentionShape& shape,
                                                  const RotaryTables& tables,
                                                  std::vector<DeviceTable>* kept) const;
  const kernels::cuda::AttentionHead* HeadsOnGpu(const kernels::AttentionShape& shape,
                                                 const RotaryTables& tables,
                                                 std::vector<DeviceTable>* kept) const;
  // Returns a copy of the values on the GPU; reuses an earlier call's copy if the values are equal.
  template <class T>
  const T* OnGpu(const std::vector<T>& values, KeptCopies<T>* kept) const;
  void AddEdits(const RotaryTables& tables, std::vector<kernels::cuda::AttentionHead>* heads) const;
  // Returns the arguments of the kernel that computes logits of a few rows, without their output.
  template <class T>
  kernels::cuda::RowLogitsArguments<T> RowArguments(const kernels::AttentionShape& shape,
                                                    const at::Tensor& q, const at::Tensor& k,
                                                    const KeyUpdate& update,
                                                    const RotaryTables& tables, int64_t first_key,
                                                    std::vector<DeviceTable>* kept) const;
  // Selects the rotary tables of heads first, first + step, ..., stored on the GPU.
  struct TablesOnGpu {
    const kernels::cuda::AttentionHead* heads;
    kernels::cuda::Table kernels::cuda::AttentionHead::*table;
    int64_t first = 0;
    int64_t step = 1;
  };
  kernels::cuda::Table OnGpu(const RotaryTables& tables,
                             const std::vector<kernels::RotaryView>& views, size_t head,
                             std::vector<DeviceTable>* kept) const;
  template <class T>
  at::Tensor RotatedHeads(const at::Tensor& x, int64_t first, int64_t head_dim,
                          const TablesOnGpu& tables) const;
  // The inputs of one attention computation: rotated queries [1, rows, heads, head_dim], rotated
  // keys and values [1, keys, key heads, head_dim], of all keys or only of the far keys: the last
  // query's own key is the last key, and each query sees `window` keys (0: all) up to its own.
  struct AttentionPass {
    at::Tensor queries;
    at::Tensor keys;
    at::Tensor values;
    int64_t window = 0;
    int64_t behind = 0;  // number of rows from a query back to the last key that it sees
    bool with_sums = false;
    const kernels::cuda::AttentionHead* heads = nullptr;  // head h uses heads[h * head_step]
    int64_t head_step = 1;
  };
  template <class T>
  FlashResult ByKernel(const kernels::AttentionShape& shape, const AttentionPass& pass) const;
  template <class T>
  FlashResult Attend(const kernels::AttentionShape& shape, const RotaryTables& tables,
                     const AttentionPass& pass) const;
  template <class T>
  void AttendRotated(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                     const at::Tensor& v, const RotaryTables& tables, const at::Tensor& out) const;

  CudaBlocks blocks_;
  // A cache of head arguments on the GPU; a few suffice, because a model has few kinds of layers.
  mutable KeptCopies<kernels::cuda::AttentionHead> kept_heads_{4};
  mutable KeptCopies<kernels::cuda::KeyEdit> kept_edits_{4};
  mutable std::vector<at::Tensor>* recorded_ = nullptr;  // not null while work is recorded
};

}  // namespace midscope
