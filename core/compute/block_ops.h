// SPDX-License-Identifier: MIT
// The interface of a device's operations on matrices that stay quantised, in blocks, in device
// memory. With another implementation, its users can be tested without a GPU. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "kernels/normalise.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

// Operations on quantised matrices on a device. BlockMatrix::row_order must be empty. Rows are
// whole blocks in the memory of the tensors' device, in the layout of kernels/cuda/device_rows.h.
// Tensors are float32 or bfloat16.
class BlockOps {
 public:
  // Additional destinations of a product: its outputs from index `first` on are also written to the
  // tensors of `to`, one after the other: [rows, width] each, contiguous, in the result's dtype.
  struct Copies {
    int64_t first = 0;
    std::array<at::Tensor, 2> to;
  };

  // The number of a matrix' columns must be a multiple of this, even if a block is a single number.
  static constexpr int64_t kColumns = 8;
  // The largest number of rows of x for which MultiplyFew is also used with matrices that are not
  // quantised: two rows take no longer than one. For more rows, matrix tiles are faster.
  static constexpr int64_t kExpandedRows = 2;

  virtual ~BlockOps() = default;

  // Returns how many bytes of weights are dequantised at a time if many rows are multiplied.
  virtual int64_t panel_bytes() const = 0;
  // Dequantises whole blocks of every row, beginning with column first_column, to out [rows,
  // columns], contiguous. Rounds if `out` is bfloat16.
  virtual void Dequantise(const kernels::BlockMatrix& matrix, int64_t first_column,
                          const at::Tensor& out) const = 0;
  // Computes y = x matrix^T in float32 arithmetic, with weights that are not rounded. x [rows,
  // columns], y [rows, matrix.rows], whose rows are contiguous; at most kernels::kMatrixVectorRows
  // rows. `copies`: outputs to copy, or null; its `first` may be negative.
  virtual void MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                           const at::Tensor& y, const Copies* copies) const = 0;
  // Computes a gated product of few rows: y [rows, matrix.rows / 2] = activation(gate) * up. The
  // first half of the matrix' rows gives gates, the second half ups. Both factors are first rounded
  // to y's dtype.
  virtual void MultiplyFewGated(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                                kernels::ActivationKind activation, const at::Tensor& y) const = 0;
};

}  // namespace midscope
