// SPDX-License-Identifier: MIT
// Implements the activations of normalise.h.
#include "kernels/check.h"
#include "kernels/normalise.h"
#include "kernels/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/activation.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// Returns erf(x), absolute error below 3e-7: an odd rational function, as in Eigen's vectorised
// erf.
template <class D>
HWY_INLINE hn::Vec<D> Erf(D d, hn::Vec<D> x) {
  // From |x| = 4 on, erf(x) rounds to 1 or -1 in float32.
  const auto limit = hn::Set(d, 4.0f);
  const auto clamped = hn::Max(hn::Neg(limit), hn::Min(x, limit));
  const auto square = hn::Mul(clamped, clamped);
  auto over = hn::Set(d, -2.72614225801306e-10f);
  over = hn::MulAdd(over, square, hn::Set(d, 2.77068142495902e-08f));
  over = hn::MulAdd(over, square, hn::Set(d, -2.10102402082508e-06f));
  over = hn::MulAdd(over, square, hn::Set(d, -5.69250639462346e-05f));
  over = hn::MulAdd(over, square, hn::Set(d, -7.34990630326855e-04f));
  over = hn::MulAdd(over, square, hn::Set(d, -2.95459980854025e-03f));
  over = hn::MulAdd(over, square, hn::Set(d, -1.60960333262415e-02f));
  auto under = hn::Set(d, -1.45660718464996e-05f);
  under = hn::MulAdd(under, square, hn::Set(d, -2.13374055278905e-04f));
  under = hn::MulAdd(under, square, hn::Set(d, -1.68282697438203e-03f));
  under = hn::MulAdd(under, square, hn::Set(d, -7.37332916720468e-03f));
  under = hn::MulAdd(under, square, hn::Set(d, -1.42647390514189e-02f));
  return hn::Div(hn::Mul(clamped, over), under);
}

template <ActivationKind kKind, class D>
HWY_INLINE hn::Vec<D> Activated(D d, hn::Vec<D> x) {
  const auto one = hn::Set(d, 1.0f);
  if constexpr (kKind == ActivationKind::kSilu) {
    return hn::Div(x, hn::Add(one, Exp(d, hn::Neg(x))));
  } else if constexpr (kKind == ActivationKind::kGelu) {
    const auto erf = Erf(d, hn::Mul(x, hn::Set(d, 0.707106781f)));
    return hn::Mul(hn::Mul(x, hn::Set(d, 0.5f)), hn::Add(one, erf));
  } else if constexpr (kKind == ActivationKind::kRelu) {
    return hn::Max(x, hn::Zero(d));
  } else if constexpr (kKind == ActivationKind::kSquaredRelu) {
    const auto positive = hn::Max(x, hn::Zero(d));
    return hn::Mul(positive, positive);
  } else {
    // Computes (1 + tanh(u)) / 2 as 1 / (1 + e^-2u), which stays precise if tanh(u) is near -1. The
    // constants are -2 sqrt(2 / pi) and -2 sqrt(2 / pi) * 0.044715.
    const auto square = hn::Mul(x, x);
    const auto inner = hn::MulAdd(square, hn::Set(d, -0.0713548163f), hn::Set(d, -1.59576912f));
    return hn::Div(x, hn::Add(one, Exp(d, hn::Mul(x, inner))));
  }
}

template <ActivationKind kKind, class T>
HWY_INLINE void GatedAs(const T* gate_up, int64_t rows, int64_t width, T* out) {
  for (int64_t row = 0; row < rows; ++row) {
    const T* gates = gate_up + row * 2 * width;
    const T* ups = gates + width;
    T* to = out + row * width;
    ForEachVector(width, [&](auto d, int64_t i) HWY_ATTR {
      const auto activated = Activated<kKind>(d, LoadFloats(d, gates + i));
      StoreFloats(d, hn::Mul(activated, LoadFloats(d, ups + i)), to + i);
    });
  }
}

