// SPDX-License-Identifier: MIT
// Vector functions that kernels share, compiled once for each instruction set. Included after
// hwy/highway.h, between HWY_BEFORE_NAMESPACE and the kernel's own code (Highway's -inl convention;
// hence no ordinary include guard).
#if defined(MIDSCOPE_KERNELS_ROWS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_ROWS_INL_H_
#undef MIDSCOPE_KERNELS_ROWS_INL_H_
#else
#define MIDSCOPE_KERNELS_ROWS_INL_H_
#endif

#include <cstdint>

#include "kernels/rotary.h"
#include "kernels/types.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Loads Lanes(d) elements as float32.
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const float* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> LoadFloats(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  const auto bits = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  return hn::BitCast(d, hn::ShiftLeft<16>(bits));
}

// Returns float32 numbers rounded to bfloat16 as by ToBFloat16, in the low 16 bits of each lane.
template <class D>
HWY_INLINE hn::Vec<hn::RebindToUnsigned<D>> RoundedHalves(D /*d*/, hn::Vec<D> value) {
  const hn::RebindToUnsigned<D> d32;
  const auto bits = hn::BitCast(d32, value);
  const auto odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
  const auto rounded = hn::Add(bits, hn::Add(hn::Set(d32, 0x7fff), odd));
  const auto quiet = hn::Or(bits, hn::Set(d32, 0x400000));
  const auto is_nan = hn::RebindMask(d32, hn::IsNaN(value));
  return hn::ShiftRight<16>(hn::IfThenElse(is_nan, quiet, rounded));
}

// Stores Lanes(d) float32 numbers, rounded as by ToBFloat16 if `to` is bfloat16.
template <class D>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> value, float* to) {
  hn::StoreU(value, d, to);
}
template <class D>
HWY_INLINE void StoreFloats(D d, hn::Vec<D> value, BFloat16* to) {
  const hn::Rebind<uint16_t, D> d16;
  hn::StoreU(hn::TruncateTo(d16, RoundedHalves(d, value)), d16, reinterpret_cast<uint16_t*>(to));
}

// Returns float32 numbers as they are after a StoreFloats to type T and a LoadFloats.
template <class T, class D>
HWY_INLINE hn::Vec<D> RoundedTo([[maybe_unused]] D d, hn::Vec<D> value) {
  if constexpr (sizeof(T) == sizeof(BFloat16)) {
    return hn::BitCast(d, hn::ShiftLeft<16>(RoundedHalves(d, value)));
  } else {
    return value;
  }
}

// Calls step(d, i) to process elements i .. i + Lanes(d) - 1 of [0, count): first whole vectors,
// then single elements.
template <class Step>
HWY_INLINE void ForEachVector(int64_t count, Step&& step) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t i = 0;
  for (; i + lanes <= count; i += lanes) step(d, i);
  const hn::CappedTag<float, 1> one;
  for (; i < count; ++i) step(one, i);
}

// Returns 2^f for f in [-1/2, 1/2] by a minimax polynomial of degree 5, with relative error below
// 2.2e-7.
template <class D>
HWY_INLINE hn::Vec<D> Exp2Fraction(D d, hn::Vec<D> f) {
  auto p = hn::Set(d, 1.3276472e-3f);
  p = hn::MulAdd(p, f, hn::Set(d, 9.675541e-3f));
  p = hn::MulAdd(p, f, hn::Set(d, 5.550713e-2f));
  p = hn::MulAdd(p, f, hn::Set(d, 2.402212e-1f));
  p = hn::MulAdd(p, f, hn::Set(d, 6.9314694e-1f));
  return hn::MulAdd(p, f, hn::Set(d, 1.0000001f));
}

// Constant that rounds a number x of -127 .. 127 when added to it, because float32 has no fractions
// from 2^23 on. Due to the additional 127, the last bits of the sum are the exponent bits of
// 2^round(x). It is faster than x86 instructions that round and convert, which matters because the
// softmax takes half as much time as the products of attention.
constexpr float kRoundingShift = 12582912.0f + 127.0f;

// Returns x * 2^n for `shifted` = n + kRoundingShift; 0 if n is -127.
template <class D>
HWY_INLINE hn::Vec<D> TimesPowerOf2(D d, hn::Vec<D> x, hn::Vec<D> shifted) {
  const hn::RebindToSigned<D> di;
  return hn::Mul(x, hn::BitCast(d, hn::ShiftLeft<23>(hn::BitCast(di, shifted))));
}

