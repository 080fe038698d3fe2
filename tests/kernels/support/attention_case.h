// SPDX-License-Identifier: MIT
// Random inputs of attention in awkward layouts, with sentinels around what is written.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/attention.h"
#include "tests/kernels/support/attention_reference.h"

namespace midscope::kernels {

struct CaseShape {
  int64_t query_rows = 1;
  int64_t first_query = 0;
  int64_t extra_keys = 0;  // beyond what the last query sees
  int64_t heads = 1;
  int64_t key_value_heads = 1;
  int64_t head_dim = 64;
  int64_t pairs = -1;  // rotated pairs; -1: head_dim / 2
  bool rotated = true;
  bool tables_per_head = false;  // else one table for all
  int64_t window = 0;
  float softcap = 0;
  bool alibi = false;
  bool temperature = false;  // one a head, else none
  bool sinks = false;        // likewise
  bool query_weight = false;
  std::vector<KeyRange> hidden = {};  // all before first_query
  std::vector<KeyFactor> factors = {};
  int64_t near = 0;  // Self-Extend's window, 0: none
  int64_t group = 2;
  Dtype dtype = Dtype::kFloat32;
};

// How much larger than 1 the weights of a row can be together.
inline double Gain(const CaseShape& c) {
  double gain = 1;
  for (const KeyFactor& keys : c.factors) {
    if (!keys.renormalised) gain *= std::max(1.0, std::abs(double{keys.factor}));
  }
  return gain;
}

// How far Attention may be from its definition, with values of about 1. float32: rounding of sums
// of ~100 products and of 2^x (3e-7). bfloat16: q, k and the weights are rounded to 8 bits once
// rotated (2^-9 each), and so is the output; float16: to 11 bits.
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

inline std::string DtypeText(Dtype dtype) {
  constexpr const char* kTexts[] = {"float32", "bfloat16", "float16"};
  return kTexts[static_cast<size_t>(dtype)];
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

// A buffer of `count` elements, NaN before they are written, between sentinels.
class Guarded {
 public:
  Guarded(int64_t count, Dtype dtype)
      : dtype_(dtype), bytes_(static_cast<size_t>(count * SizeOf(dtype))) {
    memory_.assign(bytes_ + 2 * kGuard, kSentinel);
    Spoil();
  }
  void* data() { return memory_.data() + kGuard; }
  const void* data() const { return memory_.data() + kGuard; }
  float At(int64_t i) const {
    const unsigned char* base = memory_.data() + kGuard;
    if (dtype_ == Dtype::kFloat32) {
      float value;
      std::memcpy(&value, base + 4 * i, 4);
      return value;
    }
    uint16_t bits;
    std::memcpy(&bits, base + 2 * i, 2);
    return dtype_ == Dtype::kBFloat16 ? ToFloat(BFloat16{bits}) : ToFloat(Float16{bits});
  }
  void Set(int64_t i, float value) {
    unsigned char* base = memory_.data() + kGuard;
    const uint16_t bits =
        dtype_ == Dtype::kBFloat16 ? ToBFloat16(value).bits : ToFloat16(value).bits;
    if (dtype_ == Dtype::kFloat32) {
      std::memcpy(base + 4 * i, &value, 4);
    } else {
      std::memcpy(base + 2 * i, &bits, 2);
    }
  }
  bool Intact() const {
    for (size_t i = 0; i < kGuard; ++i) {
      if (memory_[i] != kSentinel || memory_[kGuard + bytes_ + i] != kSentinel) return false;
    }
    return true;
  }
  bool operator==(const Guarded& other) const { return memory_ == other.memory_; }
  // All elements become NaN.
  void Spoil() { std::memset(data(), 255, bytes_); }

 private:
  static constexpr size_t kGuard = 256;
  static constexpr unsigned char kSentinel = 0xa5;
  Dtype dtype_;
  size_t bytes_;
  std::vector<unsigned char> memory_;
};

template <class T>
T* Data(Guarded& guarded) {
  return static_cast<T*>(guarded.data());
}

// The elements are NaN until what is returned is called.
inline std::function<void()> TakenAway(Guarded& values) {
  const Guarded there = values;
  values.Spoil();
  return [&values, there] { values = there; };
}

// The same numbers in float32.
inline Guarded Widened(const Guarded& from, int64_t count) {
  Guarded wide(count, Dtype::kFloat32);
  for (int64_t i = 0; i < count; ++i) wide.Set(i, from.At(i));
  return wide;
}

// Normal numbers, the same for the same seed.
inline Guarded Random(int64_t count, Dtype dtype, unsigned seed, float spread = 1.0f) {
  Guarded numbers(count, dtype);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  for (int64_t i = 0; i < count; ++i) numbers.Set(i, normal(random));
  return numbers;
}

// Windows, soft caps and ALiBi, alone and together, over lengths around the blocks of the engines.
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

// Hidden keys, factors and temperatures, alone and together and with the rest, over ranges around
// the blocks of the engines.
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

// Self-Extend alone and with the rest: distances around tiles, key blocks and query blocks, rows
// that see only near keys, and key sets that differ in their far tables.
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

// q, k and v are views into one buffer [row, (heads + 2 key_value_heads) * head_dim], as a fused
// projection makes them.
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
          h % 3 == 2 ? -1.0f : 1.0f;  // no scale that a caller may ask for is special
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
  std::vector<std::vector<float>> far_tables;  // cos of q, sin of q, cos of k, sin of k a table
  std::vector<RotaryView> far_q_tables;
  std::vector<RotaryView> far_k_tables;

 private:
  RotaryView View(size_t i) const { return {cosines[i].data(), sines[i].data(), pairs}; }
  RotaryView FarView(size_t i, size_t side) const {
    return {far_tables[4 * i + 2 * side].data(), far_tables[4 * i + 2 * side + 1].data(), pairs};
  }

  // Grouped positions by their definition, one row at a time.
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

// Largest difference of two guarded buffers of `count` elements; NaN counts as infinite.
inline double MaxDifference(const Guarded& a, const Guarded& b, int64_t count) {
  double max = 0;
  for (int64_t i = 0; i < count; ++i) {
    const double difference = std::abs(static_cast<double>(a.At(i)) - b.At(i));
    if (!(difference <= max)) max = std::isnan(difference) ? INFINITY : difference;
  }
  return max;
}

// The largest difference of Attention's output, of the dtype, from the definition.
inline double DifferenceFromDefinition(AttentionCase& inputs, Dtype dtype) {
  Guarded expected(inputs.OutCount(), Dtype::kFloat32);
  AttentionReference(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                     inputs.Out(expected, Dtype::kFloat32));
  Guarded out(inputs.OutCount(), dtype);
  EXPECT_TRUE(Attention(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                        inputs.Out(out, dtype), SerialExecutor()));
  return MaxDifference(out, expected, inputs.OutCount());
}

// The same inputs in float32, for what computes on the CPU.
inline AttentionCase WideCase(CaseShape c, const AttentionCase& narrow) {
  c.dtype = Dtype::kFloat32;
  AttentionCase wide(c);
  for (int64_t i = 0; i < narrow.shape.key_rows * narrow.width; ++i)
    wide.fused.Set(i, narrow.fused.At(i));
  return wide;
}

}  // namespace midscope::kernels
