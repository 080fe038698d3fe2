// SPDX-License-Identifier: MIT
// The attention engine for bfloat16 on AVX-512 BF16.
#include "kernels/attention_bf16.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <algorithm>

#include "kernels/instruction_set.h"

namespace midscope::kernels {
namespace {

using bf16::kLanes;
using bf16::Pairs;
using bf16::ShapeScore;

constexpr int64_t kVectors = 3;  // 8 x 3 sums, 3 vectors of queries and 1 key fill the 32 registers
constexpr int64_t kRows = kVectors * kLanes;
constexpr float kHidden = kHiddenLogit;

using Sums = __m512[kTile][kVectors];

// Returns 2^x with relative error below 3e-6, exactly 1 for x = 0. (Weights are rounded to bfloat16
// afterwards, relative error 2^-9.)
MIDSCOPE_BF16_INLINE __m512 Weight(__m512 x) {
  const __m512 f = _mm512_reduce_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
  __m512 p = _mm512_set1_ps(1.34266829e-2f);
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(5.22424765e-2f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.241280198f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(0.693044841f));
  p = _mm512_fmadd_ps(p, f, _mm512_set1_ps(1.0f));
  return _mm512_scalef_ps(p, x);
}

// Computes sums[t][v] += sum over steps of tile[step][t] * vectors[step][v].
MIDSCOPE_BF16_INLINE void MultiplyTile(const uint32_t* tile, const uint32_t* vectors, int64_t steps,
                                       Sums& sums) {
  for (int64_t step = 0; step < steps; ++step) {
    __m512bh queries[kVectors];
    for (int64_t v = 0; v < kVectors; ++v) {
      queries[v] = (__m512bh)_mm512_load_si512(vectors + step * kRows + v * kLanes);
    }
#pragma GCC unroll 8
    for (int64_t t = 0; t < kTile; ++t) {
      const auto scalar = (__m512bh)_mm512_set1_epi32(static_cast<int>(tile[step * kTile + t]));
#pragma GCC unroll 3
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[t][v] = _mm512_dpbf16_ps(sums[t][v], queries[v], scalar);
      }
    }
  }
}

MIDSCOPE_BF16_INLINE void Load(const float* from, Sums& sums) {
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v)
      sums[t][v] = _mm512_load_ps(from + t * kRows + v * kLanes);
  }
}

MIDSCOPE_BF16_INLINE void Store(const Sums& sums, float* to) {
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) _mm512_store_ps(to + t * kRows + v * kLanes, sums[t][v]);
  }
}

// The running softmax of a block's rows, one lane per row. Weights are 2^(logit - base). The base
// of a row is the largest logit of the tile in which it was last raised: weights stay below
// 2^kSlack, and outputs are rarely rescaled. Rows do not affect each other: a row whose base is not
// raised is multiplied by exactly 1.
constexpr float kSlack = 8;
struct Softmax {
  __m512 base[kVectors];   // 0 before the first logit
  __m512 limit[kVectors];  // the base is raised if a logit minus base exceeds it
  __m512 total[kVectors];
};

MIDSCOPE_BF16_INLINE void Begin(const AttentionBlock& block, Softmax& softmax) {
  const bool sink = block.sink != kHidden;
  for (int64_t v = 0; v < kVectors; ++v) {
    softmax.base[v] = _mm512_set1_ps(sink ? block.sink : 0.0f);
    // Without a sink, the first logit that is not hidden raises the base; hidden ones do not.
    softmax.limit[v] = _mm512_set1_ps(sink ? kSlack : kHidden / 2);
    softmax.total[v] = _mm512_set1_ps(block.sink_weight());
  }
}

