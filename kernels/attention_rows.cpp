// SPDX-License-Identifier: MIT
// Attention weights of few query rows, and the weighted sums of values. Reading keys and values
// limits the speed, so the work is divided along the keys, in parts of fixed size, so that sums do
// not depend on the number of threads.
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "kernels/attention.h"
#include "kernels/key_sets.h"
#include "kernels/parallel.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_rows.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/row_dots-inl.h"
#include "kernels/rows-inl.h"

#ifndef MIDSCOPE_KERNELS_ATTENTION_ROWS_ONCE
#define MIDSCOPE_KERNELS_ATTENTION_ROWS_ONCE
namespace midscope::kernels {

constexpr int64_t kKeyChunk = 128;   // keys per unit of work
constexpr int64_t kValueBlock = 32;  // number of keys whose values fit the L1 cache

// A unit of work of AttentionWeights: a range of keys, for all heads.
struct LogitUnit {
  const AttentionShape& shape;
  const ConstHeads& k;
  int64_t width;         // head_dim, rounded up to whole vectors
  const float* queries;  // [head, row, width]: rotated, times the logit scale; padded with zeros
  const float* far_queries;  // same, rotated for far keys; null: no far keys
  int64_t near;              // number of near keys of a row (FarPositions)
  std::span<const KeySet> sets;
  int64_t begin;
  int64_t end;
  float* work;     // [2 * kBlockKeys * width]
  float* weights;  // [row, head, key]
};

// Number of keys that are rotated at a time.
constexpr int64_t kBlockKeys = 8;

struct ValueUnit {
  const AttentionShape& shape;
  const ConstHeads& v;
  const float* weights;  // [row, head, key]
  int64_t begin;
  int64_t end;
  float* sums;         // [row, head, head_dim]
  int64_t sum_stride;  // head_dim
};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

static_assert(kBlockKeys == kDotRows);

// Rotates `count` keys of a key set, from `key` on, into keys [kBlockKeys, width].
template <class In>
HWY_INLINE void RotateKeys(const LogitUnit& unit, const In* rows, int64_t key, int64_t count,
                           const RotaryView& table, float* keys) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = (key + i) * table.pairs;
    RotateRow(rows + (key + i) * unit.k.row_stride, unit.shape.head_dim,
              table.cos ? table.cos + at : nullptr, table.cos ? table.sin + at : nullptr,
              table.pairs, 1.0f, keys + i * unit.width);
  }
}

// Computes the logits of `count` keys from `key` on, for all query rows and the heads of a key set.
template <class In>
HWY_INLINE void BlockLogits(const LogitUnit& unit, const KeySet& set, int64_t key, int64_t count) {
  const AttentionShape& shape = unit.shape;
  const In* rows = static_cast<const In*>(unit.k.data) + set.key_value_head * unit.k.head_stride;
  float* near_keys = unit.work;
  float* far_keys = unit.work + kBlockKeys * unit.width;
  // first_far(key): index of the first query row for which the key is far.
  const auto first_far = [&](int64_t of_key) {
    return unit.far_queries ? of_key + unit.near - shape.first_query : shape.query_rows;
  };
  const int64_t all_far = first_far(key + count - 1);
  const int64_t some_far = first_far(key);
  if (all_far > 0) RotateKeys(unit, rows, key, count, set.table, near_keys);
  if (some_far < shape.query_rows) RotateKeys(unit, rows, key, count, set.far, far_keys);
  for (int64_t row = 0; row < shape.query_rows; ++row) {
    for (const int64_t head : set.heads) {
      const int64_t query = (head * shape.query_rows + row) * unit.width;
      float near[kBlockKeys];
      float far[kBlockKeys];
      if (row < all_far) DotRows(unit.queries + query, near_keys, unit.width, near);
      if (row >= some_far) DotRows(unit.far_queries + query, far_keys, unit.width, far);
      float* to = unit.weights + (row * shape.heads + head) * shape.key_rows + key;
      if (row < some_far && count == kBlockKeys) {
        std::copy_n(near, kBlockKeys, to);
      } else {
        for (int64_t i = 0; i < count; ++i) to[i] = row < first_far(key + i) ? near[i] : far[i];
      }
    }
  }
}

template <class In>
void LogitsAs(const LogitUnit& unit) {
  // Zeros for missing keys, and for elements beyond head_dim.
  std::fill_n(unit.work, 2 * kBlockKeys * unit.width, 0.0f);
  for (int64_t key = unit.begin; key < unit.end; key += kBlockKeys) {
    const int64_t count = std::min(kBlockKeys, unit.end - key);
    for (const KeySet& set : unit.sets) BlockLogits<In>(unit, set, key, count);
  }
}

