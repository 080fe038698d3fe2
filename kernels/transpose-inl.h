// SPDX-License-Identifier: MIT
// Transposes matrices of 32-bit items in registers. Include it like rows-inl.h, after it.
#if defined(MIDSCOPE_KERNELS_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_TRANSPOSE_INL_H_
#undef MIDSCOPE_KERNELS_TRANSPOSE_INL_H_
#else
#define MIDSCOPE_KERNELS_TRANSPOSE_INL_H_
#endif

#include <cstdint>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

constexpr int64_t kSquare = 4;  // rows and columns that are transposed in registers

// Transposes four vectors of 32-bit lanes: in each group of four lanes, the four vectors are a 4 x
// 4 matrix, which is transposed.
template <class V>
HWY_INLINE void TransposeSquare(V (&rows)[kSquare]) {
  const hn::DFromV<V> d;
  const hn::Repartition<uint64_t, decltype(d)> pairs;
  const auto wide = [&](V v) HWY_ATTR { return hn::BitCast(pairs, v); };
  const auto low01 = wide(hn::InterleaveLower(d, rows[0], rows[1]));
  const auto low23 = wide(hn::InterleaveLower(d, rows[2], rows[3]));
  const auto high01 = wide(hn::InterleaveUpper(d, rows[0], rows[1]));
  const auto high23 = wide(hn::InterleaveUpper(d, rows[2], rows[3]));
  rows[0] = hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23));
  rows[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23));
  rows[2] = hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23));
  rows[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23));
}

// Transposes from [width][steps] into to [steps][width], with row strides `from_stride` and
// `to_stride` in items of 32 bits; `width` must be a multiple of kSquare.
template <class Item>
HWY_INLINE void TransposeItems(const Item* HWY_RESTRICT from, int64_t from_stride, int64_t steps,
                               int64_t width, Item* HWY_RESTRICT to, int64_t to_stride) {
  const hn::FixedTag<Item, kSquare> d;
  for (int64_t row = 0; row < width; row += kSquare) {
    int64_t step = 0;
    for (; step + kSquare <= steps; step += kSquare) {
      hn::Vec<decltype(d)> square[kSquare];
#pragma GCC unroll 4
      for (int64_t r = 0; r < kSquare; ++r)
        square[r] = hn::LoadU(d, from + (row + r) * from_stride + step);
      TransposeSquare(square);
#pragma GCC unroll 4
      for (int64_t r = 0; r < kSquare; ++r)
        hn::StoreU(square[r], d, to + (step + r) * to_stride + row);
    }
    for (; step < steps; ++step) {
      for (int64_t r = 0; r < kSquare; ++r) {
        to[step * to_stride + row + r] = from[(row + r) * from_stride + step];
      }
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_TRANSPOSE_INL_H_
