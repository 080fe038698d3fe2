// SPDX-License-Identifier: MIT
#include "kernels/matrix_vector.h"

#include "kernels/check.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/matrix_vector.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// Computes y for kOutputs outputs and kRows rows of x. Reading several weight rows at once keeps
// several memory reads in flight.
template <int kOutputs, int kRows, class T, class Y>
HWY_INLINE void Products(const T* weight, const T* x, int64_t inputs, Y* y, int64_t outputs) {
  const hn::CappedTag<float, 16> d;
  using V = hn::Vec<decltype(d)>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<float, 16>()));
  V sums[kOutputs][kRows];
#pragma GCC unroll 8
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) sums[o][r] = hn::Zero(d);
  }
  int64_t i = 0;
  for (; i + kLanes <= inputs; i += kLanes) {
    V vectors[kRows];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) vectors[r] = LoadFloats(d, x + r * inputs + i);
#pragma GCC unroll 8
    for (int o = 0; o < kOutputs; ++o) {
      const V weights = LoadFloats(d, weight + o * inputs + i);
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) sums[o][r] = hn::MulAdd(weights, vectors[r], sums[o][r]);
    }
  }
  const hn::CappedTag<float, 1> one;
#pragma GCC unroll 8
  for (int o = 0; o < kOutputs; ++o) {
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      float total = hn::GetLane(hn::SumOfLanes(d, sums[o][r]));
      for (int64_t rest = i; rest < inputs; ++rest) {
        total += hn::GetLane(LoadFloats(one, weight + o * inputs + rest)) *
                 hn::GetLane(LoadFloats(one, x + r * inputs + rest));
      }
      StoreFloats(one, hn::Set(one, total), y + r * outputs + o);
    }
  }
}

template <int kOutputs, class T, class Y>
HWY_INLINE void RowProducts(const T* weight, const T* x, int64_t rows, int64_t inputs, Y* y,
                            int64_t outputs) {
  int64_t r = 0;
  // Multiplies four rows at a time; for the second four rows, the weights are in the L1 cache.
  for (; r + 4 <= rows; r += 4) {
    Products<kOutputs, 4>(weight, x + r * inputs, inputs, y + r * outputs, outputs);
  }
  for (; r < rows; ++r) {
    Products<kOutputs, 1>(weight, x + r * inputs, inputs, y + r * outputs, outputs);
  }
}

template <class T, class Y>
void ProductRange(const T* weight, const T* x, int64_t rows, int64_t inputs, int64_t outputs,
                  int64_t begin, int64_t end, Y* y) {
  int64_t o = begin;
  for (; o + 4 <= end; o += 4) {
    RowProducts<4>(weight + o * inputs, x, rows, inputs, y + o, outputs);
  }
  for (; o < end; ++o) RowProducts<1>(weight + o * inputs, x, rows, inputs, y + o, outputs);
}

void ProductsFloat(const float* weight, const float* x, int64_t rows, int64_t inputs,
                   int64_t outputs, int64_t begin, int64_t end, float* y) {
  ProductRange(weight, x, rows, inputs, outputs, begin, end, y);
}
void ProductsBFloat16(const BFloat16* weight, const BFloat16* x, int64_t rows, int64_t inputs,
                      int64_t outputs, int64_t begin, int64_t end, BFloat16* y) {
  ProductRange(weight, x, rows, inputs, outputs, begin, end, y);
}
void ProductsBFloat16ToFloat(const BFloat16* weight, const BFloat16* x, int64_t rows,
                             int64_t inputs, int64_t outputs, int64_t begin, int64_t end,
                             float* y) {
  ProductRange(weight, x, rows, inputs, outputs, begin, end, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(ProductsFloat);
HWY_EXPORT(ProductsBFloat16);
HWY_EXPORT(ProductsBFloat16ToFloat);

namespace {
constexpr int64_t kOutputGrain = 64;
}  // namespace

void MatrixVector(const void* weight, const void* x, int64_t rows, int64_t inputs, int64_t outputs,
                  Dtype dtype, void* y, Dtype y_dtype, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(rows, 1);
  MIDSCOPE_KERNEL_CHECK_LE(rows, kMatrixVectorRows);
  MIDSCOPE_KERNEL_CHECK(y_dtype == dtype || y_dtype == Dtype::kFloat32);
  executor.For(outputs, kOutputGrain, [&](int64_t begin, int64_t end) {
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(ProductsFloat)
      (static_cast<const float*>(weight), static_cast<const float*>(x), rows, inputs, outputs,
       begin, end, static_cast<float*>(y));
    } else if (y_dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(ProductsBFloat16ToFloat)
      (static_cast<const BFloat16*>(weight), static_cast<const BFloat16*>(x), rows, inputs, outputs,
       begin, end, static_cast<float*>(y));
    } else {
      HWY_DYNAMIC_DISPATCH(ProductsBFloat16)
      (static_cast<const BFloat16*>(weight), static_cast<const BFloat16*>(x), rows, inputs, outputs,
       begin, end, static_cast<BFloat16*>(y));
    }
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
