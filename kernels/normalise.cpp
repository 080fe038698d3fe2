// SPDX-License-Identifier: MIT
#include "kernels/normalise.h"

#include <cmath>

#include "kernels/check.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/normalise.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

#ifndef MIDSCOPE_KERNELS_NORMALISE_ONCE
#define MIDSCOPE_KERNELS_NORMALISE_ONCE
namespace midscope::kernels {

// Arguments of LayerNorm (update == null) and AddLayerNorm for a range of rows.
struct LayerNormWork {
  void* x;
  const void* update;
  const float* weight;
  const float* bias;
  float epsilon;
  int64_t width;
  Dtype dtype;
  void* out;
  float* mean;
  float* inverse_deviation;
};

struct HeadNormWork {
  ConstHeads x;
  const float* weight;
  float epsilon;
  int64_t heads;
  int64_t head_dim;
  Heads out;
};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// Computes x += update (unless null), rounded to T; returns the sum of squares of the result.
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
  // Uses the vector operation for the remaining elements, too: compilers translate scalar products
  // and sums differently (fused or not) in different copies of this function.
  const hn::CappedTag<float, 1> one;
  auto total = hn::Set(one, hn::GetLane(hn::SumOfLanes(d, sums)));
  for (; i < width; ++i) {
    const auto value = step(one, i);
    total = hn::MulAdd(value, value, total);
  }
  return hn::GetLane(total);
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

// Returns the sum over i = 0 .. width - 1 of term(d, i), one vector or one element at a time.
template <class Term>
HWY_INLINE float SumOver(int64_t width, Term&& term) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sums = hn::Zero(d);
  int64_t i = 0;
  for (; i + lanes <= width; i += lanes) sums = hn::Add(sums, term(d, i));
  float total = hn::GetLane(hn::SumOfLanes(d, sums));
  const hn::CappedTag<float, 1> one;
  for (; i < width; ++i) total += hn::GetLane(term(one, i));
  return total;
}

template <class T>
HWY_INLINE void LayerNormAs(const LayerNormWork& work, int64_t begin, int64_t end) {
  const auto count = static_cast<float>(work.width);
  for (int64_t row = begin; row < end; ++row) {
    T* x = static_cast<T*>(work.x) + row * work.width;
    if (work.update) AddAll(x, static_cast<const T*>(work.update) + row * work.width, work.width);
    const float sum =
        SumOver(work.width, [&](auto d, int64_t i) HWY_ATTR { return LoadFloats(d, x + i); });
    const float mean = sum / count;
    // Sums squared deviations: mean(x^2) - mean^2 would lose precision if the mean is far from 0.
    const float squares = SumOver(work.width, [&](auto d, int64_t i) HWY_ATTR {
      const auto deviation = hn::Sub(LoadFloats(d, x + i), hn::Set(d, mean));
      return hn::Mul(deviation, deviation);
    });
    const float inverse = 1.0f / std::sqrt(squares / count + work.epsilon);
    if (work.mean) work.mean[row] = mean;
    if (work.inverse_deviation) work.inverse_deviation[row] = inverse;
    T* to = static_cast<T*>(work.out) + row * work.width;
    ForEachVector(work.width, [&](auto d, int64_t i) HWY_ATTR {
      const auto deviation = hn::Sub(LoadFloats(d, x + i), hn::Set(d, mean));
      const auto scaled = hn::Mul(deviation, hn::Set(d, inverse));
      const auto offset = work.bias ? hn::LoadU(d, work.bias + i) : hn::Zero(d);
      StoreFloats(d, hn::MulAdd(scaled, hn::LoadU(d, work.weight + i), offset), to + i);
    });
  }
}

void LayerNormRows(const LayerNormWork& work, int64_t begin, int64_t end) {
  if (work.dtype == Dtype::kFloat32) return LayerNormAs<float>(work, begin, end);
  LayerNormAs<BFloat16>(work, begin, end);
}

template <class T>
HWY_INLINE float InverseRms(const T* x, float epsilon, int64_t width) {
  const float squares = SumOver(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto value = LoadFloats(d, x + i);
    return hn::Mul(value, value);
  });
  return 1.0f / std::sqrt(squares / static_cast<float>(width) + epsilon);
}