void Logits(const LogitUnit& unit) {
  if (unit.k.dtype == Dtype::kFloat32) return LogitsAs<float>(unit);
  LogitsAs<BFloat16>(unit);
}

// Applies soft cap and ALiBi to `count` logits of consecutive keys; the first key is `distance` (<=
// 0) rows after the query.
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

// Replaces the first `visible` of `count` logits by softmax weights, the rest by 0. `sink`: logit
// of the attention sink; kHiddenLogit: none.
void SoftmaxRow(float* row, int64_t visible, int64_t count, float sink) {
  const hn::ScalableTag<float> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  float max = std::max(row[0], sink);
  int64_t i = 0;
  if (visible >= lanes) {
    auto maxima = hn::LoadU(d, row);
    for (i = lanes; i + lanes <= visible; i += lanes)
      maxima = hn::Max(maxima, hn::LoadU(d, row + i));
    max = std::max(sink, hn::GetLane(hn::MaxOfLanes(d, maxima)));
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
  if (sink != kHiddenLogit) sum += hn::GetLane(Exp(one, hn::Set(one, sink - max)));
  for (; i < visible; ++i) {
    row[i] = hn::GetLane(Exp(one, hn::Set(one, row[i] - max)));
    sum += row[i];
  }
  ForEachVector(visible, [&](auto tag, int64_t at) HWY_ATTR {
    hn::StoreU(hn::Div(hn::LoadU(tag, row + at), hn::Set(tag, sum)), tag, row + at);
  });
  std::fill(row + visible, row + count, 0.0f);
}

// Adds weights times values of `keys` keys to the sums of kMembers heads of a KV group
// (AddWeightedRows for all elements of a head).
template <int kMembers, class In>
HWY_INLINE void AddMembers(const ValueUnit& unit, const float* weights, const In* rows,
                           int64_t keys, float* sums) {
  // Uses 12 sums, or 8 with one member: enough to keep the multipliers busy; they fit AVX2's
  // registers.
  constexpr int kAtOnce = kMembers == 1 ? 8 : 4;
  const hn::CappedTag<float, 16> wide;
  const hn::CappedTag<float, 1> one;
  constexpr int64_t kLanes = hn::MaxLanes(hn::CappedTag<float, 16>());
  const int64_t dim = unit.shape.head_dim;
  const int64_t stride = unit.v.row_stride;
  const int64_t weight_stride = unit.shape.key_rows;
  int64_t i = 0;
  for (; i + kAtOnce * kLanes <= dim; i += kAtOnce * kLanes) {
    AddWeightedRows<kMembers, kAtOnce>(wide, weights, weight_stride, rows + i, stride, keys,
                                       sums + i, unit.sum_stride);
  }
  for (; i + kLanes <= dim; i += kLanes) {
    AddWeightedRows<kMembers, 1>(wide, weights, weight_stride, rows + i, stride, keys, sums + i,
                                 unit.sum_stride);
  }
  for (; i < dim; ++i) {
    AddWeightedRows<kMembers, 1>(one, weights, weight_stride, rows + i, stride, keys, sums + i,
                                 unit.sum_stride);
  }
}

template <class In>
void AddValuesAs(const ValueUnit& unit) {
  const AttentionShape& shape = unit.shape;
  const int64_t group = shape.heads / shape.key_value_heads;
  std::fill_n(unit.sums, shape.query_rows * shape.heads * shape.head_dim, 0.0f);
  for (int64_t key = unit.begin; key < unit.end; key += kValueBlock) {
    const int64_t keys = std::min(kValueBlock, unit.end - key);
    for (int64_t row = 0; row < shape.query_rows; ++row) {
      for (int64_t head = 0; head < shape.heads;) {
        const In* rows = static_cast<const In*>(unit.v.data) + head / group * unit.v.head_stride +
                         key * unit.v.row_stride;
        const int64_t member = row * shape.heads + head;
        const float* weights = unit.weights + member * shape.key_rows + key;
        float* sums = unit.sums + member * shape.head_dim;
        const int64_t members = std::min<int64_t>(3, group - head % group);
        if (members == 3) AddMembers<3>(unit, weights, rows, keys, sums);
        if (members == 2) AddMembers<2>(unit, weights, rows, keys, sums);
        if (members == 1) AddMembers<1>(unit, weights, rows, keys, sums);
        head += members;
      }
    }
  }
}

void AddValueRows(const ValueUnit& unit) {
  if (unit.v.dtype == Dtype::kFloat32) return AddValuesAs<float>(unit);
  AddValuesAs<BFloat16>(unit);
}

// Computes to [count] = sum of `parts` rows of `count`, with stride `stride`, in order; rounded to
// `dtype`.
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

// Computes queries [head, row, width] float32: rotated by `tables` [head] and scaled; zeros beyond
// head_dim.
void RotateQueries(const AttentionShape& shape, const ConstHeads& q, const HeadPositions& positions,
                   std::span<const RotaryView> tables, int64_t width, float* queries) {
  for (int64_t head = 0; head < shape.heads; ++head) {
    const auto h = static_cast<size_t>(head);
    float* to = queries + head * shape.query_rows * width;
    ConstHeads one = q;
    const int64_t offset = head * q.head_stride * SizeOf(q.dtype);
    one.data = static_cast<const char*>(q.data) + offset;
    Rotate(one, shape.query_rows, 1, shape.head_dim, tables[h], shape.first_query,
           {to, Dtype::kFloat32, width, width});
    const float scale = positions.scale[h] / positions.Temperature(head);
    for (int64_t row = 0; row < shape.query_rows; ++row, to += width) {
      for (int64_t i = 0; i < shape.head_dim; ++i) to[i] *= scale;
      for (size_t i = 0; i < positions.query_weight.size(); ++i) to[i] *= positions.query_weight[i];
      std::fill(to + shape.head_dim, to + width, 0.0f);
    }
  }
}

// Calls step(key) for each key of `range` that is in [`first`, `last`].
template <class Range, class Step>
void ForSeenKeys(const Range& range, int64_t first, int64_t last, Step&& step) {
  const int64_t end = std::min(range.end, last + 1);
  for (int64_t key = std::max(range.begin, first); key < end; ++key) step(key);
}

// Converts the logits row [key_rows] of one head and the query at absolute row `position` to
// weights.
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
  const float sink = positions.sinks.empty()
                         ? kHiddenLogit
                         : positions.sinks[static_cast<size_t>(head)] / temperature;
  HWY_DYNAMIC_DISPATCH(SoftmaxRow)(row + first, visible, shape.key_rows - first, sink);
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
  constexpr int64_t kWidest = 16;  // maximum number of lanes of any instruction set
  const int64_t width = (shape.head_dim + kWidest - 1) / kWidest * kWidest;
  const int64_t query_floats = shape.heads * shape.query_rows * width;
  const bool has_far =
      positions.far.window > 0 && shape.first_query + shape.query_rows > positions.far.window;
  auto* queries = query_scratch.Get<float>((has_far ? 2 : 1) * query_floats);
  float* far_queries = has_far ? queries + query_floats : nullptr;
  RotateQueries(shape, q, positions, positions.q, width, queries);
  if (has_far) RotateQueries(shape, q, positions, positions.far.q, width, far_queries);
  const std::vector<KeySet> sets = FindKeySets(shape, positions);
  const KeyEdits edits(positions);
  const int64_t used_keys = shape.first_query + shape.query_rows;
  const int64_t first_key = FirstVisibleKey(shape, shape.first_query);
  const int64_t chunks = (used_keys - first_key + kKeyChunk - 1) / kKeyChunk;
  executor.For(chunks, 1, [&](int64_t begin, int64_t end) {
    BorrowedScratch<KeyTag> scratch;
    auto* work = scratch.Get<float>(2 * kBlockKeys * width);
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t first = first_key + unit * kKeyChunk;
      const int64_t last = std::min(first + kKeyChunk, used_keys);
      if (edits.HidesAll(first, last)) continue;
      HWY_DYNAMIC_DISPATCH(Logits)
      ({shape, k, width, queries, far_queries, positions.far.window, sets, first, last, work,
        weights});
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
  const int64_t used_keys = shape.first_query + shape.query_rows;
  const int64_t first_key = FirstVisibleKey(shape, shape.first_query);
  const int64_t chunks = (used_keys - first_key + kKeyChunk - 1) / kKeyChunk;
  const int64_t members = shape.query_rows * shape.heads;
  const int64_t part_floats = members * shape.head_dim;
  BorrowedScratch<PartTag> scratch;
  auto* parts = scratch.Get<float>(chunks * part_floats);
  executor.For(chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      const int64_t first = first_key + chunk * kKeyChunk;
      HWY_DYNAMIC_DISPATCH(AddValueRows)
      ({shape, v, weights, first, std::min(first + kKeyChunk, used_keys),
        parts + chunk * part_floats, shape.head_dim});
    }
  });
  const int64_t grain = std::max<int64_t>(1, kGrainElements / (chunks * shape.head_dim));
  executor.For(members, grain, [&](int64_t begin, int64_t end) {
    for (int64_t member = begin; member < end; ++member) {
      HWY_DYNAMIC_DISPATCH(SumParts)
      (parts + member * shape.head_dim, chunks, part_floats, shape.head_dim, out.dtype, out.data,
       member / shape.heads * out.row_stride + member % shape.heads * out.head_stride);
    }
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
