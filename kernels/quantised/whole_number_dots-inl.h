// SPDX-License-Identifier: MIT
// Computes exact sums of products of small integers; see whole_number_product.cpp. Compiled once
// for each instruction set (see rows-inl.h).
#if defined(MIDSCOPE_KERNELS_WHOLE_NUMBER_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_WHOLE_NUMBER_DOTS_INL_H_
#undef MIDSCOPE_KERNELS_WHOLE_NUMBER_DOTS_INL_H_
#else
#define MIDSCOPE_KERNELS_WHOLE_NUMBER_DOTS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "kernels/quantised/block_parts-inl.h"

#if HWY_TARGET == HWY_AVX3_DL && HWY_MAJOR == 1 && HWY_MINOR == 0
// Fixes a mistake of Highway 1.0, which for this target checks CPUs for avx512vnni, but compiles
// for avxvnni. Lists all other features, too, so that Highway's functions are inlined.
#undef HWY_TARGET_STR
#define HWY_TARGET_STR \
  HWY_TARGET_STR_AVX3  \
  ",vpclmulqdq,avx512vbmi,avx512vbmi2,vaes,avxvnni,avx512vnni,avx512bitalg,avx512vpopcntdq"
#endif

// VNNI multiplies a lane's 8-bit or 16-bit numbers and adds the products in one instruction, for
// which Highway 1.0 has no function. The other x86 targets add two 8-bit products in 16 bits with
// saturation, and two 16-bit products in 32 bits.
#if HWY_TARGET == HWY_AVX3_DL
#define MIDSCOPE_WHOLE_SUMS 1
#define MIDSCOPE_WHOLE_PAIRS 0
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_SSE4
#define MIDSCOPE_WHOLE_SUMS 0
#define MIDSCOPE_WHOLE_PAIRS 1
#else
#define MIDSCOPE_WHOLE_SUMS 0
#define MIDSCOPE_WHOLE_PAIRS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

// KeepOrder prevents compilers from reordering additions to a tree, which would need the products
// of all steps at once; these do not fit the registers.
#if HWY_TARGET == HWY_AVX3
HWY_INLINE __m512i PairProducts(__m512i a, __m512i b) { return _mm512_maddubs_epi16(a, b); }
HWY_INLINE __m512i PairSums(__m512i a, __m512i b) { return _mm512_madd_epi16(a, b); }
HWY_INLINE __m512i Add16(__m512i a, __m512i b) { return _mm512_add_epi16(a, b); }
HWY_INLINE void KeepOrder(__m512i& a) { asm volatile("" : "+v"(a)); }
HWY_INLINE __m512i Magnitudes(__m512i a) { return _mm512_abs_epi8(a); }
HWY_INLINE __m512i WithSigns(__m512i a, __m512i signs) {
  return _mm512_mask_sub_epi8(a, _mm512_movepi8_mask(signs), _mm512_setzero_si512(), a);
}
#elif HWY_TARGET == HWY_AVX2
HWY_INLINE __m256i PairProducts(__m256i a, __m256i b) { return _mm256_maddubs_epi16(a, b); }
HWY_INLINE __m256i PairSums(__m256i a, __m256i b) { return _mm256_madd_epi16(a, b); }
HWY_INLINE __m256i Add16(__m256i a, __m256i b) { return _mm256_add_epi16(a, b); }
HWY_INLINE void KeepOrder(__m256i& a) { asm volatile("" : "+x"(a)); }
HWY_INLINE __m256i Magnitudes(__m256i a) { return _mm256_abs_epi8(a); }
HWY_INLINE __m256i WithSigns(__m256i a, __m256i signs) { return _mm256_sign_epi8(a, signs); }
#elif HWY_TARGET == HWY_SSE4
HWY_INLINE __m128i PairProducts(__m128i a, __m128i b) { return _mm_maddubs_epi16(a, b); }
HWY_INLINE __m128i PairSums(__m128i a, __m128i b) { return _mm_madd_epi16(a, b); }
HWY_INLINE __m128i Add16(__m128i a, __m128i b) { return _mm_add_epi16(a, b); }
HWY_INLINE void KeepOrder(__m128i& a) { asm volatile("" : "+x"(a)); }
HWY_INLINE __m128i Magnitudes(__m128i a) { return _mm_abs_epi8(a); }
HWY_INLINE __m128i WithSigns(__m128i a, __m128i signs) { return _mm_sign_epi8(a, signs); }
#endif

// Sums of (weight - offset) * x for kRows rows of x and kOuts vectors of outputs, in steps of four
// bytes of each row of x. In Dots8, a step has four unsigned weights, at most kLargest, and four
// numbers -127 .. 127 of x.
template <int32_t kLargest, int kRows, int kOuts>
struct Dots8 {
  static constexpr int kTileRows = kRows;
  static constexpr int kTileOuts = kOuts;
  VI sums[kRows][kOuts];

  // Whether weights are multiplied as signed numbers, so that two products fit 16 bits: needed if
  // weights exceed 127. Otherwise they are multiplied as stored, and offset * sum of x is
  // subtracted.
  static constexpr bool kAsSigned = MIDSCOPE_WHOLE_PAIRS && kLargest > 127;
  // Number of pairs of products whose sum fits 16 bits.
  static constexpr int kPairs = kAsSigned                          ? 1
                                : 32767 / (2 * 127 * kLargest) < 1 ? 1
                                                                   : 32767 / (2 * 127 * kLargest);

  HWY_INLINE void Start(int r, int32_t offset, int32_t sum_of_x) {
    const hn::RebindToSigned<D> di;
    const VI first = kAsSigned || offset == 0 ? hn::Zero(di) : hn::Set(di, -offset * sum_of_x);
#pragma GCC unroll 4
    for (int o = 0; o < kOuts; ++o) sums[r][o] = first;
  }

