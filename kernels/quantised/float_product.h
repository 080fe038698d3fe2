// SPDX-License-Identifier: MIT
// Products of many rows in float32 arithmetic with a weight matrix of any type: as it is in the
// file, when each thread turns a group of its rows into float32, in the order in which a product
// reads them, and multiplies that with all of x before it goes on; or expanded once into panels in
// that order. Both give the same bits.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/scratch.h"
#include "kernels/types.h"

namespace midscope::kernels {

// x in the order in which the products read it. For products with several matrices.
//
//   const FloatInput input(x, Dtype::kFloat32, rows, columns, executor);
//   FloatProduct(gate, input, gate_out, Dtype::kFloat32, stride, executor);
//   FloatProduct(up, input, up_out, Dtype::kFloat32, stride, executor);
class FloatInput {
 public:
  // x [rows, columns] of `dtype`, contiguous, is not read later.
  FloatInput(const void* x, Dtype dtype, int64_t rows, int64_t columns, const Executor& executor);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  const float* packed() const { return packed_; }

 private:
  int64_t rows_;
  int64_t columns_;
  BorrowedScratch<FloatInput> scratch_;
  float* packed_;
};

// A matrix expanded to float32: FloatPanelSize(outputs, inputs) numbers, aligned to 64 bytes.
struct FloatPanels {
  const float* numbers = nullptr;
  int64_t outputs = 0;
  int64_t inputs = 0;
};

int64_t FloatPanelSize(int64_t outputs, int64_t inputs);

// Into panels, by this CPU's vector width: they are for this process alone.
void FillFloatPanels(const BlockMatrix& weight, float* panels, const Executor& executor);

// A part of a matrix.
struct FloatPart {
  int64_t first_output = 0;
  int64_t outputs = 0;
  int64_t first_input = 0;
  int64_t inputs = 0;
};

// out [outputs, inputs] of that part.
void ReadFloatPanels(const FloatPanels& panels, const FloatPart& part, float* out);

// y[r, o] = sum_i weight[o, i] x[r, i]: products and sums in float32, y rounded once to its dtype.
// Rows of y have stride y_stride, in elements. The result does not depend on the executor, nor that
// of a row on the other rows. Returns false when `cancel` was set; y is then undefined. One or two
// rows are bound by reading weights; panels are then as fast as MatrixVector.
bool FloatProduct(const BlockMatrix& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);
bool FloatProduct(const FloatPanels& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
