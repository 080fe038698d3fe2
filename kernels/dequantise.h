// SPDX-License-Identifier: MIT
// GGUF's block formats, turned into float32. The arithmetic is that of the `gguf` Python package,
// operation by operation, so that results are equal to the last bit (compiled without contraction
// to fused multiply-add).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace midscope::kernels {

// Numbers are those of the file format.
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
  kBF16 = 30,
};

struct BlockFormat {
  BlockType type;
  std::string_view name;  // "Q4_K"
  int64_t elements;       // in a block; rows are whole blocks
  int64_t bytes;          // of a block
};

// The format of a type number from a file; nothing for one that is not known here.
std::optional<BlockFormat> FindBlockFormat(uint32_t type);

// out [elements] float32 from elements / block.elements blocks at `blocks` (any alignment).
void Dequantise(BlockType type, const void* blocks, int64_t elements, float* out);

}  // namespace midscope::kernels
