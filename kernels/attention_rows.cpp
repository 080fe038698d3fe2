// SPDX-License-Identifier: MIT
// Attention weights of a few query rows, and what they make of the values. Bound by reading keys
// and values once, so work is cut along the keys; the cuts are fixed, so that sums do not depend on
// the number of threads.
#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention.h"
#include "kernels/key_edits.h"
#include "kernels/key_sets.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"

#ifndef MIDSCOPE_KERNELS_ATTENTION_ROWS_ONCE
#define MIDSCOPE_KERNELS_ATTENTION_ROWS_ONCE
namespace midscope::kernels {

constexpr int64_t kKeyChunk = 256;  // keys in a unit of work

// One unit's share of AttentionWeights: query heads that read the same rotated keys, and a range of
// keys.
struct LogitUnit {
  const AttentionShape& shape;
  const ConstHeads& k;
  const float* queries;      // [head, row, head_dim]: rotated, times the logit scale
  const float* far_queries;  // the same, as they meet far keys; null: all keys are near
  int64_t near;              // keys that a row sees from near
  const KeySet& keys;
  int64_t begin;
  int64_t end;
  float* key;      // [head_dim]: working memory
  float* weights;  // [row, head, key]
};

struct ValueUnit {
  const AttentionShape& shape;
  const ConstHeads& v;
  const float* weights;  // [row, head, key]
  int64_t key_value_head;
  int64_t begin;
  int64_t end;
  float* sums;  // [head of the group, row, head_dim]
};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

HWY_INLINE float Dot(const float* HWY_RESTRICT a, const float* HWY_RESTRICT b, int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum0 = hn::Zero(d);
  auto sum1 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= count; i += 2 * lanes) {
    sum0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), sum0);
    sum1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), sum1);
  }
  float total = hn::GetLane(hn::SumOfLanes(d, hn::Add(sum0, sum1)));
  for (; i < count; ++i) total += a[i] * b[i];
  return total;
}

// Logits of one key for rows [first_row, last_row) of the call, both by the given positions.
template <class In>
HWY_INLINE void KeyLogits(const LogitUnit& unit, const In* row_of_key, int64_t key,
                          const RotaryView& table, const float* queries, int64_t first_row,
                          int64_t last_row) {
  if (first_row >= last_row) return;
  const AttentionShape& shape = unit.shape;
  const int64_t at = key * table.pairs;
  RotateRow(row_of_key, shape.head_dim, table.cos ? table.cos + at : nullptr,
            table.cos ? table.sin + at : nullptr, table.pairs, 1.0f, unit.key);
  for (int64_t row = first_row; row < last_row; ++row) {
    for (const int64_t head : unit.keys.heads) {
      const float* query = queries + (head * shape.query_rows + row) * shape.head_dim;
      unit.weights[(row * shape.heads + head) * shape.key_rows + key] =
          Dot(query, unit.key, shape.head_dim);
    }
  }
}

template <class In>
void LogitsAs(const LogitUnit& unit) {
  const AttentionShape& shape = unit.shape;
  const In* rows =
      static_cast<const In*>(unit.k.data) + unit.keys.key_value_head * unit.k.head_stride;
  for (int64_t key = unit.begin; key < unit.end; ++key) {
    const In* row_of_key = rows + key * unit.k.row_stride;
    const int64_t first_far =
        unit.far_queries
            ? std::clamp<int64_t>(key + unit.near - shape.first_query, 0, shape.query_rows)
            : shape.query_rows;
    KeyLogits(unit, row_of_key, key, unit.keys.table, unit.queries, 0, first_far);
    KeyLogits(unit, row_of_key, key, unit.keys.far, unit.far_queries, first_far, shape.query_rows);
  }
}

void Logits(const LogitUnit& unit) {
  if (unit.k.dtype == Dtype::kFloat32) return LogitsAs<float>(unit);
  LogitsAs<BFloat16>(unit);
}

