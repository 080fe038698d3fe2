// SPDX-License-Identifier: MIT
// Whole matrices of blocks, row by row.
#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/dequantise_blocks.h"
#include "kernels/row_work.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dequantise_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/quantised_blocks-inl.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

void Narrow(const float* from, int64_t count, BFloat16* to) {
  ForEachVector(
      count, [&](auto d, int64_t i) HWY_ATTR { StoreFloats(d, hn::LoadU(d, from + i), to + i); });
}

template <class Format, int64_t kPart>
HWY_INLINE void NarrowPart(const uint8_t* at, const typename Format::Header& header, int64_t group,
                           BFloat16* to) {
  using namespace quantised;
  const Part part = Format::template Get<kPart>(at, header, group);
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) StoreFloats(D(), part.v[v], to + v * kLanes);
}

template <class Format, int64_t... kPart>
HWY_INLINE void NarrowBlock(const uint8_t* at, BFloat16* to,
                            std::integer_sequence<int64_t, kPart...> /*group*/) {
  const typename Format::Header header = Format::Read(at);
  for (int64_t group = 0; group < Format::kParts / Format::kGroup; ++group) {
    (NarrowPart<Format, kPart>(at, header, group,
                               to + (group * Format::kGroup + kPart) * quantised::kPartElements),
     ...);
  }
}

template <class Format>
int64_t NarrowBlocks(const uint8_t* at, int64_t elements, BFloat16* to) {
  constexpr int64_t kElements = Format::kParts * quantised::kPartElements;
  const int64_t blocks = elements / kElements;
  for (int64_t block = 0; block < blocks; ++block) {
    NarrowBlock<Format>(at + block * Format::kBytes, to + block * kElements,
                        std::make_integer_sequence<int64_t, Format::kGroup>());
  }
  return blocks * kElements;
}

// By way of registers alone. Returns how many elements it has done: none for other formats.
int64_t NarrowElements(BlockType type, const uint8_t* from, int64_t elements, BFloat16* to) {
  using namespace quantised;
  switch (type) {
    case BlockType::kF32:
      return NarrowBlocks<Plain<BlockType::kF32>>(from, elements, to);
    case BlockType::kF16:
      return NarrowBlocks<Plain<BlockType::kF16>>(from, elements, to);
    case BlockType::kQ4_0:
      return NarrowBlocks<Nibbles<false>>(from, elements, to);
    case BlockType::kQ4_1:
      return NarrowBlocks<Nibbles<true>>(from, elements, to);
    case BlockType::kQ8_0:
      return NarrowBlocks<Q80>(from, elements, to);
    case BlockType::kQ4_K:
      return NarrowBlocks<Q45K<false>>(from, elements, to);
    case BlockType::kQ5_K:
      return NarrowBlocks<Q45K<true>>(from, elements, to);
    case BlockType::kQ6_K:
      return NarrowBlocks<Q6K>(from, elements, to);
    case BlockType::kIQ4_NL:
      return NarrowBlocks<IQ4NL>(from, elements, to);
    case BlockType::kIQ4_XS:
      return NarrowBlocks<IQ4XS>(from, elements, to);
    default:
      return 0;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(Narrow);
HWY_EXPORT(NarrowElements);

namespace {

constexpr int64_t kPartElements = 1024;  // whole blocks of any type; stays in the nearest cache

}  // namespace

void NarrowRow(const BlockFormat& format, const std::byte* from, int64_t columns, BFloat16* to) {
  if (format.type == BlockType::kBF16) {
    std::memcpy(to, from, static_cast<size_t>(columns) * sizeof(BFloat16));
    return;
  }
  const int64_t done = HWY_DYNAMIC_DISPATCH(NarrowElements)(
      format.type, reinterpret_cast<const uint8_t*>(from), columns, to);
  alignas(64) float part[kPartElements];
  for (int64_t at = done; at < columns; at += kPartElements) {
    const int64_t count = std::min(kPartElements, columns - at);
    Dequantise(format.type, from + at / format.elements * format.bytes, count, part);
    HWY_DYNAMIC_DISPATCH(Narrow)(part, count, to + at);
  }
}

void DequantiseRows(const BlockMatrix& matrix, Dtype dtype, void* out, const Executor& executor) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(matrix.type));
  if (!format || matrix.columns <= 0) return;
  executor.For(matrix.rows, RowGrain(matrix.columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t at = row * matrix.columns;
      if (dtype == Dtype::kFloat32) {
        Dequantise(matrix.type, matrix.Row(row), matrix.columns, static_cast<float*>(out) + at);
      } else {
        NarrowRow(*format, matrix.Row(row), matrix.columns, static_cast<BFloat16*>(out) + at);
      }
    }
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
