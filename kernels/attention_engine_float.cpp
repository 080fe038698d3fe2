// SPDX-License-Identifier: MIT
// The attention engine in float32, compiled for each instruction set.
#include "kernels/attention_engine.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_engine_float.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

// Vectors of fixed size, because arrays of vectors (the sums) require it.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kVectors = 3;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int64_t kRows = kVectors * kLanes;
// Number of tile rows whose sums are in registers at once, for blocks with kUsed vectors of
// queries; sums take up to 24 of 32 registers, or 12 of 16.
template <int64_t kUsed>
constexpr int64_t kPart = HWY_MAX_BYTES >= 64 || kUsed == 1 ? 8 : 4;
constexpr float kHidden = kHiddenLogit;

// One float32 per query, in kUsed vectors.
template <int64_t kUsed>
struct Vectors {
  V v[kUsed];
};

#if HWY_TARGET == HWY_AVX2 && defined(__x86_64__) && defined(__GNUC__)
// MultiplyTile for 4 x 3 sums in inline assembly: 12 sums, 3 vectors of queries and a scalar fill
// the 16 registers. Compilers reload queries for each product, which took a third longer, because
// CPUs load no more vectors per cycle than they multiply.
HWY_INLINE void MultiplyFullTile(const float* tile, const float* vectors, int64_t steps,
                                 V (&sums)[4][3]) {
  if (steps == 0) return;
#define MIDSCOPE_TILE_ROW(offset, a, b, c) \
  "vbroadcastss " #offset                  \
  "(%[tile]), %%ymm15\n"                   \
  "vfmadd231ps %%ymm12, %%ymm15, %[" #a    \
  "]\n"                                    \
  "vfmadd231ps %%ymm13, %%ymm15, %[" #b    \
  "]\n"                                    \
  "vfmadd231ps %%ymm14, %%ymm15, %[" #c "]\n"
  static_assert(kTile == 8 && kRows == 24);
  asm("1:\n"
      "vmovaps (%[vectors]), %%ymm12\n"
      "vmovaps 32(%[vectors]), %%ymm13\n"
      "vmovaps 64(%[vectors]), %%ymm14\n"
      // clang-format off
      MIDSCOPE_TILE_ROW(0, s00, s01, s02)
      MIDSCOPE_TILE_ROW(4, s10, s11, s12)
      MIDSCOPE_TILE_ROW(8, s20, s21, s22)
      MIDSCOPE_TILE_ROW(12, s30, s31, s32)
      // clang-format on
      "add $96, %[vectors]\n"
      "add $32, %[tile]\n"
      "cmp %[end], %[vectors]\n"
      "jne 1b\n"
      : [tile] "+r"(tile), [vectors] "+r"(vectors), [s00] "+x"(sums[0][0].raw),
        [s01] "+x"(sums[0][1].raw), [s02] "+x"(sums[0][2].raw), [s10] "+x"(sums[1][0].raw),
        [s11] "+x"(sums[1][1].raw), [s12] "+x"(sums[1][2].raw), [s20] "+x"(sums[2][0].raw),
        [s21] "+x"(sums[2][1].raw), [s22] "+x"(sums[2][2].raw), [s30] "+x"(sums[3][0].raw),
        [s31] "+x"(sums[3][1].raw), [s32] "+x"(sums[3][2].raw)
      : [end] "r"(vectors + steps * kRows)
      : "xmm12", "xmm13", "xmm14", "xmm15", "cc", "memory");
#undef MIDSCOPE_TILE_ROW
}
#define MIDSCOPE_TILE_BY_HAND 1
#else
#define MIDSCOPE_TILE_BY_HAND 0
#endif

// Computes sums[t][v] += sum over steps of tile[step][t] * vectors[step][v], for kPart<kUsed> rows
// of the tile.
template <int64_t kUsed>
HWY_INLINE void MultiplyTile(const float* HWY_RESTRICT tile, const float* HWY_RESTRICT vectors,
                             int64_t steps, V (&sums)[kPart<kUsed>][kUsed]) {
#if MIDSCOPE_TILE_BY_HAND
  if constexpr (kUsed == kVectors) return MultiplyFullTile(tile, vectors, steps, sums);
#endif
  const D d;
  for (int64_t step = 0; step < steps; ++step) {
    V queries[kUsed];
    for (int64_t v = 0; v < kUsed; ++v)
      queries[v] = hn::Load(d, vectors + step * kRows + v * kLanes);
#pragma GCC unroll 8
    for (int64_t t = 0; t < kPart<kUsed>; ++t) {
      const V scalar = hn::Set(d, tile[step * kTile + t]);
#pragma GCC unroll 3
      for (int64_t v = 0; v < kUsed; ++v) sums[t][v] = hn::MulAdd(queries[v], scalar, sums[t][v]);
    }
  }
}
#undef MIDSCOPE_TILE_BY_HAND