template <class T>
HWY_INLINE void GatedRows(ActivationKind kind, const T* gate_up, int64_t rows, int64_t width,
                          T* out) {
  switch (kind) {
    case ActivationKind::kSilu:
      return GatedAs<ActivationKind::kSilu>(gate_up, rows, width, out);
    case ActivationKind::kGelu:
      return GatedAs<ActivationKind::kGelu>(gate_up, rows, width, out);
    case ActivationKind::kGeluTanh:
      return GatedAs<ActivationKind::kGeluTanh>(gate_up, rows, width, out);
    case ActivationKind::kRelu:
      return GatedAs<ActivationKind::kRelu>(gate_up, rows, width, out);
    case ActivationKind::kSquaredRelu:
      return GatedAs<ActivationKind::kSquaredRelu>(gate_up, rows, width, out);
  }
}

template <ActivationKind kKind, class T>
HWY_INLINE void PlainAs(const T* x, int64_t count, T* out) {
  ForEachVector(count, [&](auto d, int64_t i) HWY_ATTR {
    StoreFloats(d, Activated<kKind>(d, LoadFloats(d, x + i)), out + i);
  });
}

template <class T>
HWY_INLINE void PlainRows(ActivationKind kind, const T* x, int64_t count, T* out) {
  switch (kind) {
    case ActivationKind::kSilu:
      return PlainAs<ActivationKind::kSilu>(x, count, out);
    case ActivationKind::kGelu:
      return PlainAs<ActivationKind::kGelu>(x, count, out);
    case ActivationKind::kGeluTanh:
      return PlainAs<ActivationKind::kGeluTanh>(x, count, out);
    case ActivationKind::kRelu:
      return PlainAs<ActivationKind::kRelu>(x, count, out);
    case ActivationKind::kSquaredRelu:
      return PlainAs<ActivationKind::kSquaredRelu>(x, count, out);
  }
}

// One function per dtype, because HWY_EXPORT does not support templates.
void GatedFloat(ActivationKind kind, const float* gate_up, int64_t rows, int64_t width,
                float* out) {
  GatedRows(kind, gate_up, rows, width, out);
}
void GatedBFloat16(ActivationKind kind, const BFloat16* gate_up, int64_t rows, int64_t width,
                   BFloat16* out) {
  GatedRows(kind, gate_up, rows, width, out);
}
void PlainFloat(ActivationKind kind, const float* x, int64_t count, float* out) {
  PlainRows(kind, x, count, out);
}
void PlainBFloat16(ActivationKind kind, const BFloat16* x, int64_t count, BFloat16* out) {
  PlainRows(kind, x, count, out);
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(GatedFloat);
HWY_EXPORT(GatedBFloat16);
HWY_EXPORT(PlainFloat);
HWY_EXPORT(PlainBFloat16);

void GatedActivation(ActivationKind kind, const void* gate_up, int64_t rows, int64_t width,
                     Dtype dtype, void* out, const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(rows, 0);
  MIDSCOPE_KERNEL_CHECK_GE(width, 1);
  executor.For(rows, RowGrain(width), [&](int64_t begin, int64_t end) {
    const int64_t from = begin * 2 * width, to = begin * width;
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(GatedFloat)
      (kind, static_cast<const float*>(gate_up) + from, end - begin, width,
       static_cast<float*>(out) + to);
    } else {
      HWY_DYNAMIC_DISPATCH(GatedBFloat16)
      (kind, static_cast<const BFloat16*>(gate_up) + from, end - begin, width,
       static_cast<BFloat16*>(out) + to);
    }
  });
}

void Activate(ActivationKind kind, const void* x, int64_t count, Dtype dtype, void* out,
              const Executor& executor) {
  MIDSCOPE_KERNEL_CHECK_GE(count, 0);
  executor.For(count, kGrainElements, [&](int64_t begin, int64_t end) {
    if (dtype == Dtype::kFloat32) {
      HWY_DYNAMIC_DISPATCH(PlainFloat)
      (kind, static_cast<const float*>(x) + begin, end - begin, static_cast<float*>(out) + begin);
    } else {
      HWY_DYNAMIC_DISPATCH(PlainBFloat16)
      (kind, static_cast<const BFloat16*>(x) + begin, end - begin,
       static_cast<BFloat16*>(out) + begin);
    }
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
