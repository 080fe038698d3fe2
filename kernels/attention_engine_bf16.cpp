// SPDX-License-Identifier: MIT
// The attention engine for bfloat16 on AVX-512 BF16.
#include "kernels/attention_bf16.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <algorithm>

#include "kernels/instruction_set.h"

namespace midscope::kernels {
namespace {

using bf16::Exp2;
using bf16::kLanes;
using bf16::Pairs;
using bf16::ShapeScore;

constexpr int64_t kVectors = 3;  // 8 x 3 sums, 3 queries and 1 key fill the 32 registers
constexpr int64_t kRows = kVectors * kLanes;
constexpr float kHidden = kHiddenLogit;

// sums[t][v] += sum over steps of tile[step][t] * vectors[step][v].
MIDSCOPE_BF16_INLINE void MultiplyTile(const uint32_t* tile, const uint32_t* vectors, int64_t steps,
                                       __m512 (&sums)[kTile][kVectors]) {
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

// Scores of the tile of keys from `key` on, by the given queries and keys of the block, into scores
// [kTile][kRows]; raises `max` to them.
template <bool kMasked, bool kShaped>
MIDSCOPE_BF16_INLINE void ScoreTile(const AttentionBlock& block, const void* queries,
                                    const void* keys, int64_t key, float* scores,
                                    __m512 (&max)[kVectors]) {
  __m512 sums[kTile][kVectors] = {};
  const auto* tile = static_cast<const uint32_t*>(keys) + key * block.steps;
  MultiplyTile(tile, static_cast<const uint32_t*>(queries), block.steps, sums);
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto lead = static_cast<int>(key + t - block.first_row - v * kLanes);
      if (kShaped) sums[t][v] = ShapeScore(block, sums[t][v], lead);
      if (kMasked) {
        __mmask16 visible = _mm512_cmpge_epi32_mask(lanes, _mm512_set1_epi32(lead));
        if (kShaped) {
          const __m512i passed = _mm512_set1_epi32(lead + static_cast<int>(block.window));
          visible = _mm512_mask_cmplt_epi32_mask(visible, lanes, passed);
        }
        sums[t][v] = _mm512_mask_mov_ps(_mm512_set1_ps(kHidden), visible, sums[t][v]);
      }
      max[v] = _mm512_max_ps(max[v], sums[t][v]);
      _mm512_store_ps(scores + t * kRows + v * kLanes, sums[t][v]);
    }
  }
}

template <bool kShaped>
MIDSCOPE_BF16_INLINE void ScoreKeysBy(const AttentionBlock& block, const void* queries,
                                      const void* keys, int64_t key, float* scores,
                                      __m512 (&max)[kVectors]) {
  // The first row sees the fewest keys ahead and the last the fewest behind: where they see the
  // whole tile, all do.
  const bool masked =
      key + kTile - 1 > block.first_row || (kShaped && key < block.key_count - block.window);
  if (masked) {
    ScoreTile<true, kShaped>(block, queries, keys, key, scores, max);
  } else {
    ScoreTile<false, kShaped>(block, queries, keys, key, scores, max);
  }
}

// The same where far keys are seen by other positions: a tile that is near to some rows and far
// from others is scored twice.
MIDSCOPE_BF16 __attribute__((noinline)) void ScoreNearAndFar(const AttentionBlock& block,
                                                             int64_t key, float* scores,
                                                             __m512 (&max)[kVectors]) {
  const bool any_near = block.first_row - (key + kTile - 1) < block.near;
  const bool any_far = block.key_count - 1 - key >= block.near;
  alignas(64) float far_scores[kTile * kRows];
  __m512 unselected[kVectors] = {max[0], max[1], max[2]};
  auto& side_max = any_near && any_far ? unselected : max;
  if (any_near) ScoreKeysBy<true>(block, block.queries, block.keys, key, scores, side_max);
  if (!any_far) return;
  ScoreKeysBy<true>(block, block.far_queries, block.far_keys, key, any_near ? far_scores : scores,
                    side_max);
  if (!any_near) return;
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  for (int64_t t = 0; t < kTile; ++t) {
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto first_far = static_cast<int>(key + t - block.first_row - v * kLanes + block.near);
      const __mmask16 far = _mm512_cmpge_epi32_mask(lanes, _mm512_set1_epi32(first_far));
      float* at = scores + t * kRows + v * kLanes;
      const __m512 score = _mm512_mask_mov_ps(_mm512_load_ps(at), far,
                                              _mm512_load_ps(far_scores + t * kRows + v * kLanes));
      max[v] = _mm512_max_ps(max[v], score);
      _mm512_store_ps(at, score);
    }
  }
}

template <bool kShaped>
MIDSCOPE_BF16_INLINE void ScoreKeys(const AttentionBlock& block, int64_t key, float* scores,
                                    __m512 (&max)[kVectors]) {
  if (kShaped && block.far_keys) {
    ScoreNearAndFar(block, key, scores, max);
  } else {
    ScoreKeysBy<kShaped>(block, block.queries, block.keys, key, scores, max);
  }
}

// Adds each key's bias to the scores of a tile; raises `max` to them.
MIDSCOPE_BF16_INLINE void AddBias(const float* bias, float* scores, __m512 (&max)[kVectors]) {
  for (int64_t t = 0; t < kTile; ++t) {
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = scores + t * kRows + v * kLanes;
      const __m512 score = _mm512_add_ps(_mm512_load_ps(at), _mm512_set1_ps(bias[t]));
      max[v] = _mm512_max_ps(max[v], score);
      _mm512_store_ps(at, score);
    }
  }
}