// Returns the logit for a scaled product q k (both in units of ln 2), after soft cap and ALiBi.
// `distance`: row of the key minus row of the query in lane 0.
HWY_INLINE V ShapeScore(const AttentionBlock& block, V score, int64_t distance) {
  const D d;
  if (block.softcap != 0) {
    // The argument of tanh has no unit, because softcap and scores are both in units of ln 2.
    const V cap = hn::Set(d, block.softcap);
    score = hn::Mul(cap, Tanh(d, hn::Div(score, cap)));
  }
  if (block.slope != 0) {
    const V away = hn::Sub(hn::Set(d, static_cast<float>(distance)), hn::Iota(d, 0.0f));
    score = hn::MulAdd(hn::Set(d, block.slope), away, score);
  }
  return score;
}

// Computes the scores of kPart<kUsed> keys from `key` on into scores [kPart<kUsed>][kRows], and
// raises each row's running maximum `max` to them.
template <int64_t kUsed, bool kMasked, bool kShaped>
HWY_INLINE void ScoreTile(const AttentionBlock& block, const float* queries, const float* tile,
                          int64_t key, float* HWY_RESTRICT scores, Vectors<kUsed>& max) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sums[kPart<kUsed>][kUsed];
#pragma GCC unroll 8
  for (int64_t t = 0; t < kPart<kUsed>; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kUsed; ++v) sums[t][v] = hn::Zero(d);
  }
  MultiplyTile(tile, queries, block.steps, sums);
  const auto lanes = hn::Iota(di, 0);
#pragma GCC unroll 8
  for (int64_t t = 0; t < kPart<kUsed>; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kUsed; ++v) {
      const auto lead = static_cast<int32_t>(key + t - block.first_row - v * kLanes);
      if (kShaped) sums[t][v] = ShapeScore(block, sums[t][v], lead);
      if (kMasked) {
        auto hidden = hn::Gt(hn::Set(di, lead), lanes);
        if (kShaped) {
          const auto last = hn::Set(di, lead + static_cast<int32_t>(block.window) - 1);
          hidden = hn::Or(hidden, hn::Gt(lanes, last));
        }
        sums[t][v] = hn::IfThenElse(hn::RebindMask(d, hidden), hn::Set(d, kHidden), sums[t][v]);
      }
      max.v[v] = hn::Max(max.v[v], sums[t][v]);
      hn::Store(sums[t][v], d, scores + t * kRows + v * kLanes);
    }
  }
}

// Adds each key's bias to the scores of a tile; raises each row's running maximum `max` to them.
template <int64_t kUsed>
HWY_INLINE void AddBias(const float* HWY_RESTRICT bias, float* HWY_RESTRICT scores,
                        Vectors<kUsed>& max) {
  const D d;
  for (int64_t t = 0; t < kTile; ++t) {
    for (int64_t v = 0; v < kUsed; ++v) {
      float* at = scores + t * kRows + v * kLanes;
      const V score = hn::Add(hn::Load(d, at), hn::Set(d, bias[t]));
      max.v[v] = hn::Max(max.v[v], score);
      hn::Store(score, d, at);
    }
  }
}

// Multiplies the weights of each key by the key's factor (KeyFactor).
template <int64_t kUsed>
HWY_INLINE void MultiplyWeights(const float* HWY_RESTRICT factors, int64_t keys,
                                float* HWY_RESTRICT weights) {
  const D d;
  for (int64_t key = 0; key < keys; ++key) {
    if (factors[key] == 1.0f) continue;
    for (int64_t v = 0; v < kUsed; ++v) {
      float* at = weights + key * kRows + v * kLanes;
      hn::Store(hn::Mul(hn::Load(d, at), hn::Set(d, factors[key])), d, at);
    }
  }
}

