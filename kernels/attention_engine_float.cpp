// SPDX-License-Identifier: MIT
// The attention engine in float32, on whatever vectors the CPU has.
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

// Fixed-size vectors only: sums live in arrays.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kVectors = 3;
constexpr int64_t kLanes = hn::MaxLanes(D());
constexpr int64_t kRows = kVectors * kLanes;
// Tile rows whose sums are in registers at once: 24 of 32 registers, or 12 of 16.
constexpr int64_t kPart = HWY_MAX_BYTES >= 64 ? 8 : 4;
constexpr float kHidden = kHiddenLogit;

struct Vectors {
  V v[kVectors];
};

// sums[t][v] += sum over steps of tile[step][t] * vectors[step][v], for kPart rows of the tile.
HWY_INLINE void MultiplyTile(const float* HWY_RESTRICT tile, const float* HWY_RESTRICT vectors,
                             int64_t steps, V (&sums)[kPart][kVectors]) {
  const D d;
  for (int64_t step = 0; step < steps; ++step) {
    V queries[kVectors];
    for (int64_t v = 0; v < kVectors; ++v)
      queries[v] = hn::Load(d, vectors + step * kRows + v * kLanes);
#pragma GCC unroll 8
    for (int64_t t = 0; t < kPart; ++t) {
      const V scalar = hn::Set(d, tile[step * kTile + t]);
#pragma GCC unroll 3
      for (int64_t v = 0; v < kVectors; ++v)
        sums[t][v] = hn::MulAdd(queries[v], scalar, sums[t][v]);
    }
  }
}

// What a product becomes as a logit (in units of ln 2): `distance` is the key's row less that of
// the query in lane 0.
HWY_INLINE V ShapeScore(const AttentionBlock& block, V score, int64_t distance) {
  const D d;
  if (block.softcap != 0) {
    // tanh's argument is in natural units: softcap carries the same factor as the scores.
    const V cap = hn::Set(d, block.softcap);
    score = hn::Mul(cap, Tanh(d, hn::Div(score, cap)));
  }
  if (block.slope != 0) {
    const V away = hn::Sub(hn::Set(d, static_cast<float>(distance)), hn::Iota(d, 0.0f));
    score = hn::MulAdd(hn::Set(d, block.slope), away, score);
  }
  return score;
}

// Scores of kPart keys from `key` on into scores [kPart][kRows]; raises `max` to them.
template <bool kMasked, bool kShaped>
HWY_INLINE void ScoreTile(const AttentionBlock& block, const float* queries, const float* tile,
                          int64_t key, float* HWY_RESTRICT scores, Vectors& max) {
  const D d;
  const hn::RebindToSigned<D> di;
  V sums[kPart][kVectors];
#pragma GCC unroll 8
  for (int64_t t = 0; t < kPart; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) sums[t][v] = hn::Zero(d);
  }
  MultiplyTile(tile, queries, block.steps, sums);
  const auto lanes = hn::Iota(di, 0);
#pragma GCC unroll 8
  for (int64_t t = 0; t < kPart; ++t) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
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

// Adds each key's bias to the scores of a tile; raises `max` to them.
HWY_INLINE void AddBias(const float* HWY_RESTRICT bias, float* HWY_RESTRICT scores, Vectors& max) {
  const D d;
  for (int64_t t = 0; t < kTile; ++t) {
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = scores + t * kRows + v * kLanes;
      const V score = hn::Add(hn::Load(d, at), hn::Set(d, bias[t]));
      max.v[v] = hn::Max(max.v[v], score);
      hn::Store(score, d, at);
    }
  }
}

// Multiplies the weights of each key by its factor.
HWY_INLINE void MultiplyWeights(const float* HWY_RESTRICT factors, int64_t keys,
                                float* HWY_RESTRICT weights) {
  const D d;
  for (int64_t key = 0; key < keys; ++key) {
    if (factors[key] == 1.0f) continue;
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = weights + key * kRows + v * kLanes;
      hn::Store(hn::Mul(hn::Load(d, at), hn::Set(d, factors[key])), d, at);
    }
  }
}

// Scores of a whole tile of keys, by the given queries and keys of the block.
template <bool kShaped>
HWY_INLINE void ScoreKeysBy(const AttentionBlock& block, const void* queries, const void* keys,
                            int64_t key, float* HWY_RESTRICT scores, Vectors& max) {
  const auto* rows = static_cast<const float*>(queries);
  const float* tile = static_cast<const float*>(keys) + key * block.steps;
  // The first row sees the fewest keys ahead and the last the fewest behind: where they see the
  // whole tile, all do.
  const bool masked =
      key + kTile - 1 > block.first_row || (kShaped && key < block.key_count - block.window);
  for (int64_t part = 0; part < kTile; part += kPart) {
    if (masked) {
      ScoreTile<true, kShaped>(block, rows, tile + part, key + part, scores + part * kRows, max);
    } else {
      ScoreTile<false, kShaped>(block, rows, tile + part, key + part, scores + part * kRows, max);
    }
  }
}

