// SPDX-License-Identifier: MIT
// Operations on quantised matrices on GPUs, by the kernels of kernels/cuda. Only in builds with
// MIDSCOPE_CUDA. Internal to core.
#pragma once

#include "core/compute/block_ops.h"

namespace midscope {

class CudaBlocks : public BlockOps {
 public:
  int64_t panel_bytes() const override;
  void Dequantise(const kernels::BlockMatrix& matrix, int64_t first_column,
                  const at::Tensor& out) const override;
  void MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x, const at::Tensor& y,
                   const Copies* copies) const override;
  void MultiplyFewGated(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                        kernels::ActivationKind activation, const at::Tensor& y) const override;
};

}  // namespace midscope
