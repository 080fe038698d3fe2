// SPDX-License-Identifier: MIT
#include "kernels/normalise.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalise.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// x += update (unless null), as rounded to T; returns sum of squares of the sum.
template <class T>
HWY_INLINE float AddAndSquare(T* x, const T* update, int64_t width) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  const auto step = [&](auto tag, int64_t i) HWY_ATTR {
    if (update)
      StoreFloats(tag, hn::Add(LoadFloats(tag, x + i), LoadFloats(tag, update + i)), x + i);
    return LoadFloats(tag, x + i);
  };
  int64_t i = 0;
  for (; i + lanes <= width; i += lanes) {
    const auto value = step(d, i);
    sums = hn::MulAdd(value, value, sums);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, sums));
  const hn::CappedTag<float, 1> one;
  for (; i < width; ++i) {
    const float value = hn::GetLane(step(one, i));
    total += value * value;
  }
  return total;
}

template <class T>
void NormRows(T* x, const T* update, const float* weight, float epsilon, int64_t rows,
              int64_t width, T* out, float* inverse_rms) {
  for (int64_t row = 0; row < rows; ++row) {
    T* at = x + row * width;
    const float squares = AddAndSquare(at, update ? update + row * width : nullptr, width);
    const float inverse = 1.0f / std::sqrt(squares / static_cast<float>(width) + epsilon);
    if (inverse_rms) inverse_rms[row] = inverse;
    T* to = out + row * width;
    ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
      const auto scaled = hn::Mul(LoadFloats(d, at + i), hn::Set(d, inverse));
      StoreFloats(d, hn::Mul(scaled, hn::LoadU(d, weight + i)), to + i);
    });
  }
}

template <class T>
void AddAll(T* residual, const T* update, int64_t count) {
  ForEachVector(count, [&](auto d, int64_t i) HWY_ATTR {
    StoreFloats(d, hn::Add(LoadFloats(d, residual + i), LoadFloats(d, update + i)), residual + i);
  });
}

template <class T>
void SwiGluRows(const T* gate_up, int64_t rows, int64_t width, T* out) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* gates = gate_up + row * 2 * width;
    const T* ups = gates + width;
    T* to = out + row * width;
    ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
      const auto gate = LoadFloats(d, gates + i);
      const auto grown = Exp(d, hn::Neg(gate));
      const auto silu = hn::Div(gate, hn::Add(hn::Set(d, 1.0f), grown));
      StoreFloats(d, hn::Mul(silu, LoadFloats(d, ups + i)), to + i);
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

// One entry a dtype, for HWY_EXPORT takes no templates.
void NormFloat(float* x, const float* update, const float* weight, float epsilon, int64_t rows,
               int64_t width, float* out, float* inverse_rms) {
  NormRows(x, update, weight, epsilon, rows, width, out, inverse_rms);
}
void NormBFloat16(BFloat16* x, const BFloat16* update, const float* weight, float epsilon,
                  int64_t rows, int64_t width, BFloat16* out, float* inverse_rms) {
  NormRows(x, update, weight, epsilon, rows, width, out, inverse_rms);
}
void AddFloat(float* residual, const float* update, int64_t count) {
  AddAll(residual, update, count);
}
void AddBFloat16(BFloat16* residual, const BFloat16* update, int64_t count) {
  AddAll(residual, update, count);
}
void SwiGluFloat(const float* gate_up, int64_t rows, int64_t width, float* out) {
  SwiGluRows(gate_up, rows, width, out);
}
void SwiGluBFloat16(const BFloat16* gate_up, int64_t rows, int64_t width, BFloat16* out) {
  SwiGluRows(gate_up, rows, width, out);
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
HWY_EXPORT(NormFloat);
HWY_EXPORT(NormBFloat16);
HWY_EXPORT(AddFloat);
HWY_EXPORT(AddBFloat16);
HWY_EXPORT(SwiGluFloat);
HWY_EXPORT(SwiGluBFloat16);
HWY_EXPORT(UpdateFloat);
HWY_EXPORT(UpdateBFloat16);

namespace {

// Elements that make a unit of work worth handing to another thread.
constexpr int64_t kGrainElements = 16384;

int64_t RowGrain(int64_t width) {
  return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, width));
}

template <class T>
T* At(void* data, int64_t offset) {
  return static_cast<T*>(data) + offset;
}
template <class T>
const T* At(const void* data, int64_t offset) {
  return data ? static_cast<const T*>(data) + offset : nullptr;
}

void Norm(void* x, const void* update, const float* weight, float epsilon, int64_t rows,
          int64_t width, Dtype dtype, void* out, float* inverse_rms, const Executor& executor) {
  executor.For(rows, RowGrain(width), [&](int64_t begin, int64_t end) {
    const int64_t at = begin * width;
    float* inverse = inverse_rms ? inverse_rms + begin : nullptr;
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(NormFloat)
      (At<float>(x, at), At<float>(update, at), weight, epsilon, end - begin, width,
       At<float>(out, at), inverse);
    } else {
      HWY_DYNAMIC_DISPATCH(NormBFloat16)
      (At<BFloat16>(x, at), At<BFloat16>(update, at), weight, epsilon, end - begin, width,
       At<BFloat16>(out, at), inverse);
    }
  });
}

}  // namespace

void RmsNorm(const void* x, const float* weight, float epsilon, int64_t rows, int64_t width,
             Dtype dtype, void* out, float* inverse_rms, const Executor& executor) {
  // Without an update, x is only read.
  Norm(const_cast<void*>(x), nullptr, weight, epsilon, rows, width, dtype, out, inverse_rms,
       executor);
}

void AddRmsNorm(void* residual, const void* update, const float* weight, float epsilon,
                int64_t rows, int64_t width, Dtype dtype, void* out, float* inverse_rms,
                const Executor& executor) {
  Norm(residual, update, weight, epsilon, rows, width, dtype, out, inverse_rms, executor);
}

void Add(void* residual, const void* update, int64_t count, Dtype dtype, const Executor& executor) {
  executor.For(count, kGrainElements, [&](int64_t begin, int64_t end) {
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(AddFloat)
      (At<float>(residual, begin), At<float>(update, begin), end - begin);
    } else {
      HWY_DYNAMIC_DISPATCH(AddBFloat16)
      (At<BFloat16>(residual, begin), At<BFloat16>(update, begin), end - begin);
    }
  });
}

void SwiGlu(const void* gate_up, int64_t rows, int64_t width, Dtype dtype, void* out,
            const Executor& executor) {
  executor.For(rows, RowGrain(width), [&](int64_t begin, int64_t end) {
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(SwiGluFloat)
      (At<float>(gate_up, begin * 2 * width), end - begin, width, At<float>(out, begin * width));
    } else {
      HWY_DYNAMIC_DISPATCH(SwiGluBFloat16)
      (At<BFloat16>(gate_up, begin * 2 * width), end - begin, width,
       At<BFloat16>(out, begin * width));
    }
  });
}

void RankOneUpdate(const void* x, int64_t x_stride, const float* amount, const float* direction,
                   int64_t rows, int64_t width, Dtype dtype, void* out, int64_t out_stride,
                   const Executor& executor) {
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
