// SPDX-License-Identifier: MIT
// The arguments of the kernels of kernels/cuda that read quantised matrices, of tensors. Internal
// to core.
#pragma once

#include <ATen/core/Tensor.h>

#include "kernels/cuda/dequantise.h"
#include "kernels/cuda/quantised_matrix_vector.h"
#include "kernels/dequantise.h"

namespace midscope {

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

// As BlockOps::Dequantise.
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

// As BlockOps::MultiplyFew; rows of x lie at multiples of 16 bytes.
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

}  // namespace midscope