// Computes the scores of a whole tile of keys, with the given queries and keys of the block.
template <int64_t kUsed, bool kShaped>
HWY_INLINE void ScoreKeysBy(const AttentionBlock& block, const void* queries, const void* keys,
                            int64_t key, float* HWY_RESTRICT scores, Vectors<kUsed>& max) {
  const auto* rows = static_cast<const float*>(queries);
  const float* tile = static_cast<const float*>(keys) + key * block.steps;
  // No mask is needed if both the first row (whose last visible key is lowest) and the last row
  // (whose first visible key is highest) see the whole tile.
  const bool masked =
      key + kTile - 1 > block.first_row || (kShaped && key < block.key_count - block.window);
  for (int64_t part = 0; part < kTile; part += kPart<kUsed>) {
    if (masked) {
      ScoreTile<kUsed, true, kShaped>(block, rows, tile + part, key + part, scores + part * kRows,
                                      max);
    } else {
      ScoreTile<kUsed, false, kShaped>(block, rows, tile + part, key + part, scores + part * kRows,
                                       max);
    }
  }
}

// Computes the scores of a tile with near and far positions. A tile that is near to some rows and
// far from others is computed twice.
template <int64_t kUsed>
HWY_NOINLINE void ScoreNearAndFar(const AttentionBlock& block, int64_t key,
                                  float* HWY_RESTRICT scores, Vectors<kUsed>& max) {
  const bool any_near = block.first_row - (key + kTile - 1) < block.near;
  const bool any_far = block.key_count - 1 - key >= block.near;
  HWY_ALIGN float far_scores[kTile * kRows];
  Vectors<kUsed> unselected = max;
  Vectors<kUsed>& side_max = any_near && any_far ? unselected : max;
  if (any_near) ScoreKeysBy<kUsed, true>(block, block.queries, block.keys, key, scores, side_max);
  if (!any_far) return;
  ScoreKeysBy<kUsed, true>(block, block.far_queries, block.far_keys, key,
                           any_near ? far_scores : scores, side_max);
  if (!any_near) return;
  const D d;
  const hn::RebindToSigned<D> di;
  for (int64_t t = 0; t < kTile; ++t) {
    for (int64_t v = 0; v < kUsed; ++v) {
      const auto lead = static_cast<int32_t>(key + t - block.first_row - v * kLanes);
      const auto last_near = hn::Set(di, lead + static_cast<int32_t>(block.near) - 1);
      const auto far = hn::RebindMask(d, hn::Gt(hn::Iota(di, 0), last_near));
      float* at = scores + t * kRows + v * kLanes;
      const V score =
          hn::IfThenElse(far, hn::Load(d, far_scores + t * kRows + v * kLanes), hn::Load(d, at));
      max.v[v] = hn::Max(max.v[v], score);
      hn::Store(score, d, at);
    }
  }
}

template <int64_t kUsed, bool kShaped>
HWY_INLINE void ScoreKeys(const AttentionBlock& block, int64_t key, float* HWY_RESTRICT scores,
                          Vectors<kUsed>& max) {
  if (kShaped && block.far_keys) {
    ScoreNearAndFar(block, key, scores, max);
  } else {
    ScoreKeysBy<kUsed, kShaped>(block, block.queries, block.keys, key, scores, max);
  }
}

// Computes out = out * fade + values x weights for one tile of the output, [kTile][kRows].
template <int64_t kUsed>
HWY_INLINE void AddValues(const float* HWY_RESTRICT values, const float* HWY_RESTRICT weights,
                          int64_t keys, const Vectors<kUsed>& fade, float* HWY_RESTRICT out) {
  const D d;
  for (int64_t part = 0; part < kTile; part += kPart<kUsed>) {
    V sums[kPart<kUsed>][kUsed];
#pragma GCC unroll 8
    for (int64_t t = 0; t < kPart<kUsed>; ++t) {
#pragma GCC unroll 3
      for (int64_t v = 0; v < kUsed; ++v) {
        sums[t][v] = hn::Mul(hn::Load(d, out + (part + t) * kRows + v * kLanes), fade.v[v]);
      }
    }
    MultiplyTile(values + part, weights, keys, sums);
#pragma GCC unroll 8
    for (int64_t t = 0; t < kPart<kUsed>; ++t) {
#pragma GCC unroll 3
      for (int64_t v = 0; v < kUsed; ++v) {
        hn::Store(sums[t][v], d, out + (part + t) * kRows + v * kLanes);
      }
    }
  }
}

