// SPDX-License-Identifier: MIT
// Products of many rows in float32 arithmetic with a weight matrix of any type. The matrix may be
// as stored in the file; each thread then converts a group of weight rows to float32 at a time and
// multiplies it with all of x. Or the matrix is expanded once to float32 "panels", in the order in
// which a product reads them. Both give identical bits.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/scratch.h"
#include "kernels/types.h"

namespace midscope::kernels {

// The input x, rearranged in the order in which products read it; usable for several matrices.
//
//   const FloatInput input(x, Dtype::kFloat32, rows, columns, executor);
//   FloatProduct(gate, input, gate_out, Dtype::kFloat32, stride, executor);
//   FloatProduct(up, input, up_out, Dtype::kFloat32, stride, executor);
class FloatInput {
 public:
  // Copies x [rows, columns] of `dtype`, contiguous, which may be freed afterwards.
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

// A matrix expanded to float32 panels: FloatPanelSize(outputs, inputs) numbers, 64-byte aligned.
struct FloatPanels {
  const float* numbers = nullptr;
  int64_t outputs = 0;
  int64_t inputs = 0;
};

int64_t FloatPanelSize(int64_t outputs, int64_t inputs);

// Expands a matrix to panels for this CPU's vector width; use them only in this process.
void FillFloatPanels(const BlockMatrix& weight, float* panels, const Executor& executor);

// A part of a matrix: a range of outputs and of inputs.
struct FloatPart {
  int64_t first_output = 0;
  int64_t outputs = 0;
  int64_t first_input = 0;
  int64_t inputs = 0;
};

// Writes a part of an expanded matrix to out [outputs, inputs].
void ReadFloatPanels(const FloatPanels& panels, const FloatPart& part, float* out);

// Computes y[r, o] = sum_i weight[o, i] x[r, i]: products and sums are float32, y is rounded once,
// to y_dtype. Rows of y have stride y_stride, in elements. The result does not depend on the
// executor, and each row's result does not depend on other rows. Returns false if `cancel` was set;
// y is then undefined. For one or two rows, reading weights limits the speed; panels are then as
// fast as MatrixVector.
bool FloatProduct(const BlockMatrix& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);
bool FloatProduct(const FloatPanels& weight, const FloatInput& x, void* y, Dtype y_dtype,
                  int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
