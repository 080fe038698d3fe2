// SPDX-License-Identifier: MIT
// Checks a matrix as stored in a file for infinities and NaN, by loops over integers; memory limits
// the speed.
#include <algorithm>
#include <atomic>
#include <cstring>

#include "kernels/check.h"
#include "kernels/quantised/block_numbers.h"
#include "kernels/quantised/dequantise.h"

namespace midscope::kernels {
namespace {

constexpr int64_t kGrainBytes = 65536;  // minimum bytes of work per thread

// Returns 1 for a number whose exponent bits are all ones, else 0.
template <class Bits>
uint32_t IsSpecial(const std::byte* at, Bits exponent) {
  Bits bits;
  std::memcpy(&bits, at, sizeof(bits));
  return (bits & exponent) == exponent ? 1u : 0u;
}

template <class Bits>
bool NumbersAreFinite(const std::byte* row, int64_t count, Bits exponent) {
  uint32_t special = 0;
  for (int64_t i = 0; i < count; ++i) {
    special |= IsSpecial(row + i * static_cast<int64_t>(sizeof(Bits)), exponent);
  }
  return special == 0;
}

constexpr uint16_t kHalfExponent = 0x7c00;

bool SpreadScalesAreFinite(const std::byte* row, const BlockFormat& format, int64_t blocks) {
  bool special = false;
  for (int64_t block = 0; block < blocks; ++block, row += format.bytes) {
    uint64_t numbers;
    std::memcpy(&numbers, row + format.scales.first, sizeof(numbers));
    special = special || (SpreadHalf(numbers) & kHalfExponent) == kHalfExponent;
  }
  return !special;
}

bool ScalesAreFinite(const std::byte* row, const BlockFormat& format, int64_t blocks) {
  if (format.scales.spread) return SpreadScalesAreFinite(row, format, blocks);
  uint32_t special = 0;
  for (int64_t block = 0; block < blocks; ++block, row += format.bytes) {
    special |= IsSpecial(row + format.scales.first, kHalfExponent);
    if (format.scales.second != kNoScale) {
      special |= IsSpecial(row + format.scales.second, kHalfExponent);
    }
  }
  return special == 0;
}

// Whether no MXFP4 exponent in a row makes the largest value of a block (6) overflow float32.
bool ExponentsAreFinite(const std::byte* row, const BlockFormat& format, int64_t blocks) {
  constexpr auto kLargest = std::byte{252};
  bool special = false;
  for (int64_t block = 0; block < blocks; ++block, row += format.bytes)
    special = special || *row > kLargest;
  return !special;
}

bool RowIsFinite(const std::byte* row, const BlockFormat& format, int64_t columns) {
  switch (format.type) {
    case BlockType::kF32:
      return NumbersAreFinite<uint32_t>(row, columns, 0x7f800000);
    case BlockType::kBF16:
      return NumbersAreFinite<uint16_t>(row, columns, 0x7f80);
    case BlockType::kF16:
      return NumbersAreFinite<uint16_t>(row, columns, 0x7c00);
    case BlockType::kMXFP4:
      return ExponentsAreFinite(row, format, columns / format.elements);
    default:
      return ScalesAreFinite(row, format, columns / format.elements);
  }
}

}  // namespace

bool AllFinite(const BlockMatrix& matrix, const Executor& executor) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(matrix.type));
  MIDSCOPE_KERNEL_CHECK(format.has_value());
  if (!format) return false;
  MIDSCOPE_KERNEL_CHECK_EQ(matrix.columns % format->elements, 0);
  const int64_t bytes = std::max<int64_t>(1, matrix.columns / format->elements * format->bytes);
  std::atomic<bool> finite{true};
  executor.For(
      matrix.rows, std::max<int64_t>(1, kGrainBytes / bytes), [&](int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end && finite.load(std::memory_order_relaxed); ++row) {
          if (!RowIsFinite(matrix.Row(row), *format, matrix.columns)) finite = false;
        }
      });
  return finite;
}

}  // namespace midscope::kernels