  // Adds the products of row r of x and vector o of outputs.
#if MIDSCOPE_WHOLE_SUMS
  HWY_INLINE void AddOne(int /*step*/, bool /*last*/, VI weight, VI x, int r, int o) {
    sums[r][o] = VI{_mm512_dpbusd_epi32(sums[r][o].raw, weight.raw, x.raw)};
  }
#elif MIDSCOPE_WHOLE_PAIRS
  HWY_INLINE void AddOne(int step, bool last, VI weight, VI x, int r, int o) {
    VI pair;
    if constexpr (kAsSigned) {
      const hn::RebindToSigned<D> di;
      const VI centred = hn::Xor(weight, hn::Set(di, static_cast<int32_t>(0x80808080u)));
      pair = VI{PairProducts(Magnitudes(centred.raw), WithSigns(x.raw, centred.raw))};
    } else {
      pair = VI{PairProducts(weight.raw, x.raw)};
    }
    pairs_[r][o] = step % kPairs == 0 ? pair : VI{Add16(pairs_[r][o].raw, pair.raw)};
    KeepOrder(pairs_[r][o].raw);
    if (last || step % kPairs == kPairs - 1) {
      const auto ones = hn::Set(hn::Repartition<int16_t, D>(), 1);
      sums[r][o] = hn::Add(sums[r][o], VI{PairSums(pairs_[r][o].raw, ones.raw)});
    }
  }

 private:
  VI pairs_[kRows][kOuts];
#else
  HWY_INLINE void AddOne(int /*step*/, bool /*last*/, VI weight, VI x, int r, int o) {
    const hn::RebindToSigned<D> di;
    const auto byte = hn::Set(di, 255);
    const auto p0 = hn::Mul(hn::And(weight, byte), hn::ShiftRight<24>(hn::ShiftLeft<24>(x)));
    const auto p1 =
        hn::Mul(hn::And(hn::ShiftRight<8>(weight), byte), hn::ShiftRight<24>(hn::ShiftLeft<16>(x)));
    const auto p2 =
        hn::Mul(hn::And(hn::ShiftRight<16>(weight), byte), hn::ShiftRight<24>(hn::ShiftLeft<8>(x)));
    const auto p3 = hn::Mul(hn::And(hn::ShiftRight<24>(weight), byte), hn::ShiftRight<24>(x));
    sums[r][o] = hn::Add(sums[r][o], hn::Add(hn::Add(p0, p1), hn::Add(p2, p3)));
  }
#endif
};

// As Dots8, but a step has two signed weights, with the offset subtracted, and two numbers -32,767
// .. 32,767 of x. Weights are small enough that the sum of a block fits 32 bits.
template <int kRows, int kOuts>
struct Dots16 {
  static constexpr int kTileRows = kRows;
  static constexpr int kTileOuts = kOuts;
  VI sums[kRows][kOuts];

  HWY_INLINE void Start(int r, int32_t /*offset*/, int32_t /*sum_of_x*/) {
    const hn::RebindToSigned<D> di;
#pragma GCC unroll 4
    for (int o = 0; o < kOuts; ++o) sums[r][o] = hn::Zero(di);
  }

#if MIDSCOPE_WHOLE_SUMS
  HWY_INLINE void AddOne(int /*step*/, bool /*last*/, VI weight, VI x, int r, int o) {
    sums[r][o] = VI{_mm512_dpwssd_epi32(sums[r][o].raw, weight.raw, x.raw)};
  }
#elif MIDSCOPE_WHOLE_PAIRS
  HWY_INLINE void AddOne(int /*step*/, bool /*last*/, VI weight, VI x, int r, int o) {
    sums[r][o] = hn::Add(sums[r][o], VI{PairSums(weight.raw, x.raw)});
    KeepOrder(sums[r][o].raw);
  }
#else
  HWY_INLINE void AddOne(int /*step*/, bool /*last*/, VI weight, VI x, int r, int o) {
    const auto low = [](VI v) HWY_ATTR { return hn::ShiftRight<16>(hn::ShiftLeft<16>(v)); };
    const auto high = [](VI v) HWY_ATTR { return hn::ShiftRight<16>(v); };
    const VI product = hn::Add(hn::Mul(low(weight), low(x)), hn::Mul(high(weight), high(x)));
    sums[r][o] = hn::Add(sums[r][o], product);
  }
#endif
};

// Adds the products of one step: weights [kTileOuts * kLanes] and x [kTileRows], four bytes each.
template <class Dots>
HWY_INLINE void AddStep(int step, bool last, const uint8_t* weights, const uint8_t* x, Dots& dots) {
  const hn::RebindToSigned<D> di;
  VI weight[Dots::kTileOuts];
#pragma GCC unroll 4
  for (int o = 0; o < Dots::kTileOuts; ++o) {
    weight[o] = hn::Load(di, reinterpret_cast<const int32_t*>(weights) + o * kLanes);
  }
#pragma GCC unroll 8
  for (int r = 0; r < Dots::kTileRows; ++r) {
    int32_t four;
    std::memcpy(&four, x + r * int64_t{sizeof(four)}, sizeof(four));
    const VI inputs = hn::Set(di, four);
#pragma GCC unroll 4
    for (int o = 0; o < Dots::kTileOuts; ++o) dots.AddOne(step, last, weight[o], inputs, r, o);
  }
}

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#undef MIDSCOPE_WHOLE_SUMS
#undef MIDSCOPE_WHOLE_PAIRS

#endif  // MIDSCOPE_KERNELS_WHOLE_NUMBER_DOTS_INL_H_