// Computes the RMS norm of one head, from x [width] into to [width], which may be x.
template <class In, class Out>
HWY_INLINE void NormHead(const In* x, const float* weight, float epsilon, int64_t width, Out* to) {
  const float inverse = InverseRms(x, epsilon, width);
  ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
    const auto scaled = hn::Mul(LoadFloats(d, x + i), hn::Set(d, inverse));
    StoreFloats(d, hn::Mul(scaled, hn::LoadU(d, weight + i)), to + i);
  });
}

template <class In, class Out>
HWY_INLINE void NormHeadsAs(const HeadNormWork& work, int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end; ++row) {
    for (int64_t head = 0; head < work.heads; ++head) {
      const In* x =
          static_cast<const In*>(work.x.data) + row * work.x.row_stride + head * work.x.head_stride;
      Out* to = static_cast<Out*>(work.out.data) + row * work.out.row_stride +
                head * work.out.head_stride;
      NormHead(x, work.weight, work.epsilon, work.head_dim, to);
    }
  }
}

void NormHeads(const HeadNormWork& work, int64_t begin, int64_t end) {
  const bool from_float = work.x.dtype == Dtype::kFloat32;
  if (work.out.dtype == Dtype::kFloat32) {
    if (from_float) return NormHeadsAs<float, float>(work, begin, end);
    return NormHeadsAs<BFloat16, float>(work, begin, end);
  }
  if (from_float) return NormHeadsAs<float, BFloat16>(work, begin, end);
  NormHeadsAs<BFloat16, BFloat16>(work, begin, end);
}

// One function per dtype, because HWY_EXPORT does not support templates.
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

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(NormFloat);
HWY_EXPORT(NormBFloat16);
HWY_EXPORT(AddFloat);
HWY_EXPORT(AddBFloat16);
HWY_EXPORT(LayerNormRows);
HWY_EXPORT(NormHeads);

namespace {

void Norm(void* x, const void* update, const float* weight, float epsilon, int64_t rows,
          int64_t width, Dtype dtype, void* out, float* inverse_rms, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(rows, 0);
  MIDSCOPE_KERNEL_CHECK_GE(width, 1);
  MIDSCOPE_KERNEL_CHECK(weight != nullptr);
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

void NormLayer(const LayerNormWork& work, int64_t rows, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(rows, 0);
  MIDSCOPE_KERNEL_CHECK_GE(work.width, 1);
  MIDSCOPE_KERNEL_CHECK(work.weight != nullptr);
  executor.For(rows, RowGrain(work.width), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(LayerNormRows)(work, begin, end);
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

void LayerNorm(const void* x, const float* weight, const float* bias, float epsilon, int64_t rows,
               int64_t width, Dtype dtype, void* out, float* mean, float* inverse_deviation,
               const Executor& executor) {
  // Without an update, x is only read.
  NormLayer({const_cast<void*>(x), nullptr, weight, bias, epsilon, width, dtype, out, mean,
             inverse_deviation},
            rows, executor);
}

void AddLayerNorm(void* residual, const void* update, const float* weight, const float* bias,
                  float epsilon, int64_t rows, int64_t width, Dtype dtype, void* out, float* mean,
                  float* inverse_deviation, const Executor& executor) {
  NormLayer({residual, update, weight, bias, epsilon, width, dtype, out, mean, inverse_deviation},
            rows, executor);
}

void RmsNormHeads(const ConstHeads& x, const float* weight, float epsilon, int64_t rows,
                  int64_t heads, int64_t head_dim, const Heads& out, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(heads, 1);
  MIDSCOPE_KERNEL_CHECK_GE(head_dim, 1);
  MIDSCOPE_KERNEL_CHECK(heads == 1 || (x.head_stride >= head_dim && out.head_stride >= head_dim));
  const HeadNormWork work{x, weight, epsilon, heads, head_dim, out};
  executor.For(rows, RowGrain(heads * head_dim), [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(NormHeads)(work, begin, end);
  });
}

void Add(void* residual, const void* update, int64_t count, Dtype dtype, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(count, 0);
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

}  // namespace midscope::kernels
#endif  // HWY_ONCE
