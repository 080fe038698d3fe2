// SPDX-License-Identifier: MIT
#include "core/compute/cuda_blocks.h"

#include <ATen/ATen.h>
#include <c10/core/DeviceGuard.h>

#include <optional>

#include "core/compute/block_arguments.h"
#include "core/compute/cuda_ops.h"
#include "kernels/cuda/launch.h"

namespace midscope {

// Enough rows for a matrix product to keep a GPU busy, few enough to stay in the second-level cache
// (A100: 40 MB, H100: 50 MB) between being written and being read. Other sizes were not measured.
int64_t CudaBlocks::panel_bytes() const { return int64_t{32} << 20; }

void CudaBlocks::Dequantise(const kernels::BlockMatrix& matrix, int64_t first_column,
                            const at::Tensor& out) const {
  const c10::DeviceGuard guard(out.device());
  kernels::cuda::Dequantise(matrix.type, DequantiseArgumentsOf(matrix, first_column, out));
}

namespace {

void Multiply(const kernels::BlockMatrix& matrix, const at::Tensor& x,
              std::optional<kernels::ActivationKind> activation, const at::Tensor& y) {
  const c10::DeviceGuard guard(y.device());
  const at::Tensor rows = RowsLieWell(x) ? x : x.clone(at::MemoryFormat::Contiguous);
  auto arguments = ProductArgumentsOf(matrix, rows, y);
  arguments.gated = activation.has_value();
  if (activation) arguments.activation = *activation;
  kernels::cuda::QuantisedMatrixVector(matrix.type, arguments);
}

}  // namespace

void CudaBlocks::MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                             const at::Tensor& y) const {
  Multiply(matrix, x, std::nullopt, y);
}

void CudaBlocks::MultiplyFewGated(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                                  kernels::ActivationKind activation, const at::Tensor& y) const {
  Multiply(matrix, x, activation, y);
}

}  // namespace midscope
