// SPDX-License-Identifier: MIT
// Computes the product of a strip of rows of x and a panel of outputs in registers; see
// float_product.cpp. Compiled once for each instruction set (see rows-inl.h).
#if defined(MIDSCOPE_KERNELS_FLOAT_TILE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_FLOAT_TILE_INL_H_
#undef MIDSCOPE_KERNELS_FLOAT_TILE_INL_H_
#else
#define MIDSCOPE_KERNELS_FLOAT_TILE_INL_H_
#endif

#include <hwy/cache_control.h>

#include <cstdint>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace float_product {

// Vectors of fixed size, because arrays of vectors (the sums) require it.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
// Register use: kStrip x kVectors sums, two vectors of weights and a number of x: 27 of 32
// registers, or 15 of 16.
constexpr int64_t kVectors = 2;
constexpr int64_t kStrip = HWY_MAX_BYTES >= 64 ? 12 : 6;
constexpr int64_t kPanel = kVectors * kLanes;
// Number of rows that are multiplied together if a strip has no more, as in decoding.
constexpr int64_t kFewRows = 2;

// Floats in a cache line.
constexpr int64_t kLineFloats = 16;
// Number of inputs (steps) whose elements of a strip of x fill whole cache lines.
constexpr int64_t kStepsAtOnce = 8;
static_assert(kStepsAtOnce * kStrip % kLineFloats == 0);

// Adds the products of one input, for kRows rows of x and the panel's outputs, to the sums v.
template <int64_t kRows>
HWY_INLINE void AddStep(const float* HWY_RESTRICT x, const float* HWY_RESTRICT panel,
                        V (&v)[kRows][kVectors]) {
  const D d;
  const V low = hn::Load(d, panel);
  const V high = hn::Load(d, panel + kLanes);
#pragma GCC unroll 12
  for (int64_t r = 0; r < kRows; ++r) {
    const V number = hn::Set(d, x[r]);
    v[r][0] = hn::MulAdd(low, number, v[r][0]);
    v[r][1] = hn::MulAdd(high, number, v[r][1]);
  }
}

// Computes the first kRows rows of sums [kStrip][kPanel]: x [count][kStrip]^T times panel
// [count][kPanel], added to `before` unless kFirst; each sum is one chain of additions in the order
// of the inputs. Meanwhile, prefetches next_x (the next strip of x) and the sums after `before`:
// otherwise, waiting takes a tenth to a quarter of the time, because the CPU's own prefetching
// starts again with every strip.
template <int64_t kRows, bool kFirst>
HWY_INLINE void MultiplyRows(const float* HWY_RESTRICT x, const float* HWY_RESTRICT panel,
                             int64_t count, [[maybe_unused]] const float* next_x,
                             const float* before, float* sums) {
  const D d;
  V v[kRows][kVectors];
#pragma GCC unroll 12
  for (int64_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int64_t i = 0; i < kVectors; ++i)
      v[r][i] = kFirst ? hn::Zero(d) : hn::Load(d, before + r * kPanel + i * kLanes);
  }
  if constexpr (!kFirst && kRows == kStrip) {
    for (int64_t i = 0; i < kStrip * kPanel; i += kLineFloats)
      hwy::Prefetch(before + kStrip * kPanel + i);
  }
  int64_t step = 0;
  for (; step + kStepsAtOnce <= count; step += kStepsAtOnce) {
    if constexpr (kRows == kStrip) {
      for (int64_t i = 0; i < kStepsAtOnce * kStrip; i += kLineFloats)
        hwy::Prefetch(next_x + step * kStrip + i);
    }
#pragma GCC unroll 8
    for (int64_t i = step; i < step + kStepsAtOnce; ++i)
      AddStep(x + i * kStrip, panel + i * kPanel, v);
  }
  for (; step < count; ++step) AddStep(x + step * kStrip, panel + step * kPanel, v);
#pragma GCC unroll 12
  for (int64_t r = 0; r < kRows; ++r) {
#pragma GCC unroll 2
    for (int64_t i = 0; i < kVectors; ++i) hn::Store(v[r][i], d, sums + r * kPanel + i * kLanes);
  }
}

// Multiplies the first `rows` rows of a strip by a panel.
template <bool kFirst>
HWY_INLINE void MultiplyStrip(const float* x, const float* panel, int64_t rows, int64_t count,
                              const float* next_x, const float* before, float* sums) {
  if (rows <= kFewRows)
    return MultiplyRows<kFewRows, kFirst>(x, panel, count, next_x, before, sums);
  MultiplyRows<kStrip, kFirst>(x, panel, count, next_x, before, sums);
}

}  // namespace float_product
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_FLOAT_TILE_INL_H_
