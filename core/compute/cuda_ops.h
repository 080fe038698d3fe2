// SPDX-License-Identifier: MIT
// A decoder block's operations on a GPU: AtenOps, with attention of many bfloat16 rows on tensor
// cores. Only in builds with MIDSCOPE_CUDA. Internal to core.
//
// Where the heads of a group see the same positions, queries and keys are rotated once
// (kernels/cuda/rotary.h) and LibTorch's flash or cuDNN attention multiplies them. Where they do
// not (Ms-PoE), or with far positions, soft cap, ALiBi or several temperatures, it is
// kernels/cuda/attention.h, which keeps no copy of the keys. Rotated queries and keys and the
// weights are rounded to bfloat16, as by the CPU's kernels with AVX-512 BF16. All else is AtenOps':
// float32, few rows, hidden keys and factors, other sizes of heads.
#pragma once

#include <vector>

#include "core/compute/aten_ops.h"
#include "kernels/cuda/rotary.h"

namespace midscope {

class CudaOps : public AtenOps {
 public:
  explicit CudaOps(at::Device device) : AtenOps(device) {}

  bool Attention(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                 const at::Tensor& v, const RotaryTables& tables, const at::Tensor& out,
                 kernels::CancelFlag cancel) const override;

 private:
  // `kept` holds what the table lies in until the kernel is started.
  kernels::cuda::Table OnGpu(const RotaryTables& tables,
                             const std::vector<kernels::RotaryView>& views, size_t head,
                             std::vector<DeviceTable>* kept) const;
  at::Tensor RotatedHeads(const at::Tensor& x, int64_t first, int64_t head_dim,
                          const RotaryTables& tables, const std::vector<kernels::RotaryView>& views,
                          int64_t group) const;
  void ByLibTorch(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                  const at::Tensor& v, const RotaryTables& tables, const at::Tensor& out) const;
  void ByKernel(const kernels::AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                const at::Tensor& v, const RotaryTables& tables, const at::Tensor& out) const;
};

}  // namespace midscope
