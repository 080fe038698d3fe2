// SPDX-License-Identifier: MIT
// Causal attention with a separate rotary position for each head.
//
// Callers pass q and k *before* rotation; every kernel rotates the rows that it reads by the rotary
// table of the head. Positions may therefore differ between heads (as in Ms-PoE) without stored
// rotated copies. Query row i is at absolute row `first_query + i` and sees keys 0 .. first_query +
// i, or the last `window` of those. Grouped query heads: KV head g is used by the query heads g *
// (heads / key_value_heads) .. + (heads / key_value_heads) - 1.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/parallel.h"
#include "kernels/rotary.h"
#include "kernels/types.h"

namespace midscope::kernels {

struct AttentionShape {
  int64_t query_rows = 0;
  int64_t key_rows = 0;  // >= first_query + query_rows
  int64_t first_query = 0;
  int64_t heads = 0;
  int64_t key_value_heads = 0;
  int64_t head_dim = 0;
  int64_t window = 0;  // number of keys that a query sees, with its own; 0: all
  float softcap = 0;   // scaled logits x become softcap * tanh(x / softcap); 0: no cap
};

// Returns the first key that the query at absolute row `row` sees.
constexpr int64_t FirstVisibleKey(const AttentionShape& shape, int64_t row) {
  return shape.window > 0 && row >= shape.window ? row - shape.window + 1 : 0;
}

// Query heads to which a KeyRange or KeyFactor applies, [heads]: 0 for heads that it does not
// change; empty: it applies to all heads.
using HeadMask = std::span<const uint8_t>;

// Keys [begin, end) that attention hides from all query rows of a call.
struct KeyRange {
  int64_t begin = 0;
  int64_t end = 0;
  HeadMask heads = {};
};

// Multiplies the attention weights of the keys [begin, end) by `factor`: after the softmax, so that
// weights of a row no longer sum to 1, or if `renormalised` (requires factor > 0) before
// normalisation, so that they do.
struct KeyFactor {
  int64_t begin = 0;
  int64_t end = 0;
  float factor = 1;
  bool renormalised = false;
  HeadMask heads = {};
};

// Whether a KeyRange or KeyFactor applies to the head.
template <class Range>
bool HoldsFor(const Range& range, int64_t head) {
  return range.heads.empty() || range.heads[static_cast<size_t>(head)] != 0;
}

// Rotary tables for far keys: used instead of those in HeadPositions for query i and key j with i -
// j >= window (in Self-Extend, arXiv 2401.01325, equation 4, row i of q holds floor(i / group) +
// window - floor(window / group) and row j of k floor(j / group)). One softmax covers near and far
// keys.
struct FarPositions {
  std::span<const RotaryView> q = {};  // [heads]
  std::span<const RotaryView> k = {};  // [heads]
  int64_t window = 0;  // number of near keys, including the query's own; 0: all keys are near
};

// Positions and logit parameters of an attention call, per query head. Tables are indexed by
// absolute row and must hold first_query + query_rows (q) or key_rows (k) rows; a table without
// data means that the head is not rotated. Heads of a KV group whose k tables have the same pointer
// share rotated keys.
struct HeadPositions {
  std::span<const RotaryView> q;  // [heads]
  std::span<const RotaryView> k;  // [heads]
  std::span<const float> scale;   // [heads]: factor of the logits, usually 1 / sqrt(head_dim)
  // [heads], or empty: no ALiBi. slope * (absolute row of the key - absolute row of the query) is
  // added to the logit, after the soft cap.
  std::span<const float> alibi_slopes = {};
  // [heads], or empty: ones. Divisors > 0 of the softmax input (after soft cap and ALiBi).
  std::span<const float> temperature = {};
  // [heads], or empty: none. Attention sinks: a learned logit per head that is part of the softmax
  // but has no key and value, so that a row's weights sum to less than 1. Divided by the
  // temperature, not soft-capped.
  std::span<const float> sinks = {};
  // [head_dim], or empty: ones. Factors of a query's elements after rotation, for all heads
  // (weights of norms that follow rotation).
  std::span<const float> query_weight = {};
  // Hidden keys and weight factors, for every query row of the call. Ranges may overlap (factors
  // are then multiplied). Hidden ranges must end at or before first_query, so that every row sees
  // itself.
  std::span<const KeyRange> hidden = {};
  std::span<const KeyFactor> factors = {};
  FarPositions far = {};
  float Temperature(int64_t head) const {
    return temperature.empty() ? 1.0f : temperature[static_cast<size_t>(head)];
  }
};

// Computes out [query_rows, heads, head_dim] = softmax((softcap(scale q k^T) + alibi) /
// temperature, causal, window, hidden, sinks) v, with factors. Softmax and sums are in float32.
// Does not read blocks of 64 keys that no query sees. In bfloat16, on CPUs with AVX-512 BF16,
// rotated queries and keys and the weights are rounded to bfloat16 before they are multiplied;
// elsewhere, and for up to 4 query rows, they stay float32. Logits must be below 1e29. Extra
// memory: O(key_rows * head_dim) for each KV group (kept for the next call up to 64 MiB per thread;
// with far positions keys are stored twice) plus O(1) per thread; never rows x keys. Returns false,
// with `out` incomplete, if `cancel` was set; it is checked once per query block.
bool Attention(const AttentionShape& shape, const ConstHeads& q, const ConstHeads& k,
               const ConstHeads& v, const HeadPositions& positions, const Heads& out,
               const Executor& executor, CancelFlag cancel = nullptr);

// Computes attention weights [query_rows, heads, key_rows] float32, for few query rows. They are 0
// for keys after the query, keys before the window and hidden keys. All arithmetic is in float32,
// whatever the dtype of q and k.
void AttentionWeights(const AttentionShape& shape, const ConstHeads& q, const ConstHeads& k,
                      const HeadPositions& positions, float* weights, const Executor& executor);

// Computes out [query_rows, heads, head_dim] = weights v, for weights from AttentionWeights; does
// not read weights of keys that no query sees.
void WeightedValues(const AttentionShape& shape, const float* weights, const ConstHeads& v,
                    const Heads& out, const Executor& executor);

}  // namespace midscope::kernels
