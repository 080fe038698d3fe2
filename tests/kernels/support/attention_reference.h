// SPDX-License-Identifier: MIT
// Reference implementation of attention in double, for all dtypes and shapes, with O(query_rows *
// key_rows) memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention.h"

namespace midscope::kernels {
namespace attention_reference {

inline double Element(const ConstHeads& x, int64_t row, int64_t head, int64_t i) {
  const int64_t index = row * x.row_stride + head * x.head_stride + i;
  if (x.dtype == Dtype::kFloat32) return static_cast<const float*>(x.data)[index];
  return ToFloat(static_cast<const BFloat16*>(x.data)[index]);
}

inline void SetElement(const Heads& x, int64_t row, int64_t head, int64_t i, double value) {
  const int64_t index = row * x.row_stride + head * x.head_stride + i;
  const auto single = static_cast<float>(value);
  if (x.dtype == Dtype::kFloat32) {
    static_cast<float*>(x.data)[index] = single;
  } else {
    static_cast<BFloat16*>(x.data)[index] = ToBFloat16(single);
  }
}

inline std::vector<double> Rotated(const ConstHeads& x, int64_t row, int64_t head, int64_t head_dim,
                                   const RotaryView& table, int64_t table_row) {
  std::vector<double> out(static_cast<size_t>(head_dim));
  for (int64_t i = 0; i < head_dim; ++i) out[static_cast<size_t>(i)] = Element(x, row, head, i);
  if (!table.cos) return out;
  for (int64_t pair = 0; pair < table.pairs; ++pair) {
    const double cos = table.cos[table_row * table.pairs + pair];
    const double sin = table.sin[table_row * table.pairs + pair];
    double& first = out[static_cast<size_t>(pair)];
    double& second = out[static_cast<size_t>(pair + table.pairs)];
    const double rotated = first * cos - second * sin;
    second = second * cos + first * sin;
    first = rotated;
  }
  return out;
}

// The factor on the weight of `key`, applied before (renormalised) or after the softmax; before it,
// 0 if the key is hidden.
inline double KeyFactorOf(const HeadPositions& positions, int64_t head, int64_t key,
                          bool renormalised) {
  double product = 1;
  for (const KeyFactor& keys : positions.factors) {
    const bool applies = keys.renormalised == renormalised && keys.begin <= key && key < keys.end &&
                         HoldsFor(keys, head);
    if (applies) product *= static_cast<double>(keys.factor);
  }
  for (const KeyRange& keys : positions.hidden) {
    const bool hides = keys.begin <= key && key < keys.end && HoldsFor(keys, head);
    if (renormalised && hides) product = 0;
  }
  return product;
}

// Converts logits to weights, which sum to 1, or to less if there is a sink.
inline void Softmax(std::vector<double>& logits, double sink) {
  const double max = std::max(sink, *std::max_element(logits.begin(), logits.end()));
  double sum = std::exp(sink - max);
  for (double& logit : logits) sum += logit = std::exp(logit - max);
  for (double& logit : logits) logit /= sum;
}

}  // namespace attention_reference

// The reference for Attention and AttentionWeights. `weights` [query_rows, heads, key_rows] may be
// null.
inline void AttentionReference(const AttentionShape& shape, const ConstHeads& q,
                               const ConstHeads& k, const ConstHeads& v,
                               const HeadPositions& positions, const Heads& out,
                               double* weights = nullptr) {
  using namespace attention_reference;
  const int64_t group = shape.heads / shape.key_value_heads;
  const auto dim = static_cast<size_t>(shape.head_dim);
  for (int64_t head = 0; head < shape.heads; ++head) {
    const auto h = static_cast<size_t>(head);
    const bool has_far = positions.far.window > 0;
    std::vector<std::vector<double>> keys;
    std::vector<std::vector<double>> far_keys;
    for (int64_t key = 0; key < shape.key_rows; ++key) {
      keys.push_back(Rotated(k, key, head / group, shape.head_dim, positions.k[h], key));
      if (has_far)
        far_keys.push_back(Rotated(k, key, head / group, shape.head_dim, positions.far.k[h], key));
    }
    for (int64_t row = 0; row < shape.query_rows; ++row) {
      const int64_t position = shape.first_query + row;
      auto query = Rotated(q, row, head, shape.head_dim, positions.q[h], position);
      auto far_query =
          has_far ? Rotated(q, row, head, shape.head_dim, positions.far.q[h], position) : query;
      for (size_t i = 0; i < positions.query_weight.size(); ++i) {
        query[i] *= positions.query_weight[i];
        far_query[i] *= positions.query_weight[i];
      }
      const int64_t first = FirstVisibleKey(shape, position);
      std::vector<double> row_weights;
      for (int64_t key = first; key <= position; ++key) {
        double logit = 0;
        const bool far = has_far && position - key >= positions.far.window;
        const auto& seen_key = (far ? far_keys : keys)[static_cast<size_t>(key)];
        const auto& seen_by = far ? far_query : query;
        for (size_t i = 0; i < dim; ++i) logit += seen_by[i] * seen_key[i];
        logit *= positions.scale[h];
        if (shape.softcap > 0) logit = shape.softcap * std::tanh(logit / shape.softcap);
        if (!positions.alibi_slopes.empty()) {
          logit += positions.alibi_slopes[h] * static_cast<double>(key - position);
        }
        logit /= positions.Temperature(head);
        row_weights.push_back(logit + std::log(KeyFactorOf(positions, head, key, true)));
      }
      const double sink = positions.sinks.empty()
                              ? -std::numeric_limits<double>::infinity()
                              : double{positions.sinks[h]} / positions.Temperature(head);
      Softmax(row_weights, sink);
      for (int64_t key = first; key <= position; ++key)
        row_weights[static_cast<size_t>(key - first)] *= KeyFactorOf(positions, head, key, false);
      for (int64_t i = 0; i < shape.head_dim; ++i) {
        double sum = 0;
        for (int64_t key = first; key <= position; ++key) {
          sum += row_weights[static_cast<size_t>(key - first)] * Element(v, key, head / group, i);
        }
        SetElement(out, row, head, i, sum);
      }
      if (!weights) continue;
      double* target = weights + (row * shape.heads + head) * shape.key_rows;
      std::fill(target, target + shape.key_rows, 0.0);
      std::copy(row_weights.begin(), row_weights.end(), target + first);
    }
  }
}

}  // namespace midscope::kernels
