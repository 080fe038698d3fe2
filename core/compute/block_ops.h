// SPDX-License-Identifier: MIT
// Operations of a device on matrices whose blocks stay quantised in its memory: an interface, so
// that their products can be tested without a GPU. Internal to core.
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
  // Outputs of a product from `first` on, which are written to the rows of `to` as well: [rows,
  // width] each, contiguous, of the result's dtype.
  struct Copies {
    int64_t first = 0;
    std::array<at::Tensor, 2> to;
  };

  // Columns are a multiple of it, also where a block is one number.
  static constexpr int64_t kColumns = 8;
  // Up to so many rows are multiplied by MultiplyFew with numbers that are not quantised too: they
  // take no longer than one. More are faster by matrix tiles.
  static constexpr int64_t kExpandedRows = 2;

  virtual ~BlockOps() = default;

  // Bytes of weights that are dequantised at a time where many rows are multiplied.
  virtual int64_t panel_bytes() const = 0;
  // out [rows, any whole blocks], contiguous: the matrix' rows from first_column on, which begins a
  // block, rounded where `out` is bfloat16.
  virtual void Dequantise(const kernels::BlockMatrix& matrix, int64_t first_column,
                          const at::Tensor& out) const = 0;
  // y = x matrix^T in float32 arithmetic, with weights that are not rounded. x [rows, columns], y
  // [rows, matrix.rows], whose rows are contiguous; at most kernels::kMatrixVectorRows rows.
  // `copies`: null, or of these outputs; `first` may be negative.
  virtual void MultiplyFew(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                           const at::Tensor& y, const Copies* copies) const = 0;
  // The first half of the matrix' rows give gates: y [rows, matrix.rows / 2] = activation(gate)
  // times the other half's, of which each is rounded as y is first.
  virtual void MultiplyFewGated(const kernels::BlockMatrix& matrix, const at::Tensor& x,
                                kernels::ActivationKind activation, const at::Tensor& y) const = 0;
};

}  // namespace midscope