// The same where far keys are seen by other positions: a tile that is near to some rows and far
// from others is scored twice.
HWY_NOINLINE void ScoreNearAndFar(const AttentionBlock& block, int64_t key,
                                  float* HWY_RESTRICT scores, Vectors& max) {
  const bool any_near = block.first_row - (key + kTile - 1) < block.near;
  const bool any_far = block.key_count - 1 - key >= block.near;
  HWY_ALIGN float far_scores[kTile * kRows];
  Vectors unselected = max;
  Vectors& side_max = any_near && any_far ? unselected : max;
  if (any_near) ScoreKeysBy<true>(block, block.queries, block.keys, key, scores, side_max);
  if (!any_far) return;
  ScoreKeysBy<true>(block, block.far_queries, block.far_keys, key, any_near ? far_scores : scores,
                    side_max);
  if (!any_near) return;
  const D d;
  const hn::RebindToSigned<D> di;
  for (int64_t t = 0; t < kTile; ++t) {
    for (int64_t v = 0; v < kVectors; ++v) {
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

template <bool kShaped>
HWY_INLINE void ScoreKeys(const AttentionBlock& block, int64_t key, float* HWY_RESTRICT scores,
                          Vectors& max) {
  if (kShaped && block.far_keys) {
    ScoreNearAndFar(block, key, scores, max);
  } else {
    ScoreKeysBy<kShaped>(block, block.queries, block.keys, key, scores, max);
  }
}

// out tile [kTile][kRows] = out * fade + values x weights.
HWY_INLINE void AddValues(const float* HWY_RESTRICT values, const float* HWY_RESTRICT weights,
                          int64_t keys, const Vectors& fade, float* HWY_RESTRICT out) {
  const D d;
  for (int64_t part = 0; part < kTile; part += kPart) {
    V sums[kPart][kVectors];
#pragma GCC unroll 8
    for (int64_t t = 0; t < kPart; ++t) {
#pragma GCC unroll 3
      for (int64_t v = 0; v < kVectors; ++v) {
        sums[t][v] = hn::Mul(hn::Load(d, out + (part + t) * kRows + v * kLanes), fade.v[v]);
      }
    }
    MultiplyTile(values + part, weights, keys, sums);
#pragma GCC unroll 8
    for (int64_t t = 0; t < kPart; ++t) {
#pragma GCC unroll 3
      for (int64_t v = 0; v < kVectors; ++v) {
        hn::Store(sums[t][v], d, out + (part + t) * kRows + v * kLanes);
      }
    }
  }
}

// scores [keys][kRows] become 2^(score - max) and are added to `total`.
HWY_INLINE void Weigh(float* HWY_RESTRICT scores, int64_t keys, const Vectors& max,
                      Vectors& total) {
  const D d;
  for (int64_t key = 0; key < keys; ++key) {
#pragma GCC unroll 3
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = scores + key * kRows + v * kLanes;
      const V weight = Exp2(d, hn::Sub(hn::Load(d, at), max.v[v]));
      total.v[v] = hn::Add(total.v[v], weight);
      hn::Store(weight, d, at);
    }
  }
}

// A row that sees no key of a block, because of its window, weighs the hidden ones evenly; the
// first key that it sees raises its maximum by so much that this fades to exactly 0.
template <bool kShaped, bool kEdited>
HWY_INLINE void AttendAs(const AttentionBlock& block) {
  const D d;
  float* scores = block.scratch;
  float bias[kEdited ? kKeyBlock : 1];
  float factors[kEdited ? kKeyBlock : 1];
  const int64_t out_floats = block.value_tiles * kTile * kRows;
  for (int64_t i = 0; i < out_floats; i += kLanes) hn::Store(hn::Zero(d), d, block.out + i);
  Vectors max;
  Vectors total;
  for (int64_t v = 0; v < kVectors; ++v) {
    max.v[v] = hn::Set(d, kHidden);
    total.v[v] = hn::Zero(d);
  }
  for (int64_t begin = block.first_key; begin < block.key_count; begin += kKeyBlock) {
    const int64_t end = std::min(begin + kKeyBlock, block.key_count);
    if (kEdited && block.edits->HidesAll(begin, end)) continue;
    const bool touched = kEdited && block.edits->Touches(begin, end);
    if (touched) block.edits->Fill(begin, kKeyBlock, bias, factors);
    Vectors block_max = max;
    int64_t keys = 0;
    for (; keys < kKeyBlock && begin + keys < block.key_count; keys += kTile) {
      if (touched) {
        Vectors before_bias = max;
        ScoreKeys<kShaped>(block, begin + keys, scores + keys * kRows, before_bias);
        AddBias(bias + keys, scores + keys * kRows, block_max);
      } else {
        ScoreKeys<kShaped>(block, begin + keys, scores + keys * kRows, block_max);
      }
    }
    Vectors fade;
    for (int64_t v = 0; v < kVectors; ++v) {
      fade.v[v] = Exp2(d, hn::Sub(max.v[v], block_max.v[v]));
      total.v[v] = hn::Mul(total.v[v], fade.v[v]);
    }
    max = block_max;
    Weigh(scores, keys, max, total);
    if (touched) MultiplyWeights(factors, keys, scores);
    const float* values =
        static_cast<const float*>(block.values) + begin * block.value_tiles * kTile;
    for (int64_t tile = 0; tile < block.value_tiles; ++tile) {
      AddValues(values + tile * kKeyBlock * kTile, scores, keys, fade,
                block.out + tile * kTile * kRows);
    }
  }
  for (int64_t i = 0; i < out_floats; i += kRows) {
    for (int64_t v = 0; v < kVectors; ++v) {
      float* at = block.out + i + v * kLanes;
      hn::Store(hn::Div(hn::Load(d, at), total.v[v]), d, at);
    }
  }
}

void AttendFloat(const AttentionBlock& block) {
  if (block.edits) return AttendAs<true, true>(block);
  if (block.shaped()) return AttendAs<true, false>(block);
  AttendAs<false, false>(block);
}

const AttentionEngine* Engine() {
  static constexpr AttentionEngine kEngine = {kRows, 1, kKeyBlock * kRows, AttendFloat};
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
