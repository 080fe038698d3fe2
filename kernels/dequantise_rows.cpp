// SPDX-License-Identifier: MIT
// Whole matrices of blocks, row by row.
#include <algorithm>
#include <cstring>

#include "kernels/dequantise.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/dequantise_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

void Narrow(const float* from, int64_t count, BFloat16* to) {
  ForEachVector(
      count, [&](auto d, int64_t i) HWY_ATTR { StoreFloats(d, hn::LoadU(d, from + i), to + i); });
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(Narrow);

namespace {

constexpr int64_t kGrainElements = 16384;  // worth handing to another thread
constexpr int64_t kPartElements = 1024;    // whole blocks of any type; stays in the nearest cache

void NarrowRow(const BlockFormat& format, const std::byte* from, int64_t columns, BFloat16* to) {
  if (format.type == BlockType::kBF16) {
    std::memcpy(to, from, static_cast<size_t>(columns) * sizeof(BFloat16));
    return;
  }
  alignas(64) float part[kPartElements];
  for (int64_t at = 0; at < columns; at += kPartElements) {
    const int64_t count = std::min(kPartElements, columns - at);
    Dequantise(format.type, from + at / format.elements * format.bytes, count, part);
    HWY_DYNAMIC_DISPATCH(Narrow)(part, count, to + at);
  }
}

}  // namespace

void DequantiseRows(const BlockMatrix& matrix, Dtype dtype, void* out, const Executor& executor) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(matrix.type));
  if (!format || matrix.columns <= 0) return;
  const int64_t grain = std::max<int64_t>(1, kGrainElements / matrix.columns);
  executor.For(matrix.rows, grain, [&](int64_t begin, int64_t end) {
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
