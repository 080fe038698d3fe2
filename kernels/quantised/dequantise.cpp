// SPDX-License-Identifier: MIT
#include "kernels/quantised/dequantise.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/check.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantised/dequantise.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/quantised/block_formats-inl.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

template <class Format, int64_t kPart, class Out>
HWY_INLINE void StorePart(const uint8_t* at, const typename Format::Header& header, int64_t group,
                          Out* to) {
  const Part part = Format::template Get<kPart>(at, header, group);
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) StoreFloats(D(), part.v[v], to + v * kLanes);
}

template <class Format, class Out, int64_t... kPart>
HWY_INLINE void StoreUnit(const uint8_t* at, Out* to,
                          std::integer_sequence<int64_t, kPart...> /*group*/) {
  const typename Format::Header header = Format::Read(at);
  for (int64_t group = 0; group < Format::kParts / Format::kGroup; ++group) {
    (StorePart<Format, kPart>(at, header, group,
                              to + (group * Format::kGroup + kPart) * kPartElements),
     ...);
  }
}

template <class Format, class Out>
void Store(const uint8_t* at, int64_t elements, Out* to) {
  constexpr auto kParts = std::make_integer_sequence<int64_t, Format::kGroup>();
  for (; elements >= kUnitElements<Format>; elements -= kUnitElements<Format>) {
    StoreUnit<Format>(at, to, kParts);
    at += kUnitBytes<Format>;
    to += kUnitElements<Format>;
  }
  if constexpr (Format::kElements == 1) {
    uint8_t padded[kUnitBytes<Format>] = {};
    Out values[kUnitElements<Format>];
    std::memcpy(padded, at, static_cast<size_t>(elements * Format::kBytes));
    StoreUnit<Format>(padded, values, kParts);
    std::memcpy(to, values, static_cast<size_t>(elements) * sizeof(Out));
  }
}

}  // namespace blocks

void StoreFloat32(BlockType type, const uint8_t* from, int64_t elements, float* out) {
  blocks::VisitFormat(
      type, [=](auto format) HWY_ATTR { blocks::Store<decltype(format)>(from, elements, out); });
}

void StoreBFloat16(BlockType type, const uint8_t* from, int64_t elements, BFloat16* out) {
  blocks::VisitFormat(
      type, [=](auto format) HWY_ATTR { blocks::Store<decltype(format)>(from, elements, out); });
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(StoreFloat32);
HWY_EXPORT(StoreBFloat16);

std::span<const BlockFormat> BlockFormats() {
  namespace blocks = HWY_NAMESPACE::blocks;
  static constexpr auto kFormats =
      blocks::DescribeFormats(blocks::NumberFormats(), blocks::SmallFormats(),
                              blocks::SuperFormats(), blocks::CodeBookFormats());
  return kFormats;
}

std::optional<BlockFormat> FindBlockFormat(uint32_t type) {
  for (const BlockFormat& format : BlockFormats()) {
    if (static_cast<uint32_t>(format.type) == type) return format;
  }
  return std::nullopt;
}

BlockType BlockTypeOf(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32:
      break;
    case Dtype::kBFloat16:
      return BlockType::kBF16;
    case Dtype::kFloat16:
      return BlockType::kF16;
  }
  return BlockType::kF32;
}

namespace {

// Checks the arguments in debug builds; in a release build, an unknown type leaves `out` unchanged.
void CheckBlocks(BlockType type, int64_t elements) {
  [[maybe_unused]] const auto format = FindBlockFormat(static_cast<uint32_t>(type));
  MIDSCOPE_KERNEL_CHECK(format.has_value());
  MIDSCOPE_KERNEL_CHECK_GE(elements, 0);
  MIDSCOPE_KERNEL_CHECK_EQ(elements % format->elements, 0);
}

}  // namespace

void Dequantise(BlockType type, const void* blocks, int64_t elements, float* out) {
  CheckBlocks(type, elements);
  HWY_DYNAMIC_DISPATCH(StoreFloat32)
  (type, static_cast<const uint8_t*>(blocks), elements, out);
}

void DequantiseToBFloat16(BlockType type, const void* blocks, int64_t elements, BFloat16* out) {
  CheckBlocks(type, elements);
  if (type == BlockType::kBF16) {
    std::memcpy(out, blocks, static_cast<size_t>(elements) * sizeof(BFloat16));
    return;
  }
  HWY_DYNAMIC_DISPATCH(StoreBFloat16)
  (type, static_cast<const uint8_t*>(blocks), elements, out);
}

// Not vectorised: models run in float16 only on GPUs, which dequantise by themselves; this function
// is only for matrices that stay in host memory.
void DequantiseToFloat16(BlockType type, const void* blocks, int64_t elements, Float16* out) {
  CheckBlocks(type, elements);
  if (type == BlockType::kF16) {
    std::memcpy(out, blocks, static_cast<size_t>(elements) * sizeof(Float16));
    return;
  }
  constexpr int64_t kAtOnce = 2048;  // a whole number of blocks in every format
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  float values[kAtOnce];
  for (int64_t first = 0; first < elements; first += kAtOnce) {
    const int64_t count = std::min(kAtOnce, elements - first);
    Dequantise(type, static_cast<const std::byte*>(blocks) + first / format.elements * format.bytes,
               count, values);
    for (int64_t i = 0; i < count; ++i) out[first + i] = ToFloat16(values[i]);
  }
}

namespace {

void DequantiseRow(const BlockMatrix& matrix, int64_t row, Dtype dtype, void* out) {
  const std::byte* from = matrix.Row(row);
  const int64_t at = row * matrix.columns;
  switch (dtype) {
    case Dtype::kFloat32:
      Dequantise(matrix.type, from, matrix.columns, static_cast<float*>(out) + at);
      break;
    case Dtype::kBFloat16:
      DequantiseToBFloat16(matrix.type, from, matrix.columns, static_cast<BFloat16*>(out) + at);
      break;
    case Dtype::kFloat16:
      DequantiseToFloat16(matrix.type, from, matrix.columns, static_cast<Float16*>(out) + at);
      break;
  }
}

}  // namespace

void DequantiseRows(const BlockMatrix& matrix, Dtype dtype, void* out, const Executor& executor) {
  CheckBlocks(matrix.type, matrix.columns);
  if (matrix.columns <= 0) return;
  executor.For(matrix.rows, RowGrain(matrix.columns), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) DequantiseRow(matrix, row, dtype, out);
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
