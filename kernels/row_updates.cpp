// SPDX-License-Identifier: MIT
// Implements AddBias and RankOneUpdate of normalise.h.
#include "kernels/check.h"
#include "kernels/normalise.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/row_updates.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

template <class T>
void BiasRows(T* x, int64_t x_stride, const float* bias, int64_t rows, int64_t width) {
  for (int64_t row = 0; row < rows; ++row) {
    T* to = x + row * x_stride;
    ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
      StoreFloats(d, hn::Add(LoadFloats(d, to + i), hn::LoadU(d, bias + i)), to + i);
    });
  }
}

template <class T>
void UpdateRows(const T* x, int64_t x_stride, const float* amount, const float* direction,
                int64_t rows, int64_t width, T* out, int64_t out_stride) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* from = x + row * x_stride;
    T* to = out + row * out_stride;
    ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
      StoreFloats(d,
                  hn::NegMulAdd(hn::Set(d, amount[row]), hn::LoadU(d, direction + i),
                                LoadFloats(d, from + i)),
                  to + i);
    });
  }
}

// One function per dtype, because HWY_EXPORT does not support templates.
void BiasFloat(float* x, int64_t x_stride, const float* bias, int64_t rows, int64_t width) {
  BiasRows(x, x_stride, bias, rows, width);
}
void BiasBFloat16(BFloat16* x, int64_t x_stride, const float* bias, int64_t rows, int64_t width) {
  BiasRows(x, x_stride, bias, rows, width);
}
void UpdateFloat(const float* x, int64_t x_stride, const float* amount, const float* direction,
                 int64_t rows, int64_t width, float* out, int64_t out_stride) {
  UpdateRows(x, x_stride, amount, direction, rows, width, out, out_stride);
}
void UpdateBFloat16(const BFloat16* x, int64_t x_stride, const float* amount,
                    const float* direction, int64_t rows, int64_t width, BFloat16* out,
                    int64_t out_stride) {
  UpdateRows(x, x_stride, amount, direction, rows, width, out, out_stride);
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(BiasFloat);
HWY_EXPORT(BiasBFloat16);
HWY_EXPORT(UpdateFloat);
HWY_EXPORT(UpdateBFloat16);

void AddBias(void* x, int64_t x_stride, const float* bias, int64_t rows, int64_t width, Dtype dtype,
             const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(x_stride, width);
  executor.For(rows, RowGrain(width), [&](int64_t begin, int64_t end) {
    const int64_t at = begin * x_stride;
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(BiasFloat)(At<float>(x, at), x_stride, bias, end - begin, width);
    } else {
      HWY_DYNAMIC_DISPATCH(BiasBFloat16)(At<BFloat16>(x, at), x_stride, bias, end - begin, width);
    }
  });
}

void RankOneUpdate(const void* x, int64_t x_stride, const float* amount, const float* direction,
                   int64_t rows, int64_t width, Dtype dtype, void* out, int64_t out_stride,
                   const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(x_stride, width);
  MIDSCOPE_KERNEL_CHECK_GE(out_stride, width);
  executor.For(rows, RowGrain(width), [&](int64_t begin, int64_t end) {
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(UpdateFloat)
      (At<float>(x, begin * x_stride), x_stride, amount + begin, direction, end - begin, width,
       At<float>(out, begin * out_stride), out_stride);
    } else {
      HWY_DYNAMIC_DISPATCH(UpdateBFloat16)
      (At<BFloat16>(x, begin * x_stride), x_stride, amount + begin, direction, end - begin, width,
       At<BFloat16>(out, begin * out_stride), out_stride);
    }
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