// Computes logits minus the rows' bases, for a tile of kTile keys from `key` on, with the given
// queries and keys.
template <bool kMasked, bool kShaped>
MIDSCOPE_BF16_INLINE void ScoreTile(const AttentionBlock& block, const void* queries,
                                    const void* keys, int64_t key, const Softmax& softmax,
                                    Sums& sums) {
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      sums[t][v] =
          kShaped ? _mm512_setzero_ps() : _mm512_sub_ps(_mm512_setzero_ps(), softmax.base[v]);
    }
  }
  const auto* tile = static_cast<const uint32_t*>(keys) + key * block.steps;
  MultiplyTile(tile, static_cast<const uint32_t*>(queries), block.steps, sums);
  if (!kMasked && !kShaped) return;
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto lead = static_cast<int>(key + t - block.first_row - v * kLanes);
      if (kShaped) {
        sums[t][v] = _mm512_sub_ps(ShapeScore(block, sums[t][v], lead), softmax.base[v]);
      }
      if (kMasked) {
        __mmask16 visible = _mm512_cmpge_epi32_mask(lanes, _mm512_set1_epi32(lead));
        if (kShaped) {
          const __m512i passed = _mm512_set1_epi32(lead + static_cast<int>(block.window));
          visible = _mm512_mask_cmplt_epi32_mask(visible, lanes, passed);
        }
        sums[t][v] = _mm512_mask_mov_ps(_mm512_set1_ps(kHidden), visible, sums[t][v]);
      }
    }
  }
}

template <bool kShaped>
MIDSCOPE_BF16_INLINE void ScoreKeysBy(const AttentionBlock& block, const void* queries,
                                      const void* keys, int64_t key, const Softmax& softmax,
                                      Sums& sums) {
  // No mask is needed if both the first row (whose last visible key is lowest) and the last row
  // (whose first visible key is highest) see the whole tile.
  const bool masked =
      key + kTile - 1 > block.first_row || (kShaped && key < block.key_count - block.window);
  if (masked) {
    ScoreTile<true, kShaped>(block, queries, keys, key, softmax, sums);
  } else {
    ScoreTile<false, kShaped>(block, queries, keys, key, softmax, sums);
  }
}

// Computes the logits of a tile with near and far positions into scores [kTile][kRows]. A tile that
// is near to some rows and far from others is computed twice.
MIDSCOPE_BF16 __attribute__((noinline)) void ScoreNearAndFar(const AttentionBlock& block,
                                                             int64_t key, const Softmax& softmax,
                                                             float* scores) {
  const bool any_near = block.first_row - (key + kTile - 1) < block.near;
  const bool any_far = block.key_count - 1 - key >= block.near;
  Sums sums;
  if (any_near) {
    ScoreKeysBy<true>(block, block.queries, block.keys, key, softmax, sums);
    Store(sums, scores);
  }
  if (!any_far) return;
  ScoreKeysBy<true>(block, block.far_queries, block.far_keys, key, softmax, sums);
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (int64_t t = 0; t < kTile; ++t) {
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto first_far = static_cast<int>(key + t - block.first_row - v * kLanes + block.near);
      const __mmask16 far = _mm512_cmpge_epi32_mask(lanes, _mm512_set1_epi32(first_far));
      _mm512_mask_store_ps(scores + t * kRows + v * kLanes, far, sums[t][v]);
    }
  }
}

template <bool kShaped>
MIDSCOPE_BF16_INLINE void ScoreKeys(const AttentionBlock& block, int64_t key,
                                    const Softmax& softmax, Sums& sums) {
  if (kShaped && block.far_keys) {
    alignas(64) float scores[kTile * kRows];
    ScoreNearAndFar(block, key, softmax, scores);
    Load(scores, sums);
  } else {
    ScoreKeysBy<kShaped>(block, block.queries, block.keys, key, softmax, sums);
  }
}

MIDSCOPE_BF16_INLINE void AddBias(const float* bias, Sums& sums) {
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v)
      sums[t][v] = _mm512_add_ps(sums[t][v], _mm512_set1_ps(bias[t]));
  }
}

