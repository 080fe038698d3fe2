// SPDX-License-Identifier: MIT
// Dequantises GGUF's block formats to float32, bfloat16 or float16. Values equal those of the
// `gguf` Python package to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/parallel.h"
#include "kernels/types.h"

namespace midscope::kernels {

// Block formats, with the type numbers of GGUF files. block_formats-inl.h lists the code for each.
enum class BlockType : uint32_t {
  kF32 = 0,
  kF16 = 1,
  kQ4_0 = 2,
  kQ4_1 = 3,
  kQ5_0 = 6,
  kQ5_1 = 7,
  kQ8_0 = 8,
  kQ2_K = 10,
  kQ3_K = 11,
  kQ4_K = 12,
  kQ5_K = 13,
  kQ6_K = 14,
  kIQ2_XXS = 16,
  kIQ2_XS = 17,
  kIQ3_XXS = 18,
  kIQ1_S = 19,
  kIQ4_NL = 20,
  kIQ3_S = 21,
  kIQ2_S = 22,
  kIQ4_XS = 23,
  kIQ1_M = 29,
  kBF16 = 30,
  kTQ1_0 = 34,
  kTQ2_0 = 35,
  kMXFP4 = 39,
};

// Byte offsets of the binary16 scales in a block. If all scales are finite, all values of the block
// are.
inline constexpr int64_t kNoScale = -1;
struct BlockScales {
  int64_t first = kNoScale;
  int64_t second = kNoScale;
  // Whether the first scale is stored in the highest nibbles of four 16-bit numbers, with the
  // lowest nibble in the first number.
  bool spread = false;
};

struct BlockFormat {
  BlockType type;
  std::string_view name;  // "Q4_K"
  int64_t elements;       // elements per block; rows consist of whole blocks
  int64_t bytes;          // bytes of a block
  BlockScales scales;     // none for MXFP4 and formats of single numbers
};

// Returns all supported block formats.
std::span<const BlockFormat> BlockFormats();

// Returns the format of a type number from a file; nullopt if it is not supported.
std::optional<BlockFormat> FindBlockFormat(uint32_t type);

// Returns the format of unquantised numbers of type `dtype`.
BlockType BlockTypeOf(Dtype dtype);

// Computes out [elements] float32 from elements / block.elements blocks at `blocks` (any
// alignment).
void Dequantise(BlockType type, const void* blocks, int64_t elements, float* out);

// Dequantises as Dequantise does, to out [elements] in bfloat16, rounded by ToBFloat16.
void DequantiseToBFloat16(BlockType type, const void* blocks, int64_t elements, BFloat16* out);

// Dequantises as Dequantise does, to out [elements] in float16, rounded by ToFloat16.
void DequantiseToFloat16(BlockType type, const void* blocks, int64_t elements, Float16* out);

// View of a matrix [rows, columns] of blocks as stored in a file. Row r is row row_order[r] of
// `data` (r if row_order is empty); rows of `data` have a stride of row_bytes and any alignment.
struct BlockMatrix {
  BlockType type = BlockType::kF32;
  const void* data = nullptr;
  int64_t row_bytes = 0;
  std::span<const int64_t> row_order;  // [rows], or empty
  int64_t rows = 0;
  int64_t columns = 0;  // a whole number of blocks

  const std::byte* Row(int64_t row) const {
    const int64_t at = row_order.empty() ? row : row_order[static_cast<size_t>(row)];
    return static_cast<const std::byte*>(data) + at * row_bytes;
  }
  // Returns a view of rows [first, first + count).
  BlockMatrix Rows(int64_t first, int64_t count) const {
    BlockMatrix some = *this;
    if (row_order.empty()) {
      some.data = Row(first);
    } else {
      some.row_order = row_order.subspan(static_cast<size_t>(first));
    }
    some.rows = count;
    return some;
  }
};

// Dequantises a matrix to out [rows, columns] of `dtype`, contiguous, rounded as by the functions
// above.
void DequantiseRows(const BlockMatrix& matrix, Dtype dtype, void* out, const Executor& executor);

// Whether all of the matrix's weights are finite numbers. Checks only each block's scales if the
// format has any (a finite binary16 times small integers is finite), so that checking a matrix of
// quantised blocks takes no longer than reading it. For MXFP4, treats scales with which a value
// could overflow (2^126 and more, and NaN) as not finite.
bool AllFinite(const BlockMatrix& matrix, const Executor& executor);

}  // namespace midscope::kernels
