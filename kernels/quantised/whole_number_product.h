// SPDX-License-Identifier: MIT
// Products with a weight matrix as it is in the file, in integers: x is rounded to 8 or 16 bits,
// block by block, and multiplied with the blocks' own small numbers.
#pragma once

#include <cstdint>

#include "kernels/parallel.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/scratch.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Elements of x that share a scale.
inline constexpr int64_t kRoundedBlock = 32;

// Bits of the numbers that x is rounded to. A block's largest number becomes 127 or 32,767.
enum class RoundedBits { k8, k16 };

// Whether WholeNumberProduct has the format: those whose elements are small integers times a scale
// (and plus a minimum), in rows of whole blocks of x.
bool HasWholeNumberProduct(BlockType type);

// Rows in integers, in the order in which products read them: as many rows as a tile has, side by
// side, four bytes of each in turn ([tile][columns / n][row of the tile][n], n 4 or 2). By row and
// block, the scale and the scale times the sum of the block's numbers; by row and half a block, the
// sum of its numbers.
struct RoundedRows {
  void* numbers = nullptr;  // int8_t or int16_t; rows beyond the last are not set
  float* scales = nullptr;
  float* scaled_sums = nullptr;
  int32_t* half_sums = nullptr;
};

// Rows rounded as Q8_0 of GGUF is, but that the scale stays float32: in each block of 32 elements,
// max |x| / 127 (or 32,767) times an integer, nearest, ties to even. For products with several
// matrices.
class RoundedInput {
 public:
  // x [rows, columns] of `dtype`, contiguous, is not read later; columns is a multiple of
  // kRoundedBlock.
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

// y[r, o] = sum_i weight[o, i] x[r, i]. Products within a block are summed in integers, exactly;
// blocks in float32, in their order. A block with a number that is not finite gives NaN. y of
// `y_dtype`, its rows with stride y_stride in elements, rounded once. The result does not depend on
// the executor, nor that of a row on the other rows; over instruction sets only the float32 sums
// differ, by their rounding. Returns false when `cancel` was set; y is then undefined. Only where
// HasWholeNumberProduct(weight.type).
//
//   const RoundedInput input(x, Dtype::kFloat32, rows, columns, RoundedBits::k16, executor);
//   WholeNumberProduct(gate, input, gate_out, Dtype::kFloat32, stride, executor);
//   WholeNumberProduct(up, input, up_out, Dtype::kFloat32, stride, executor);
bool WholeNumberProduct(const BlockMatrix& weight, const RoundedInput& x, void* y, Dtype y_dtype,
                        int64_t y_stride, const Executor& executor, CancelFlag cancel = nullptr);

}  // namespace midscope::kernels
