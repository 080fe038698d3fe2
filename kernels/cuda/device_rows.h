// SPDX-License-Identifier: MIT
// The layout of rows of GGUF's blocks in GPU memory. In each block, a few bytes (mostly the scale)
// prevent aligning the rest to 4, 8 or 16; they are stored after all blocks of the row, so that
// threads can read the rest 8 bytes at a time. (A block of Q4_0 has 18 bytes; in the file's layout,
// only 2 can be read at a time.) Scales of 6 bits are stored as one byte each, because unpacking
// them from 12 bytes costs a thread as much as all other work on a bundle.
//
//     std::vector<std::byte> row(DeviceRowBytes(type, columns));
//     ArrangeRow(type, columns, row_of_the_file, row.data());
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/quantised/dequantise.h"

namespace midscope::kernels::cuda {

// The bytes of a block that are stored after the row's blocks: `count` bytes from byte `first` on,
// at the block's beginning or end. `there`: number of bytes in GPU memory.
struct BytesApart {
  int64_t first = 0;
  int64_t count = 0;
  int64_t there = 0;
};

constexpr BytesApart BytesApartOf(BlockType type) {
  switch (type) {
    case BlockType::kQ4_0:
    case BlockType::kQ5_0:
    case BlockType::kQ8_0:
    case BlockType::kIQ4_NL:
    case BlockType::kIQ1_S:
    case BlockType::kIQ2_XXS:
    case BlockType::kIQ2_XS:
    case BlockType::kIQ2_S:
    case BlockType::kIQ3_XXS:
    case BlockType::kIQ3_S:
      return {0, 2, 2};  // step (scale)
    case BlockType::kQ4_1:
      return {0, 4, 4};  // step and minimum
    case BlockType::kMXFP4:
      return {0, 1, 1};
    case BlockType::kQ2_K:
      return {80, 4, 4};
    case BlockType::kQ3_K:
      return {96, 14, 14};  // d and the scales of 16 elements each
    case BlockType::kQ4_K:
    case BlockType::kQ5_K:
      return {0, 16, 20};  // steps of scales and of minima, then scales and minima, one byte each
    case BlockType::kQ6_K:
      return {208, 2, 2};
    case BlockType::kTQ1_0:
      return {52, 2, 2};
    case BlockType::kTQ2_0:
      return {64, 2, 2};
    default:
      return {};
  }
}

// Returns the row stride in bytes, a multiple of 16.
inline int64_t DeviceRowBytes(BlockType type, int64_t columns) {
  constexpr int64_t kAligned = 16;
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  const BytesApart apart = BytesApartOf(type);
  const int64_t bytes = columns / format.elements * (format.bytes - apart.count + apart.there);
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

// Unpacks the header of a Q4_K or Q5_K block to `to` [20]: d and dmin, the factors of scales and
// minima; then scales and minima of the first two parts of 32 elements, of the next two, ...
inline void UnpackScales(const std::byte* from, std::byte* to) {
  constexpr std::byte kSix{63};
  constexpr std::byte kFour{15};
  std::memcpy(to, from, 4);
  const std::byte* scales = from + 4;
  const std::byte* minima = from + 8;
  const std::byte* lower = from + 12;
  const auto keep = [to](int64_t part, std::byte scale, std::byte minimum) {
    std::byte* at = to + 4 + part / 2 * 4 + part % 2;
    at[0] = scale;
    at[2] = minimum;
  };
  for (int i = 0; i < 4; ++i) {
    keep(i, scales[i] & kSix, minima[i] & kSix);
    // The upper bits of numbers of the second half are stored above the numbers of the first half.
    keep(4 + i, (lower[i] & kFour) | ((scales[i] >> 6) << 4),
         (lower[i] >> 4) | ((minima[i] >> 6) << 4));
  }
}

// Converts a row of a file at `from` to this layout, to `to` [DeviceRowBytes(type, columns)]; sets
// unused bytes to 0.
inline void ArrangeRow(BlockType type, int64_t columns, const void* from, void* to) {
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  const BytesApart apart = BytesApartOf(type);
  const int64_t blocks = columns / format.elements;
  const int64_t together = format.bytes - apart.count;
  const auto* block = static_cast<const std::byte*>(from);
  auto* row = static_cast<std::byte*>(to);
  std::byte* scales = row + blocks * together;
  const int64_t used = blocks * (together + apart.there);
  std::memset(row + used, 0, static_cast<size_t>(DeviceRowBytes(type, columns) - used));
  if (apart.count == 0) {
    std::memcpy(row, block, static_cast<size_t>(used));
    return;
  }
  const int64_t rest = apart.first == 0 ? apart.count : 0;
  for (int64_t i = 0; i < blocks; ++i, block += format.bytes) {
    std::memcpy(row + i * together, block + rest, static_cast<size_t>(together));
    std::byte* of_block = scales + i * apart.there;
    if (apart.there == apart.count) {
      std::memcpy(of_block, block + apart.first, static_cast<size_t>(apart.count));
    } else {
      UnpackScales(block + apart.first, of_block);
    }
  }
}

}  // namespace midscope::kernels::cuda