// Caps `count` logits and adds ALiBi's bias; the first belongs to a key `distance` rows after the
// query (0 or less).
void ShapeRow(float* row, int64_t count, float softcap, float slope, int64_t distance) {
  if (softcap != 0) {
    ForEachVector(count, [&](auto d, int64_t i) HWY_ATTR {
      const auto cap = hn::Set(d, softcap);
      hn::StoreU(hn::Mul(cap, Tanh(d, hn::Div(hn::LoadU(d, row + i), cap))), d, row + i);
    });
  }
  if (slope == 0) return;
  ForEachVector(count, [&](auto d, int64_t i) HWY_ATTR {
    const auto away = hn::Iota(d, static_cast<float>(distance + i));
    hn::StoreU(hn::MulAdd(hn::Set(d, slope), away, hn::LoadU(d, row + i)), d, row + i);
  });
}

// Turns the first `visible` of `count` logits into weights, the rest into 0.
void SoftmaxRow(float* row, int64_t visible, int64_t count) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  float max = row[0];
  int64_t i = 0;
  if (visible >= lanes) {
    auto maxima = hn::LoadU(d, row);
    for (i = lanes; i + lanes <= visible; i += lanes)
      maxima = hn::Max(maxima, hn::LoadU(d, row + i));
    max = hn::GetLane(hn::MaxOfLanes(d, maxima));
  }
  for (; i < visible; ++i) max = std::max(max, row[i]);
  auto sums = hn::Zero(d);
  for (i = 0; i + lanes <= visible; i += lanes) {
    const auto weight = Exp(d, hn::Sub(hn::LoadU(d, row + i), hn::Set(d, max)));
    sums = hn::Add(sums, weight);
    hn::StoreU(weight, d, row + i);
  }
  float sum = hn::GetLane(hn::SumOfLanes(d, sums));
  const hn::CappedTag<float, 1> one;
  for (; i < visible; ++i) {
    row[i] = hn::GetLane(Exp(one, hn::Set(one, row[i] - max)));
    sum += row[i];
  }
  ForEachVector(visible, [&](auto tag, int64_t at) HWY_ATTR {
    hn::StoreU(hn::Div(hn::LoadU(tag, row + at), hn::Set(tag, sum)), tag, row + at);
  });
  std::fill(row + visible, row + count, 0.0f);
}

// sum[i] = sum over keys of weights[key] * values[key * stride + i], for kVectors vectors from i
// on, keys in order. Weights of 0 belong to keys beyond the causal limit, or are too small to
// matter.
template <int kVectors, class D, class In>
HWY_INLINE void SumOverKeys(D d, const float* HWY_RESTRICT weights, const In* HWY_RESTRICT values,
                            int64_t stride, int64_t keys, float* HWY_RESTRICT sum) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  for (int64_t key = 0; key < keys; ++key) {
    if (weights[key] == 0.0f) continue;
    const auto weight = hn::Set(d, weights[key]);
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v)
      sums[v] = hn::MulAdd(weight, LoadFloats(d, values + key * stride + v * lanes), sums[v]);
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, sum + v * lanes);
}

template <class In>
void AddValuesAs(const ValueUnit& unit) {
  const AttentionShape& shape = unit.shape;
  const int64_t group = shape.heads / shape.key_value_heads;
  const In* rows = static_cast<const In*>(unit.v.data) + unit.key_value_head * unit.v.head_stride +
                   unit.begin * unit.v.row_stride;
  const int64_t keys = unit.end - unit.begin;
  const hn::CappedTag<float, 16> wide;
  const hn::CappedTag<float, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(wide));
  constexpr int64_t kAtOnce = 4;
  const int64_t block = kAtOnce * lanes;
  for (int64_t member = 0; member < group; ++member) {
    const int64_t head = unit.key_value_head * group + member;
    for (int64_t row = 0; row < shape.query_rows; ++row) {
      const float* weights =
          unit.weights + (row * shape.heads + head) * shape.key_rows + unit.begin;
      float* sum = unit.sums + (member * shape.query_rows + row) * shape.head_dim;
      int64_t i = 0;
      for (; i + block <= shape.head_dim; i += block)
        SumOverKeys<kAtOnce>(wide, weights, rows + i, unit.v.row_stride, keys, sum + i);
      for (; i + lanes <= shape.head_dim; i += lanes)
        SumOverKeys<1>(wide, weights, rows + i, unit.v.row_stride, keys, sum + i);
      for (; i < shape.head_dim; ++i)
        SumOverKeys<1>(one, weights, rows + i, unit.v.row_stride, keys, sum + i);
    }
  }
}

