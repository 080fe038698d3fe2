// SPDX-License-Identifier: MIT
// Integer products with a weight matrix as stored in the file: x is rounded to 8 or 16 bits, block
// by block, and multiplied with the quantised integers of the weights.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/scratch.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Number of elements of a row of x that are rounded with a common scale.
inline constexpr int64_t kRoundedBlock = 32;

// Bits of the integers to which x is rounded. The largest magnitude in a block becomes 127 or
// 32,767.
enum class RoundedBits { k8, k16 };

// Whether WholeNumberProduct supports the format: its elements must be small integers times a scale
// (plus a minimum), in rows of whole blocks of x.
bool HasWholeNumberProduct(BlockType type);

// x rounded to integers, in the order in which products read it: [tile][columns / n][row of the
// tile][n], n = 4 (8 bits) or 2 (16 bits). Also, for each row and block, the scale and the scale
// times the sum of the integers; for each row and half block, the sum of the integers.
struct RoundedRows {
  void* numbers = nullptr;  // int8_t or int16_t; rows beyond the last are not set
  float* scales = nullptr;
  float* scaled_sums = nullptr;
  int32_t* half_sums = nullptr;
};

// x rounded as in GGUF's Q8_0, except that scales are float32: each element of a block of 32
// becomes the scale max |x| / 127 (or / 32,767) times an integer, rounded to nearest even. Usable
// for products with several matrices.
class RoundedInput {
 public:
  // x [rows, columns] of `dtype`, contiguous, need not outlive the constructor; columns must be a
  // multiple of kRoundedBlock.
  RoundedInput(const void* x, Dtype dtype, int64_t rows, int64_t columns, RoundedBits bits,
               const Executor& executor);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  RoundedBits bits() const { return bits_; }
  const RoundedRows& rounded() const { return rounded_; }

 private:
  int64_t rows_;
  int64_t columns_;
  RoundedBits bits_;
  BorrowedScratch<RoundedInput> scratch_;
  RoundedRows rounded_;
};

// Computes y[r, o] = sum_i weight[o, i] x[r, i]. Products within a block are summed exactly, in
// integers; blocks are summed in float32, in order. A block with a number that is not finite gives
// NaN. y has `y_dtype`, with row stride y_stride in elements, and is rounded once. The result does
// not depend on the executor, and each row's result does not depend on other rows; between
// instruction sets, only the rounding of the float32 sums differs. Returns false if `cancel` was
// set; y is then undefined. Requires HasWholeNumberProduct(weight.type).
//
//   const RoundedInput input(x, Dtype::kFloat32, rows, columns, RoundedBits::k16, executor);
//   WholeNumberProduct(gate, input, gate_out, Dtype::kFloat32, stride, executor);
//   WholeNumberProduct(up, input, up_out, Dtype::kFloat32, stride, executor);
bool WholeNumberProduct(const BlockMatrix& weight, const RoundedInput& x, void* y, Dtype y_dtype,
                        int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