// Raises the bases of rows above their limit by `max`, the largest of a tile's logits, and adjusts
// these logits [kTile][kRows], the totals and the contents of `out` [tiles][kTile][kRows]
// accordingly.
MIDSCOPE_BF16 __attribute__((noinline)) void Raise(const float* max, float* logits,
                                                   Softmax& softmax, int64_t tiles, float* out) {
  __m512 fade[kVectors];
  for (int64_t v = 0; v < kVectors; ++v) {
    const __m512 largest = _mm512_load_ps(max + v * kLanes);
    const __mmask16 raised = _mm512_cmp_ps_mask(largest, softmax.limit[v], _CMP_GT_OQ);
    const __m512 rise = _mm512_maskz_mov_ps(raised, largest);
    // Rows that have seen a key before are rescaled; other rows have nothing to rescale.
    const __mmask16 seen = _mm512_cmp_ps_mask(softmax.limit[v], _mm512_setzero_ps(), _CMP_GT_OQ);
    fade[v] = Weight(_mm512_maskz_sub_ps(seen, _mm512_setzero_ps(), rise));
    softmax.base[v] = _mm512_add_ps(softmax.base[v], rise);
    softmax.limit[v] = _mm512_mask_mov_ps(softmax.limit[v], raised, _mm512_set1_ps(kSlack));
    softmax.total[v] = _mm512_mul_ps(softmax.total[v], fade[v]);
    for (int64_t t = 0; t < kTile; ++t) {
      float* at = logits + t * kRows + v * kLanes;
      _mm512_store_ps(at, _mm512_sub_ps(_mm512_load_ps(at), rise));
    }
  }
  for (int64_t i = 0; i < tiles * kTile; ++i) {
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = out + i * kRows + v * kLanes;
      _mm512_store_ps(at, _mm512_mul_ps(_mm512_load_ps(at), fade[v]));
    }
  }
}

// Computes each row's largest logit in a tile; returns whether one exceeds the row's limit.
MIDSCOPE_BF16_INLINE bool ExceedsLimit(const Sums& sums, const Softmax& softmax,
                                       __m512 (&max)[kVectors]) {
  unsigned above = 0;
#pragma GCC unroll 3
  for (int64_t v = 0; v < kVectors; ++v) {
    max[v] = sums[0][v];
#pragma GCC unroll 8
    for (int64_t t = 1; t < kTile; ++t) max[v] = _mm512_max_ps(max[v], sums[t][v]);
    above |= _mm512_cmp_ps_mask(max[v], softmax.limit[v], _CMP_GT_OQ);
  }
  return above != 0;
}

// Computes the weights 2^logit of a tile as pairs [kTile / 2][kRows] and adds them to the totals.
// Then multiplies the weights by `factors` [kTile] unless null.
MIDSCOPE_BF16_INLINE void Weigh(const Sums& sums, const float* factors, uint32_t* weights,
                                Softmax& softmax) {
#pragma GCC unroll 4
  for (int64_t t = 0; t < kTile; t += 2) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      __m512 even = Weight(sums[t][v]);
      __m512 odd = Weight(sums[t + 1][v]);
      softmax.total[v] = _mm512_add_ps(softmax.total[v], _mm512_add_ps(even, odd));
      if (factors) {
        even = _mm512_mul_ps(even, _mm512_set1_ps(factors[t]));
        odd = _mm512_mul_ps(odd, _mm512_set1_ps(factors[t + 1]));
      }
      _mm512_store_si512(weights + t / 2 * kRows + v * kLanes, Pairs(even, odd));
    }
  }
}

// Computes out [tiles][kTile][kRows] += values x weights for the keys [first, end) of a block:
// values [tile][kKeyBlock / 2][kTile] and weights [kKeyBlock / 2][kRows] pairs.
MIDSCOPE_BF16 __attribute__((noinline)) void AddValues(const uint32_t* values,
                                                       const uint32_t* weights, int64_t first,
                                                       int64_t end, int64_t tiles, float* out) {
  for (int64_t tile = 0; tile < tiles; ++tile) {
    Sums sums;
    Load(out + tile * kTile * kRows, sums);
    MultiplyTile(values + (tile * kKeyBlock + first) / 2 * kTile, weights + first / 2 * kRows,
                 (end - first) / 2, sums);
    Store(sums, out + tile * kTile * kRows);
  }
}