void AddValueRows(const ValueUnit& unit) {
  if (unit.v.dtype == Dtype::kFloat32) return AddValuesAs<float>(unit);
  AddValuesAs<BFloat16>(unit);
}

// to [count] = sum of `parts` rows of `count`, `stride` apart, in order; rounded to `dtype`.
void SumParts(const float* from, int64_t parts, int64_t stride, int64_t count, Dtype dtype,
              void* to, int64_t offset) {
  ForEachVector(count, [&](auto d, int64_t i) HWY_ATTR {
    auto sum = hn::LoadU(d, from + i);
    for (int64_t part = 1; part < parts; ++part) {
      sum = hn::Add(sum, hn::LoadU(d, from + part * stride + i));
    }
    if (dtype == Dtype::kFloat32) {
      StoreFloats(d, sum, static_cast<float*>(to) + offset + i);
    } else {
      StoreFloats(d, sum, static_cast<BFloat16*>(to) + offset + i);
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(Logits);
HWY_EXPORT(ShapeRow);
HWY_EXPORT(SoftmaxRow);
HWY_EXPORT(AddValueRows);
HWY_EXPORT(SumParts);

namespace {

struct QueryTag {};
struct KeyTag {};
struct PartTag {};

// queries [head, row, head_dim] float32: rotated by `tables` [head] and scaled.
void RotateQueries(const AttentionShape& shape, const ConstHeads& q, const HeadPositions& positions,
                   std::span<const RotaryView> tables, float* queries) {
  for (int64_t head = 0; head < shape.heads; ++head) {
    const auto h = static_cast<size_t>(head);
    float* to = queries + head * shape.query_rows * shape.head_dim;
    ConstHeads one = q;
    const int64_t offset = head * q.head_stride * SizeOf(q.dtype);
    one.data = static_cast<const char*>(q.data) + offset;
    Rotate(one, shape.query_rows, 1, shape.head_dim, tables[h], shape.first_query,
           {to, Dtype::kFloat32, shape.head_dim, shape.head_dim});
    const float scale = positions.scale[h] / positions.Temperature(head);
    for (int64_t i = 0; i < shape.query_rows * shape.head_dim; ++i) to[i] *= scale;
  }
}

// Calls step(key) for the keys of `range` from `first` to `last`.
template <class Range, class Step>
void ForSeenKeys(const Range& range, int64_t first, int64_t last, Step&& step) {
  const int64_t end = std::min(range.end, last + 1);
  for (int64_t key = std::max(range.begin, first); key < end; ++key) step(key);
}

// Turns one head's logits, row [key_rows], of the query at absolute row `position` into weights.
void FinishRow(const AttentionShape& shape, const HeadPositions& positions, int64_t position,
               int64_t head, float* row) {
  const int64_t first = FirstVisibleKey(shape, position);
  const int64_t visible = position + 1 - first;
  const float temperature = positions.Temperature(head);
  const float slope =
      positions.alibi_slopes.empty() ? 0.0f : positions.alibi_slopes[static_cast<size_t>(head)];
  if (shape.softcap != 0 || slope != 0) {
    HWY_DYNAMIC_DISPATCH(ShapeRow)
    (row + first, visible, shape.softcap / temperature, slope / temperature, first - position);
  }
  for (const KeyFactor& keys : positions.factors) {
    if (!keys.renormalised || !HoldsFor(keys, head)) continue;
    const float change = std::log(keys.factor);
    ForSeenKeys(keys, first, position, [&](int64_t key) { row[key] += change; });
  }
  for (const KeyRange& keys : positions.hidden) {
    if (!HoldsFor(keys, head)) continue;
    ForSeenKeys(keys, first, position, [&](int64_t key) { row[key] = kHiddenLogit; });
  }
  std::fill(row, row + first, 0.0f);
  HWY_DYNAMIC_DISPATCH(SoftmaxRow)(row + first, visible, shape.key_rows - first);
  for (const KeyFactor& keys : positions.factors) {
    if (keys.renormalised || !HoldsFor(keys, head)) continue;
    ForSeenKeys(keys, first, position, [&](int64_t key) { row[key] *= keys.factor; });
  }
}

}  // namespace

void AttentionWeights(const AttentionShape& shape, const ConstHeads& q, const ConstHeads& k,
                      const HeadPositions& positions, float* weights, const Executor& executor) {
  CheckAttention(shape, positions);
  if (shape.query_rows <= 0) return;
  BorrowedScratch<QueryTag> query_scratch;
  const int64_t query_floats = shape.heads * shape.query_rows * shape.head_dim;
  const bool has_far =
      positions.far.window > 0 && shape.first_query + shape.query_rows > positions.far.window;
  auto* queries = query_scratch.Get<float>((has_far ? 2 : 1) * query_floats);
  float* far_queries = has_far ? queries + query_floats : nullptr;
  RotateQueries(shape, q, positions, positions.q, queries);
  if (has_far) RotateQueries(shape, q, positions, positions.far.q, far_queries);
  const std::vector<KeySet> sets = FindKeySets(shape, positions);
  const KeyEdits edits(positions);
  const int64_t used_keys = shape.first_query + shape.query_rows;
  const int64_t first_key = FirstVisibleKey(shape, shape.first_query);
  const int64_t chunks = (used_keys - first_key + kKeyChunk - 1) / kKeyChunk;
  // A chunk for all heads, then the next: they read the same rows and rotary tables.
  const auto set_count = static_cast<int64_t>(sets.size());
  executor.For(set_count * chunks, 1, [&](int64_t begin, int64_t end) {
    BorrowedScratch<KeyTag> scratch;
    auto* key = scratch.Get<float>(shape.head_dim);
    for (int64_t unit = begin; unit < end; ++unit) {
      const KeySet& set = sets[static_cast<size_t>(unit % set_count)];
      const int64_t first = first_key + unit / set_count * kKeyChunk;
      const int64_t last = std::min(first + kKeyChunk, used_keys);
      if (edits.HidesAll(first, last)) continue;
      HWY_DYNAMIC_DISPATCH(Logits)
      ({shape, k, queries, far_queries, positions.far.window, set, first, last, key, weights});
    }
  });
  executor.For(shape.query_rows * shape.heads, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      FinishRow(shape, positions, shape.first_query + unit / shape.heads, unit % shape.heads,
                weights + unit * shape.key_rows);
    }
  });
}

void WeightedValues(const AttentionShape& shape, const float* weights, const ConstHeads& v,
                    const Heads& out, const Executor& executor) {
  CheckHeads(shape);
  if (shape.query_rows <= 0) return;
  const int64_t group = shape.heads / shape.key_value_heads;
  const int64_t used_keys = shape.first_query + shape.query_rows;
  const int64_t first_key = FirstVisibleKey(shape, shape.first_query);
  const int64_t chunks = (used_keys - first_key + kKeyChunk - 1) / kKeyChunk;
  const int64_t part_floats = group * shape.query_rows * shape.head_dim;
  BorrowedScratch<PartTag> scratch;
  auto* parts = scratch.Get<float>(shape.key_value_heads * chunks * part_floats);
  executor.For(shape.key_value_heads * chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t chunk = unit / shape.key_value_heads;
      const int64_t head = unit % shape.key_value_heads;
      const int64_t first = first_key + chunk * kKeyChunk;
      HWY_DYNAMIC_DISPATCH(AddValueRows)
      ({shape, v, weights, head, first, std::min(first + kKeyChunk, used_keys),
        parts + (head * chunks + chunk) * part_floats});
    }
  });
  for (int64_t head = 0; head < shape.heads; ++head) {
    for (int64_t row = 0; row < shape.query_rows; ++row) {
      const float* from = parts + head / group * chunks * part_floats +
                          (head % group * shape.query_rows + row) * shape.head_dim;
      HWY_DYNAMIC_DISPATCH(SumParts)
      (from, chunks, part_floats, shape.head_dim, out.dtype, out.data,
       row * out.row_stride + head * out.head_stride);
    }
  }
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
