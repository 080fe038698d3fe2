// SPDX-License-Identifier: MIT
// Dot products of a row with several rows at once, and weighted sums of rows: used on keys and
// values in attention of few query rows. Include it like rows-inl.h, after it.
#if defined(MIDSCOPE_KERNELS_ROW_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_ROW_DOTS_INL_H_
#undef MIDSCOPE_KERNELS_ROW_DOTS_INL_H_
#else
#define MIDSCOPE_KERNELS_ROW_DOTS_INL_H_
#endif

#include <cstdint>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// Vectors of fixed size, because arrays of vectors (the sums) require it.
using DotTag = hn::CappedTag<float, 16>;

// Returns the sum of all 128-bit blocks of the vector v.
template <class D, class V>
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> SumOfBlocks([[maybe_unused]] D d, V v) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumOfBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// Returns the vector (sum of lanes of a, of b, of c, of e). All four sums add lanes in the same
// order.
HWY_INLINE hn::Vec<hn::FixedTag<float, 4>> SumsOfLanes(hn::Vec<DotTag> a, hn::Vec<DotTag> b,
                                                       hn::Vec<DotTag> c, hn::Vec<DotTag> e) {
  const DotTag d;
  const hn::Repartition<double, DotTag> pairs;
  const auto ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto low = hn::InterleaveLower(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  const auto high = hn::InterleaveUpper(pairs, hn::BitCast(pairs, ab), hn::BitCast(pairs, ce));
  return SumOfBlocks(d, hn::Add(hn::BitCast(d, low), hn::BitCast(d, high)));
}

constexpr int64_t kDotRows = 8;

// Computes sums [kDotRows] = x [count] times each of kDotRows rows [row][count]; `count` must be a
// multiple of the number of lanes. A row's sum does not depend on the other rows or its index among
// them.
HWY_INLINE void DotRows(const float* HWY_RESTRICT x, const float* HWY_RESTRICT rows, int64_t count,
                        float* HWY_RESTRICT sums) {
  const DotTag d;
  constexpr int64_t kLanes = hn::MaxLanes(DotTag());
  hn::Vec<DotTag> totals[kDotRows];
#pragma GCC unroll 8
  for (int64_t r = 0; r < kDotRows; ++r) totals[r] = hn::Zero(d);
  for (int64_t i = 0; i < count; i += kLanes) {
    const auto value = hn::LoadU(d, x + i);
#pragma GCC unroll 8
    for (int64_t r = 0; r < kDotRows; ++r)
      totals[r] = hn::MulAdd(value, hn::LoadU(d, rows + r * count + i), totals[r]);
  }
  const hn::FixedTag<float, 4> four;
  hn::StoreU(SumsOfLanes(totals[0], totals[1], totals[2], totals[3]), four, sums);
  hn::StoreU(SumsOfLanes(totals[4], totals[5], totals[6], totals[7]), four, sums + 4);
}

// Computes sums[m * sum_stride + i] += sum over keys of weights[m * weight_stride + key] *
// values[key * stride + i] for kMembers members m and kVectors vectors from i = 0 on, keys in
// order. Does not read keys whose weights are all 0, which may be hidden.
template <int kMembers, int kVectors, class D, class In>
HWY_INLINE void AddWeightedRows(D d, const float* HWY_RESTRICT weights, int64_t weight_stride,
                                const In* HWY_RESTRICT values, int64_t stride, int64_t keys,
                                float* HWY_RESTRICT sums, int64_t sum_stride) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  hn::Vec<D> totals[kMembers][kVectors];
#pragma GCC unroll 4
  for (int m = 0; m < kMembers; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      totals[m][v] = hn::LoadU(d, sums + m * sum_stride + v * kLanes);
  }
  for (int64_t key = 0; key < keys; ++key) {
    bool any = false;
#pragma GCC unroll 4
    for (int m = 0; m < kMembers; ++m) any |= weights[m * weight_stride + key] != 0.0f;
    if (!any) continue;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const auto value = LoadFloats(d, values + key * stride + v * kLanes);
#pragma GCC unroll 4
      for (int m = 0; m < kMembers; ++m) {
        totals[m][v] =
            hn::MulAdd(hn::Set(d, weights[m * weight_stride + key]), value, totals[m][v]);
      }
    }
  }
#pragma GCC unroll 4
  for (int m = 0; m < kMembers; ++m) {
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v)
      hn::StoreU(totals[m][v], d, sums + m * sum_stride + v * kLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_ROW_DOTS_INL_H_