// Replaces scores [keys][kRows] by the weights 2^(score - max) and adds these to `total`.
template <int64_t kUsed>
HWY_INLINE void Weigh(float* HWY_RESTRICT scores, int64_t keys, const Vectors<kUsed>& max,
                      Vectors<kUsed>& total) {
  const D d;
  for (int64_t key = 0; key < keys; ++key) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kUsed; ++v) {
      float* at = scores + key * kRows + v * kLanes;
      const V weight = Exp2(d, hn::Sub(hn::Load(d, at), max.v[v]));
      total.v[v] = hn::Add(total.v[v], weight);
      hn::Store(weight, d, at);
    }
  }
}

// Processes a block of keys. A row that, because of its window, has seen no key yet gives hidden
// keys equal weights; the first key that it sees raises its maximum so far that these weights
// become exactly 0.
template <int64_t kUsed, bool kShaped, bool kEdited>
HWY_INLINE void AttendAs(const AttentionBlock& block) {
  const D d;
  float* scores = block.scratch;
  float bias[kEdited ? kKeyBlock : 1];
  float factors[kEdited ? kKeyBlock : 1];
  const int64_t out_floats = block.value_tiles * kTile * kRows;
  for (int64_t i = 0; i < out_floats; i += kLanes) hn::Store(hn::Zero(d), d, block.out + i);
  Vectors<kUsed> max;
  Vectors<kUsed> total;
  for (int64_t v = 0; v < kUsed; ++v) {
    max.v[v] = hn::Set(d, block.sink);
    total.v[v] = hn::Set(d, block.sink_weight());
  }
  for (int64_t begin = block.first_key; begin < block.key_count; begin += kKeyBlock) {
    const int64_t end = std::min(begin + kKeyBlock, block.key_count);
    if (kEdited && block.edits->HidesAll(begin, end)) continue;
    const bool touched = kEdited && block.edits->Touches(begin, end);
    if (touched) block.edits->Fill(begin, kKeyBlock, bias, factors);
    Vectors<kUsed> block_max = max;
    int64_t keys = 0;
    for (; keys < kKeyBlock && begin + keys < block.key_count; keys += kTile) {
      if (touched) {
        Vectors<kUsed> before_bias = max;
        ScoreKeys<kUsed, kShaped>(block, begin + keys, scores + keys * kRows, before_bias);
        AddBias(bias + keys, scores + keys * kRows, block_max);
      } else {
        ScoreKeys<kUsed, kShaped>(block, begin + keys, scores + keys * kRows, block_max);
      }
    }
    Vectors<kUsed> fade;
    for (int64_t v = 0; v < kUsed; ++v) {
      fade.v[v] = Exp2(d, hn::Sub(max.v[v], block_max.v[v]));
      total.v[v] = hn::Mul(total.v[v], fade.v[v]);
    }
    max = block_max;
    Weigh(scores, keys, max, total);
    if (touched) MultiplyWeights<kUsed>(factors, keys, scores);
    const float* values =
        static_cast<const float*>(block.values) + begin * block.value_tiles * kTile;
    for (int64_t tile = 0; tile < block.value_tiles; ++tile) {
      AddValues(values + tile * kKeyBlock * kTile, scores, keys, fade,
                block.out + tile * kTile * kRows);
    }
  }
  for (int64_t i = 0; i < out_floats; i += kRows) {
    for (int64_t v = 0; v < kUsed; ++v) {
      float* at = block.out + i + v * kLanes;
      hn::Store(hn::Div(hn::Load(d, at), total.v[v]), d, at);
    }
  }
}

void AttendFloat(const AttentionBlock& block) {
  if (block.edits) return AttendAs<kVectors, true, true>(block);
  if (block.shaped()) return AttendAs<kVectors, true, false>(block);
  // Processes only as many vectors as contain existing queries.
  const int64_t rows = block.key_count - block.first_row;
  if (rows <= kLanes) return AttendAs<1, false, false>(block);
  if (rows <= 2 * kLanes) return AttendAs<2, false, false>(block);
  AttendAs<kVectors, false, false>(block);
}

const AttentionEngine* Engine() {
  static constexpr AttentionEngine kEngine = {kRows, 1, kKeyBlock * kRows, false, AttendFloat};
  return &kEngine;
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(Engine);

const AttentionEngine& FloatAttentionEngine() { return *HWY_DYNAMIC_DISPATCH(Engine)(); }

}  // namespace midscope::kernels
#endif  // HWY_ONCE
