// SPDX-License-Identifier: MIT
#include "core/compute/cuda/cuda_blocks.h"

#include <ATen/ATen.h>
#include <ATen/core/Tensor.h>
#include <c10/core/DeviceGuard.h>

#include "core/compute/cuda/cuda_ops.h"
#include "kernels/cuda/dequantise.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/quantised_matrix_vector.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

namespace {

// Makes the arguments of the kernels in kernels/cuda that read quantised matrices, from tensors.
// Internal to core.

inline kernels::Dtype KernelDtype(const at::Tensor& x) {
  switch (x.scalar_type()) {
    case at::kFloat:
      return kernels::Dtype::kFloat32;
    case at::kHalf:
      return kernels::Dtype::kFloat16;
    default:
      return kernels::Dtype::kBFloat16;
  }
}

// Returns the kernel arguments of BlockOps::Dequantise.
inline kernels::cuda::DequantiseArguments DequantiseArgumentsOf(const kernels::BlockMatrix& matrix,
                                                                int64_t first_column,
                                                                const at::Tensor& out) {
  return {static_cast<const uint8_t*>(matrix.data),
          matrix.row_bytes,
          matrix.columns,
          first_column,
          out.data_ptr(),
          KernelDtype(out),
          matrix.rows,
          out.size(1)};
}

// Returns the kernel arguments of BlockOps::MultiplyFew. Rows of x must be 16-byte aligned.
inline kernels::cuda::QuantisedMatrixVectorArguments ProductArgumentsOf(
    const kernels::BlockMatrix& matrix, const at::Tensor& x, const at::Tensor& y) {
  kernels::cuda::QuantisedMatrixVectorArguments arguments;
  arguments.weight = static_cast<const uint8_t*>(matrix.data);
  arguments.row_bytes = matrix.row_bytes;
  arguments.x = x.const_data_ptr();
  arguments.x_stride = x.stride(0);
  arguments.x_dtype = KernelDtype(x);
  arguments.y = y.data_ptr();
  arguments.y_stride = y.stride(0);
  arguments.y_dtype = KernelDtype(y);
  arguments.rows = x.size(0);
  arguments.inputs = matrix.columns;
  arguments.outputs = matrix.rows;
  return arguments;
}

}  // namespace

// 32 MiB is large enough for a matrix product to keep a GPU busy, and small enough to stay in the
// second-level cache (A100: 40 MB, H100: 50 MB) between writing and reading. Other sizes were not
// measured.
int64_t CudaBlocks::panel_bytes() const { return int64_t{32} << 20; }

void CudaBlocks::Dequantise(const kernels::BlockMatrix& matrix, int64_t first_column,
                            const at::Tensor& out) const {
  const c10::DeviceGuard guard(out.device());
  kernels::cuda::Dequantise(matrix.type, DequantiseArgumentsOf(matrix, first_column, out));
}

namespace {

// Computes a product of few rows after change(arguments) has adjusted the kernel's arguments.
template <class Change>
void Multiply(const kernels::BlockMatrix& matrix, const at::Tensor& x, const at::Tensor& y,
              const Change& change) {
  const c10::DeviceGuard guard(y.device());
  const at::Tensor rows = RowsAreAligned(x) ? x : x.clone(at::MemoryFormat::Contiguous);
  auto arguments = ProductArgumentsOf(matrix, rows, y);
  change(arguments);
  kernels::cuda::QuantisedMatrixVector(matrix.type, arguments);
}

}  // namespace

void CudaBlocks::MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                             const at::Tensor& y, const Copies* copies) const {
  Multiply(matrix, x, y, [copies](kernels::cuda::QuantisedMatrixVectorArguments& arguments) {
    if (!copies) return;
    arguments.copies.first = copies->first;
    arguments.copies.width = copies->to[0].size(1);
    for (int i = 0; i < 2; ++i) {
      arguments.copies.to[i] = copies->to[i].data_ptr();
      arguments.copies.stride[i] = copies->to[i].stride(0);
    }
  });
}

void CudaBlocks::MultiplyFewGated(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                                  kernels::ActivationKind activation, const at::Tensor& y) const {
  Multiply(matrix, x, y, [activation](kernels::cuda::QuantisedMatrixVectorArguments& arguments) {
    arguments.gated = true;
    arguments.activation = activation;
  });
}

}  // namespace midscope
