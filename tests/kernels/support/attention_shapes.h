// SPDX-License-Identifier: MIT
// Shapes and options that attention is tested with, alone and in combination.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/attention.h"
#include "tests/kernels/support/guarded.h"

namespace midscope::kernels {

struct CaseShape {
  int64_t query_rows = 1;
  int64_t first_query = 0;
  int64_t extra_keys = 0;  // beyond those that the last query sees
  int64_t heads = 1;
  int64_t key_value_heads = 1;
  int64_t head_dim = 64;
  int64_t pairs = -1;  // rotated pairs; -1: head_dim / 2
  bool rotated = true;
  bool tables_per_head = false;  // if false, one table for all heads
  int64_t window = 0;
  float softcap = 0;
  bool alibi = false;
  bool temperature = false;  // one per head; if false, none
  bool sinks = false;        // one per head; if false, none
  bool query_weight = false;
  std::vector<KeyRange> hidden = {};  // all before first_query
  std::vector<KeyFactor> factors = {};
  int64_t near = 0;  // window of Self-Extend; 0: none
  int64_t group = 2;
  Dtype dtype = Dtype::kFloat32;
};

// An upper bound for the sum of the weights of a row.
inline double Gain(const CaseShape& c) {
  double gain = 1;
  for (const KeyFactor& keys : c.factors) {
    if (!keys.renormalised) gain *= std::max(1.0, std::abs(double{keys.factor}));
  }
  return gain;
}

// Tolerance of Attention's error against its definition, with values of about 1. float32: rounding
// of sums of ~100 products and of 2^x (3e-7). bfloat16: q and k after rotation, the weights and the
// output are rounded to 8 bits (2^-9 each); float16: to 11 bits.
inline double AttentionTolerance(Dtype dtype) {
  switch (dtype) {
    case Dtype::kFloat32:
      return 5e-6;
    case Dtype::kBFloat16:
      return 4e-2;
    case Dtype::kFloat16:
      return 5e-3;
  }
  return 0;
}

inline std::string DescribeEdits(const CaseShape& c) {
  std::string text;
  const auto range = [](int64_t begin, int64_t end) {
    return std::to_string(begin) + ":" + std::to_string(end);
  };
  for (const KeyRange& keys : c.hidden) text += " hidden " + range(keys.begin, keys.end);
  for (const KeyFactor& keys : c.factors) {
    text += " times " + std::to_string(keys.factor) + (keys.renormalised ? " renormalised " : " ") +
            range(keys.begin, keys.end);
  }
  return text;
}

inline std::string Describe(const CaseShape& c) {
  return "rows " + std::to_string(c.query_rows) + " first " + std::to_string(c.first_query) +
         " heads " + std::to_string(c.heads) + "/" + std::to_string(c.key_value_heads) + " dim " +
         std::to_string(c.head_dim) + " pairs " + std::to_string(c.pairs) +
         (c.tables_per_head ? " own tables" : "") + " window " + std::to_string(c.window) +
         " softcap " + std::to_string(c.softcap) + (c.alibi ? " alibi" : "") +
         (c.temperature ? " temperature" : "") + (c.sinks ? " sinks" : "") +
         (c.query_weight ? " query weight" : "") + DescribeEdits(c) +
         (c.near > 0 ? " near " + std::to_string(c.near) + "/" + std::to_string(c.group) : "") +
         " " + DtypeText(c.dtype);
}

// Windows, soft caps and ALiBi, alone and in combination, for lengths around the engines' block
// sizes.
inline std::vector<CaseShape> ShapedCases(const std::vector<int64_t>& query_rows,
                                          const std::vector<int64_t>& first_queries) {
  std::vector<CaseShape> shapes;
  for (const int64_t rows : query_rows) {
    for (const int64_t first : first_queries) {
      CaseShape c{.query_rows = rows, .first_query = first, .heads = 4, .key_value_heads = 2};
      c.head_dim = 36;
      for (const int64_t window : {0, 1, 2, 7, 8, 9, 47, 63, 64, 65, 100, 1000}) {
        c.window = window;
        c.softcap = window % 2 == 1 ? 1.5f : 0.0f;
        c.alibi = window == 0 || window % 3 == 1;
        c.sinks = window == 2 || window == 65 || window == 1000;
        c.query_weight = window == 7 || window == 64;
        shapes.push_back(c);
      }
      c.window = 0;
      c.alibi = false;
      c.softcap = 50.0f;
      shapes.push_back(c);
    }
  }
  return shapes;
}

// Hidden keys, factors and temperatures, alone, together and with the other options, for ranges
// around the engines' block sizes.
inline constexpr uint8_t kFirstOfTwo[] = {1, 0};
inline constexpr uint8_t kSecondOfTwo[] = {0, 1};

inline std::vector<CaseShape> EditedCases(const std::vector<int64_t>& query_rows) {
  std::vector<CaseShape> shapes;
  const std::vector<std::vector<KeyRange>> hidden = {
      {},
      {{0, 1}},
      {{1, 200}},
      {{0, 200}},
      {{3, 64}},
      {{64, 128}},
      {{63, 129}, {5, 70}},
      {{0, 64}, {64, 128}, {128, 199}},
      {{7, 7}},
      {{199, 200}},
      {{0, 200, kFirstOfTwo}, {60, 130, kSecondOfTwo}},
  };
  const std::vector<std::vector<KeyFactor>> factors = {
      {},
      {{20, 40, 2, false}},
      {{20, 40, 2, true}},
      {{60, 190, 0, false}},
      {{60, 205, 0.25f, true}, {100, 300, 3, false}, {120, 130, 5, true}},
      {{0, 1, -1, false}, {0, 500, 1.5f, false}},
      {{60, 190, 3, false, kFirstOfTwo}, {0, 70, 0.5f, true, kSecondOfTwo}},
  };
  for (const int64_t rows : query_rows) {
    for (size_t h = 0; h < hidden.size(); ++h) {
      for (size_t f = 0; f < factors.size(); ++f) {
        CaseShape c{.query_rows = rows, .first_query = 200, .heads = 2, .key_value_heads = 1};
        c.head_dim = 20;
        c.hidden = hidden[h];
        c.factors = factors[f];
        c.temperature = (h + f) % 3 == 1;
        c.alibi = (h + f) % 4 == 2;
        c.sinks = (h + f) % 4 == 1;
        c.softcap = (h + f) % 5 == 3 ? 1.5f : 0.0f;
        c.window = h % 3 == 2 ? 130 : 0;
        c.extra_keys = f == 2 ? 9 : 0;
        shapes.push_back(c);
      }
    }
  }
  return shapes;
}

// Self-Extend alone and with the other options: distances around tiles, key blocks and query
// blocks, rows that see only near keys, and key sets that differ in their far tables.
inline std::vector<CaseShape> FarCases(const std::vector<int64_t>& query_rows,
                                       const std::vector<int64_t>& first_queries) {
  std::vector<CaseShape> shapes;
  for (const int64_t rows : query_rows) {
    for (const int64_t first : first_queries) {
      for (const int64_t near : {1, 2, 7, 8, 9, 47, 63, 64, 65, 100, 1000}) {
        CaseShape c{.query_rows = rows, .first_query = first, .heads = 4, .key_value_heads = 2};
        c.near = near;
        c.group = 1 + near % 4;
        c.head_dim = near % 2 == 1 ? 33 : 36;
        c.pairs = near % 2 == 1 ? 16 : 18;
        c.tables_per_head = near % 3 == 2;
        c.softcap = near == 9 ? 1.5f : 0.0f;
        c.alibi = near == 47;
        c.window = near == 8 ? 75 : 0;
        c.temperature = near == 64;
        c.sinks = near == 7 || near == 64;
        c.query_weight = near == 1 || near == 64;
        c.extra_keys = near == 65 ? 9 : 0;
        if (near == 63 && first > 0) c.hidden = {{3, std::min<int64_t>(first, 150)}};
        if (near == 2) c.factors = {{20, 90, 2, false}, {60, 120, 0.25f, true}};
        shapes.push_back(c);
      }
    }
  }
  return shapes;
}

}  // namespace midscope::kernels