// Processes the keys [begin, begin + kKeyBlock) that the block's rows see: logits, weights, output
// sums.
template <bool kShaped, bool kEdited>
MIDSCOPE_BF16_INLINE void AttendKeys(const AttentionBlock& block, int64_t begin, Softmax& softmax) {
  auto* weights = reinterpret_cast<uint32_t*>(block.scratch);
  const auto* values =
      static_cast<const uint32_t*>(block.values) + begin / 2 * block.value_tiles * kTile;
  float bias[kEdited ? kKeyBlock : 1];
  float factors[kEdited ? kKeyBlock : 1];
  const bool touched =
      kEdited && block.edits->Touches(begin, std::min(begin + kKeyBlock, block.key_count));
  if (touched) block.edits->Fill(begin, kKeyBlock, bias, factors);
  int64_t added = 0;  // number of keys whose values were added to the output
  int64_t keys = 0;
  for (; keys < kKeyBlock && begin + keys < block.key_count; keys += kTile) {
    Sums sums;
    ScoreKeys<kShaped>(block, begin + keys, softmax, sums);
    if (touched) AddBias(bias + keys, sums);
    __m512 max[kVectors];
    if (ExceedsLimit(sums, softmax, max)) {
      AddValues(values, weights, added, keys, block.value_tiles, block.out);
      added = keys;
      // Copies the logits to memory, so that the sums of other tiles stay in registers.
      alignas(64) float logits[kTile * kRows];
      alignas(64) float largest[kRows];
      Store(sums, logits);
      for (int64_t v = 0; v < kVectors; ++v) _mm512_store_ps(largest + v * kLanes, max[v]);
      Raise(largest, logits, softmax, block.value_tiles, block.out);
      Load(logits, sums);
    }
    Weigh(sums, touched ? factors + keys : nullptr, weights + keys / 2 * kRows, softmax);
  }
  AddValues(values, weights, added, keys, block.value_tiles, block.out);
}

template <bool kShaped, bool kEdited>
MIDSCOPE_BF16_INLINE void AttendAs(const AttentionBlock& block) {
  const int64_t out_floats = block.value_tiles * kTile * kRows;
  for (int64_t i = 0; i < out_floats; i += kLanes)
    _mm512_store_ps(block.out + i, _mm512_setzero_ps());
  Softmax softmax;
  Begin(block, softmax);
  for (int64_t begin = block.first_key; begin < block.key_count; begin += kKeyBlock) {
    const int64_t end = std::min(begin + kKeyBlock, block.key_count);
    if (kEdited && block.edits->HidesAll(begin, end)) continue;
    AttendKeys<kShaped, kEdited>(block, begin, softmax);
  }
  for (int64_t i = 0; i < out_floats; i += kRows) {
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = block.out + i + v * kLanes;
      _mm512_store_ps(at, _mm512_div_ps(_mm512_load_ps(at), softmax.total[v]));
    }
  }
}

MIDSCOPE_BF16 void Attend(const AttentionBlock& block) {
  if (block.edits) return AttendAs<true, true>(block);
  if (block.shaped()) return AttendAs<true, false>(block);
  AttendAs<false, false>(block);
}

}  // namespace

const AttentionEngine* BFloat16AttentionEngine() {
  static const AttentionEngine engine = {kRows, 2, kKeyBlock / 2 * kRows, false, Attend};
  return HasBFloat16Products() ? &engine : nullptr;
}

}  // namespace midscope::kernels

#else

namespace midscope::kernels {
const AttentionEngine* BFloat16AttentionEngine() { return nullptr; }
}  // namespace midscope::kernels

#endif