// scores [keys][kRows] into weights [keys / 2][kRows] pairs = 2^(score - max), added to `total`.
// With `factors` [keys] (else null), weights are multiplied by them after that.
MIDSCOPE_BF16_INLINE void Weigh(const float* scores, int64_t keys, const __m512 (&max)[kVectors],
                                const float* factors, uint32_t* weights,
                                __m512 (&total)[kVectors]) {
  for (int64_t key = 0; key < keys; key += 2) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      const float* at = scores + key * kRows + v * kLanes;
      __m512 even = Exp2(_mm512_sub_ps(_mm512_load_ps(at), max[v]));
      __m512 odd = Exp2(_mm512_sub_ps(_mm512_load_ps(at + kRows), max[v]));
      total[v] = _mm512_add_ps(total[v], _mm512_add_ps(even, odd));
      if (factors) {
        even = _mm512_mul_ps(even, _mm512_set1_ps(factors[key]));
        odd = _mm512_mul_ps(odd, _mm512_set1_ps(factors[key + 1]));
      }
      _mm512_store_si512(weights + key / 2 * kRows + v * kLanes, Pairs(even, odd));
    }
  }
}

// out tile [kTile][kRows] = out * fade + values x weights.
MIDSCOPE_BF16_INLINE void AddValues(const uint32_t* values, const uint32_t* weights, int64_t keys,
                                    const __m512 (&fade)[kVectors], float* out) {
  __m512 sums[kTile][kVectors];
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      sums[t][v] = _mm512_mul_ps(_mm512_load_ps(out + t * kRows + v * kLanes), fade[v]);
    }
  }
  MultiplyTile(values, weights, keys / 2, sums);
#pragma GCC unroll 8
  for (int64_t t = 0; t < kTile; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      _mm512_store_ps(out + t * kRows + v * kLanes, sums[t][v]);
    }
  }
}

// A row that sees no key of a block, because of its window, weighs the hidden ones evenly; the
// first key that it sees raises its maximum by so much that this fades to exactly 0.
template <bool kShaped, bool kEdited>
MIDSCOPE_BF16_INLINE void AttendAs(const AttentionBlock& block) {
  float* scores = block.scratch;
  auto* weights = reinterpret_cast<uint32_t*>(block.scratch + kKeyBlock * kRows);
  float bias[kEdited ? kKeyBlock : 1];
  float factors[kEdited ? kKeyBlock : 1];
  const int64_t out_floats = block.value_tiles * kTile * kRows;
  for (int64_t i = 0; i < out_floats; i += kLanes)
    _mm512_store_ps(block.out + i, _mm512_setzero_ps());
  __m512 max[kVectors];
  __m512 total[kVectors];
  for (int64_t v = 0; v < kVectors; ++v) {
    max[v] = _mm512_set1_ps(block.sink);
    total[v] = _mm512_set1_ps(block.sink_weight());
  }
  for (int64_t begin = block.first_key; begin < block.key_count; begin += kKeyBlock) {
    const int64_t end = std::min(begin + kKeyBlock, block.key_count);
    if (kEdited && block.edits->HidesAll(begin, end)) continue;
    const bool touched = kEdited && block.edits->Touches(begin, end);
    if (touched) block.edits->Fill(begin, kKeyBlock, bias, factors);
    __m512 block_max[kVectors] = {max[0], max[1], max[2]};
    int64_t keys = 0;
    for (; keys < kKeyBlock && begin + keys < block.key_count; keys += kTile) {
      float* tile_scores = scores + keys * kRows;
      __m512 before_bias[kVectors] = {max[0], max[1], max[2]};
      auto& tile_max = touched ? before_bias : block_max;
      ScoreKeys<kShaped>(block, begin + keys, tile_scores, tile_max);
      if (touched) AddBias(bias + keys, tile_scores, block_max);
    }
    __m512 fade[kVectors];
    for (int64_t v = 0; v < kVectors; ++v) {
      fade[v] = Exp2(_mm512_sub_ps(max[v], block_max[v]));
      max[v] = block_max[v];
      total[v] = _mm512_mul_ps(total[v], fade[v]);
    }
    Weigh(scores, keys, max, touched ? factors : nullptr, weights, total);
    const auto* values =
        static_cast<const uint32_t*>(block.values) + begin / 2 * block.value_tiles * kTile;
    for (int64_t tile = 0; tile < block.value_tiles; ++tile) {
      AddValues(values + tile * kKeyBlock / 2 * kTile, weights, keys, fade,
                block.out + tile * kTile * kRows);
    }
  }
  for (int64_t i = 0; i < out_floats; i += kRows) {
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = block.out + i + v * kLanes;
      _mm512_store_ps(at, _mm512_div_ps(_mm512_load_ps(at), total[v]));
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
  static const AttentionEngine engine = {kRows, 2, kKeyBlock * kRows * 3 / 2, false, Attend};
  return HasBFloat16Products() ? &engine : nullptr;
}

}  // namespace midscope::kernels

#else

namespace midscope::kernels {
const AttentionEngine* BFloat16AttentionEngine() { return nullptr; }
}  // namespace midscope::kernels

#endif