// Returns 2^x for x < 127.5, relative error below 3e-7; 0 below -126.5, e.g. for -1e30. x must not
// be infinite.
template <class D>
HWY_INLINE hn::Vec<D> Exp2(D d, hn::Vec<D> x) {
  const auto clamped = hn::Max(x, hn::Set(d, -127.0f));
  const auto shift = hn::Set(d, kRoundingShift);
  const auto shifted = hn::Add(clamped, shift);
  return TimesPowerOf2(d, Exp2Fraction(d, hn::Sub(clamped, hn::Sub(shifted, shift))), shifted);
}

// Returns e^x, relative error below 3e-7; clamped to the range of normal float32, and 0 below
// -87.7.
template <class D>
HWY_INLINE hn::Vec<D> Exp(D d, hn::Vec<D> x) {
  // Splits log2(e) into two parts, so that the fraction of x * log2(e) is precise for large x.
  const auto high = hn::Set(d, 1.44269502f);
  const auto low = hn::Set(d, 1.92596303e-8f);
  const auto clamped = hn::Min(hn::Max(x, hn::Set(d, -88.0f)), hn::Set(d, 88.0f));
  const auto shift = hn::Set(d, kRoundingShift);
  const auto shifted = hn::Add(hn::Mul(clamped, high), shift);
  const auto whole = hn::Sub(shifted, shift);
  const auto fraction = hn::MulAdd(clamped, low, hn::MulSub(clamped, high, whole));
  return TimesPowerOf2(d, Exp2Fraction(d, fraction), shifted);
}

// Returns tanh(x), relative error below 4e-7: an odd rational function, as in Eigen's vectorised
// tanh.
template <class D>
HWY_INLINE hn::Vec<D> Tanh(D d, hn::Vec<D> x) {
  // Beyond this limit, tanh(x) rounds to 1 or -1 in float32.
  const auto limit = hn::Set(d, 7.90531110763549805f);
  const auto clamped = hn::Max(hn::Neg(limit), hn::Min(x, limit));
  const auto square = hn::Mul(clamped, clamped);
  auto over = hn::Set(d, -2.76076847742355e-16f);
  over = hn::MulAdd(over, square, hn::Set(d, 2.00018790482477e-13f));
  over = hn::MulAdd(over, square, hn::Set(d, -8.60467152213735e-11f));
  over = hn::MulAdd(over, square, hn::Set(d, 5.12229709037114e-08f));
  over = hn::MulAdd(over, square, hn::Set(d, 1.48572235717979e-05f));
  over = hn::MulAdd(over, square, hn::Set(d, 6.37261928875436e-04f));
  over = hn::MulAdd(over, square, hn::Set(d, 4.89352455891786e-03f));
  auto under = hn::Set(d, 1.19825839466702e-06f);
  under = hn::MulAdd(under, square, hn::Set(d, 1.18534705686654e-04f));
  under = hn::MulAdd(under, square, hn::Set(d, 2.26843463243900e-03f));
  under = hn::MulAdd(under, square, hn::Set(d, 4.89352518554385e-03f));
  return hn::Div(hn::Mul(clamped, over), under);
}

// Rotates one row of one head (RotaryView) from x into out, which may be x, and multiplies it by
// `factor`. If `cos` is null, does not rotate.
template <class In, class Out>
HWY_INLINE void RotateRow(const In* x, int64_t head_dim, const float* cos, const float* sin,
                          int64_t pairs, float factor, Out* out) {
  if (!cos) pairs = 0;
  ForEachVector(pairs, [&](auto d, int64_t i) HWY_ATTR {
    const auto first = hn::Mul(LoadFloats(d, x + i), hn::Set(d, factor));
    const auto second = hn::Mul(LoadFloats(d, x + pairs + i), hn::Set(d, factor));
    const auto c = hn::LoadU(d, cos + i);
    const auto s = hn::LoadU(d, sin + i);
    StoreFloats(d, hn::NegMulAdd(second, s, hn::Mul(first, c)), out + i);
    StoreFloats(d, hn::MulAdd(first, s, hn::Mul(second, c)), out + pairs + i);
  });
  ForEachVector(head_dim - 2 * pairs, [&](auto d, int64_t i) HWY_ATTR {
    const int64_t at = 2 * pairs + i;
    StoreFloats(d, hn::Mul(LoadFloats(d, x + at), hn::Set(d, factor)), out + at);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_ROWS_INL_H_
