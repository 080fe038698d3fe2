// SPDX-License-Identifier: MIT
// Products of many rows in float32 arithmetic with a weight matrix of any type. The matrix is
// either as stored in the file: each thread converts a group of its rows to float32, in the order
// in which a product reads them, and multiplies it with all of x before the next group; or it is
// expanded once into panels in that order. Both give the same bits.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/scratch.h"
#include "kernels/types.h"

namespace midscope::kernels {

// x in the order in which products read it, for use with several matrices.
//
//   const FloatInput input(x, Dtype::kFloat32, rows, columns, executor);
//   FloatProduct(gate, input, gate_out, Dtype::kFloat32, stride, executor);
//   FloatProduct(up, input, up_out, Dtype::kFloat32, stride, executor);
class FloatInput {
 public:
  // x [rows, columns] of `dtype`, contiguous, is only read by the constructor.
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

// Fills panels for this CPU's vector width; they can only be used by this process.
void FillFloatPanels(const BlockMatrix& weight, float* panels, const Executor& executor);

// A part of a matrix.
struct FloatPart {
  int64_t first_output = 0;
  int64_t outputs = 0;
  int64_t first_input = 0;
  int64_t inputs = 0;
};

// Writes that part to out [outputs, inputs].
void ReadFloatPanels(const FloatPanels& panels, const FloatPart& part, float* out);

// Computes y[r, o] = sum_i weight[o, i] x[r, i]: products and sums are float32, y is rounded once
// to its dtype. Rows of y have stride y_stride, in elements. The result does not depend on the
// executor, and each row's result does not depend on other rows. Returns false if `cancel` was set;
// y is then undefined. For one or two rows, reading weights limits the speed; panels are then as
// fast as MatrixVector.
bool FloatProduct(const BlockMatrix& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);
bool FloatProduct(const FloatPanels& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
