// SPDX-License-Identifier: MIT
// How rows of GGUF's blocks lie in a GPU's memory: with the bytes of each block that keep the rest
// of it from lying at multiples of 4, 8 or 16, mostly its scale, behind all blocks of the row.
// Threads then read the rest 8 bytes at a time. A block of Q4_0 has 18 bytes; where they lie as in
// the file, 2 can be read at once.
//
//     std::vector<std::byte> row(DeviceRowBytes(type, columns));
//     ArrangeRow(type, columns, row_of_the_file, row.data());
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/dequantise.h"

namespace midscope::kernels::cuda {

// Of a block, from byte `first` on: its beginning or its end.
struct BytesApart {
  int64_t first = 0;
  int64_t count = 0;
};

constexpr BytesApart BytesApartOf(BlockType type) {
  switch (type) {
    case BlockType::kQ4_0:
    case BlockType::kQ5_0:
    case BlockType::kQ8_0:
    case BlockType::kIQ4_NL:
      return {0, 2};  // the step
    case BlockType::kQ4_1:
      return {0, 4};  // and the minimum
    case BlockType::kMXFP4:
      return {0, 1};
    case BlockType::kQ2_K:
      return {80, 4};
    case BlockType::kQ3_K:
      return {96, 14};  // with the scales of 16 elements
    case BlockType::kQ6_K:
      return {208, 2};
    default:
      return {};
  }
}

// From one row to the next, so that each begins at a multiple of 16.
inline int64_t DeviceRowBytes(BlockType type, int64_t columns) {
  constexpr int64_t kAligned = 16;
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  const int64_t bytes = columns / format.elements * format.bytes;
  return (bytes + kAligned - 1) / kAligned * kAligned;
}

// `to` [DeviceRowBytes(type, columns)] becomes the row at `from`; what lies behind its blocks is 0.
inline void ArrangeRow(BlockType type, int64_t columns, const void* from, void* to) {
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  const BytesApart apart = BytesApartOf(type);
  const int64_t blocks = columns / format.elements;
  const int64_t together = format.bytes - apart.count;
  const auto* block = static_cast<const std::byte*>(from);
  auto* row = static_cast<std::byte*>(to);
  std::byte* scales = row + blocks * together;
  const int64_t used = blocks * format.bytes;
  std::memset(row + used, 0, static_cast<size_t>(DeviceRowBytes(type, columns) - used));
  if (apart.count == 0) {
    std::memcpy(row, block, static_cast<size_t>(used));
    return;
  }
  const int64_t rest = apart.first == 0 ? apart.count : 0;
  for (int64_t i = 0; i < blocks; ++i, block += format.bytes) {
    std::memcpy(row + i * together, block + rest, static_cast<size_t>(together));
    std::memcpy(scales + i * apart.count, block + apart.first, static_cast<size_t>(apart.count));
  }
}

}  // namespace midscope::kernels::cuda
