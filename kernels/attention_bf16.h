// SPDX-License-Identifier: MIT
// Internal: code shared by the attention engines that use AVX-512 BF16. Highway 1.0 lacks its
// products (vdpbf16ps), so functions here set their instruction set by an attribute; other code in
// a file must not be compiled for CPUs other than the machine's.
#pragma once

#include "kernels/attention_engine.h"

#if defined(__x86_64__) && defined(__GNUC__)
// Suppresses a wrong warning of GCC 12: its own intrinsics use undefined operands on purpose.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <numbers>

#define MIDSCOPE_BF16 __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512bf16,fma")))
#define MIDSCOPE_BF16_INLINE MIDSCOPE_BF16 __attribute__((always_inline)) inline

namespace midscope::kernels::bf16 {

inline constexpr int64_t kLanes = 16;

// Returns 2^x with the same approximation as Exp2 of rows-inl.h.
MIDSCOPE_BF16_INLINE __m512 Exp2(__m512 x) {
  const __m512 whole = _mm512_roundscale_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
  const __m512 f = _mm512_sub_ps(x, whole);
  __m512 p = _mm512_set1_ps(1.3276472e-3f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(9.675541e-3f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.550713e-2f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(2.402212e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(6.9314694e-1f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0000001f));
  return _mm512_scalef_ps(p, whole);
}

// Returns the logit for a scaled product q k (both in units of ln 2), after soft cap and ALiBi.
// `distance`: row of the key minus row of the query in lane 0.
MIDSCOPE_BF16_INLINE __m512 ShapeScore(const AttentionBlock& block, __m512 score,
                                       int64_t distance) {
  if (block.softcap != 0) {
    // Computes tanh(x) as 1 - 2 / (1 + e^2x): its absolute error below 2e-7 is small compared with
    // the error of bfloat16 products.
    const __m512 cap = _mm512_set1_ps(block.softcap);
    const __m512 factor = _mm512_set1_ps(2 * std::numbers::log2e_v<float> / block.softcap);
    const __m512 grown = Exp2(_mm512_mul_ps(score, factor));
    const __m512 rest = _mm512_div_ps(_mm512_set1_ps(2 * block.softcap),
                                      _mm512_add_ps(grown, _mm512_set1_ps(1.0f)));
    score = _mm512_sub_ps(cap, rest);
  }
  if (block.slope != 0) {
    const __m512 lanes = _mm512_set_ps(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    const __m512 away = _mm512_sub_ps(_mm512_set1_ps(static_cast<float>(distance)), lanes);
    score = _mm512_fmadd_ps(_mm512_set1_ps(block.slope), away, score);
  }
  return score;
}

// Packs the weights of two keys, 16 queries each, into bfloat16 pairs (even, odd).
MIDSCOPE_BF16_INLINE __m512i Pairs(__m512 even, __m512 odd) {
  const __m512i interleave =
      _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                       21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(interleave, (__m512i)_mm512_cvtne2ps_pbh(odd, even));
}

}  // namespace midscope::kernels::bf16
#endif
