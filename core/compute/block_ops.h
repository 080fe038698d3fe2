// SPDX-License-Identifier: MIT
// The interface of a device's operations on matrices whose blocks stay quantised in its memory. It
// allows testing these products without a GPU. Internal to core.
#pragma once

#include <ATen/core/Tensor.h>

#include <array>
#include <cstdint>

#include "kernels/normalise.h"
#include "kernels/quantised/dequantise.h"

namespace midscope {

// Matrices have no row order; rows are whole blocks, stored on the tensors' device in the layout of
// kernels/cuda/device_rows.h. Tensors are float32 or bfloat16.
class BlockOps {
 public:
  // Outputs of a product, from index `first` on, that are also written to the rows of each tensor
  // of `to`: [rows, width], contiguous, in the result's dtype.
  struct Copies {
    int64_t first = 0;
    std::array<at::Tensor, 2> to;
  };

  // The number of columns must be a multiple of it, even if a block is a single number.
  static constexpr int64_t kColumns = 8;
  // The largest number of rows for which MultiplyFew is also used with numbers that are not
  // quantised: they take no longer than one row. For more rows, matrix tiles are faster.
  static constexpr int64_t kExpandedRows = 2;

  virtual ~BlockOps() = default;

  // Returns how many bytes of weights are dequantised at a time if many rows are multiplied.
  virtual int64_t panel_bytes() const = 0;
  // Writes the matrix' rows, from first_column on (the beginning of a block), to out [rows, columns
  // of any number of whole blocks], contiguous; rounded if `out` is bfloat16.
  virtual void Dequantise(const kernels::BlockMatrix& matrix, int64_t first_column,
                          const at::Tensor& out) const = 0;
  // Computes y = x matrix^T in float32 arithmetic, with weights that are not rounded. x [rows,
  // columns], y [rows, matrix.rows], whose rows are contiguous; at most kernels::kMatrixVectorRows
  // rows. `copies`: outputs to copy, or null; its `first` may be negative.
  virtual void MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                           const at::Tensor& y, const Copies* copies) const = 0;
  // Like MultiplyFew, but the first half of the matrix' rows gives gates: y [rows, matrix.rows / 2]
  // = activation(gate) times the output of the second half. Both factors are first rounded to y's
  // dtype.
  virtual void MultiplyFewGated(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                                kernels::ActivationKind activation, const at::Tensor& y) const = 0;
};

}  // namespace midscope
