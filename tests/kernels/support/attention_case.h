// SPDX-License-Identifier: MIT
// Random inputs for attention in unusual layouts.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "kernels/attention.h"
#include "tests/kernels/support/attention_reference.h"
#include "tests/kernels/support/attention_shapes.h"
#include "tests/kernels/support/guarded.h"

namespace midscope::kernels {

// q, k and v are views into one buffer [row, (heads + 2 key_value_heads) * head_dim], the output
// layout of a fused projection.
struct AttentionCase {
  explicit AttentionCase(const CaseShape& c, unsigned seed = 1)
      : shape{c.query_rows,      c.first_query + c.query_rows + c.extra_keys,
              c.first_query,     c.heads,
              c.key_value_heads, c.head_dim,
              c.window,          c.softcap},
        dtype(c.dtype),
        width((c.heads + 2 * c.key_value_heads) * c.head_dim),
        fused(shape.key_rows * width, c.dtype),
        hidden(c.hidden),
        factors(c.factors),
        near(c.near) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i < shape.key_rows * width; ++i) fused.Set(i, normal(random));
    MakeTables(c);
    const auto heads = static_cast<size_t>(c.heads);
    for (size_t h = 0; h < heads; ++h) {
      q_tables.push_back(c.rotated ? View(c.tables_per_head ? 2 * h : 0) : RotaryView{});
      k_tables.push_back(c.rotated ? View(c.tables_per_head ? 2 * h + 1 : 0) : RotaryView{});
      if (c.near > 0) {
        far_q_tables.push_back(FarView(c.tables_per_head ? h : 0, 0));
        far_k_tables.push_back(FarView(c.tables_per_head ? h : 0, 1));
      }
      const float sign =
          h % 3 == 2 ? -1.0f : 1.0f;  // callers may pass any scale, including a negative one
      scales.push_back(sign * (1.0f + 0.1f * static_cast<float>(h)) /
                       std::sqrt(static_cast<float>(c.head_dim)));
      if (c.alibi) slopes.push_back(0.5f / static_cast<float>(1 + h * h) - 0.05f);
      if (c.temperature) temperatures.push_back(0.5f + 0.7f * static_cast<float>(h));
      if (c.query_weight && h == 0) {
        for (int64_t i = 0; i < c.head_dim; ++i)
          query_weight.push_back(0.5f + 0.04f * static_cast<float>(i));
      }
      if (c.sinks) sinks.push_back(6.0f - 5.0f * static_cast<float>(h));
    }
  }

  ConstHeads Part(int64_t first_head, int64_t first_row) {
    const int64_t offset = (first_row * width + first_head * shape.head_dim) * SizeOf(dtype);
    return {static_cast<char*>(fused.data()) + offset, dtype, width, shape.head_dim};
  }
  ConstHeads Q() { return Part(0, shape.first_query); }
  ConstHeads K() { return Part(shape.heads, 0); }
  ConstHeads V() { return Part(shape.heads + shape.key_value_heads, 0); }
  HeadPositions Positions() const {
    return {q_tables, k_tables,     scales, slopes,  temperatures,
            sinks,    query_weight, hidden, factors, {far_q_tables, far_k_tables, near}};
  }
  int64_t OutCount() const { return shape.query_rows * shape.heads * shape.head_dim; }
  Heads Out(Guarded& out, Dtype out_dtype) const {
    return {out.data(), out_dtype, shape.heads * shape.head_dim, shape.head_dim};
  }

  AttentionShape shape;
  Dtype dtype;
  int64_t width;
  Guarded fused;
  int64_t pairs = 0;
  std::vector<std::vector<float>> cosines;
  std::vector<std::vector<float>> sines;
  std::vector<RotaryView> q_tables;
  std::vector<RotaryView> k_tables;
  std::vector<float> scales;
  std::vector<float> slopes;
  std::vector<float> temperatures;
  std::vector<float> sinks;
  std::vector<float> query_weight;
  std::vector<KeyRange> hidden;
  std::vector<KeyFactor> factors;
  int64_t near = 0;
  std::vector<std::vector<float>> far_tables;  // per table: cos of q, sin of q, cos of k, sin of k
  std::vector<RotaryView> far_q_tables;
  std::vector<RotaryView> far_k_tables;

 private:
  RotaryView View(size_t i) const { return {cosines[i].data(), sines[i].data(), pairs}; }
  RotaryView FarView(size_t i, size_t side) const {
    return {far_tables[4 * i + 2 * side].data(), far_tables[4 * i + 2 * side + 1].data(), pairs};
  }

  // Computes grouped positions by their definition, one row at a time.
  void MakeFarTables(const CaseShape& c, const std::vector<double>& frequencies) {
    for (int64_t t = 0; t < (c.tables_per_head ? c.heads : 1); ++t) {
      const double ratio = 1.0 + 0.05 * static_cast<double>(t);
      for (const int64_t shift : {c.near - c.near / c.group, int64_t{0}}) {
        std::vector<float> cos(static_cast<size_t>(shape.key_rows * pairs));
        std::vector<float> sin(cos.size());
        for (int64_t row = 0; row < shape.key_rows; ++row) {
          FillRotary(frequencies, ratio, row / c.group + shift, 1, 1.0, cos.data() + row * pairs,
                     sin.data() + row * pairs);
        }
        far_tables.push_back(cos);
        far_tables.push_back(sin);
      }
    }
  }

  void MakeTables(const CaseShape& c) {
    pairs = c.pairs < 0 ? c.head_dim / 2 : c.pairs;
    std::vector<double> frequencies;
    for (int64_t i = 0; i < pairs; ++i) {
      frequencies.push_back(
          std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(pairs)));
    }
    if (c.near > 0) MakeFarTables(c, frequencies);
    const int64_t tables = c.tables_per_head ? 2 * c.heads : 1;
    for (int64_t t = 0; t < tables; ++t) {
      const auto size = static_cast<size_t>(shape.key_rows * pairs);
      cosines.emplace_back(size);
      sines.emplace_back(size);
      FillRotary(frequencies, 1.0 + 0.05 * static_cast<double>(t), 0, shape.key_rows, 1.0,
                 cosines.back().data(), sines.back().data());
    }
  }
};

// The largest difference between the definition and the output of Attention in the dtype.
inline double DifferenceFromDefinition(AttentionCase& inputs, Dtype dtype) {
  Guarded expected(inputs.OutCount(), Dtype::kFloat32);
  AttentionReference(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                     inputs.Out(expected, Dtype::kFloat32));
  Guarded out(inputs.OutCount(), dtype);
  EXPECT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                        inputs.Out(out, dtype), SerialExecutor()));
  return MaxDifference(out, expected, inputs.OutCount());
}

// The inputs in float32, for computation on the CPU.
inline AttentionCase WideCase(CaseShape c, const AttentionCase& narrow) {
  c.dtype = Dtype::kFloat32;
  AttentionCase wide(c);
  for (int64_t i = 0; i < narrow.shape.key_rows * narrow.width; ++i)
    wide.fused.Set(i, narrow.fused.At(i));
  return wide;
}

}  // namespace midscope::kernels
