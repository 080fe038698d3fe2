// SPDX-License-Identifier: MIT
#include "kernels/quantised/quantised_matrix_vector.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/check.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantised/quantised_matrix_vector.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/quantised/block_formats-inl.h"
#include "kernels/rows-inl.h"

#ifndef MIDSCOPE_KERNELS_QUANTISED_MATRIX_VECTOR_ONCE
#define MIDSCOPE_KERNELS_QUANTISED_MATRIX_VECTOR_ONCE
namespace midscope::kernels {

struct ProductWork {
  const BlockMatrix& weight;
  const float* x;  // [row, x_stride]; zeros beyond weight.columns
  int64_t x_stride;
  int64_t rows;
  void* y;
  int64_t y_stride;
  Dtype y_dtype;
};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

// Number of outputs that are computed together: their sums are independent chains of additions, and
// x is read once for all. Fewer for super-blocks, whose scales need registers.
template <class Format>
constexpr int kOutputs = HWY_MAX_BYTES >= 64 && Format::kParts == 1 ? 4 : 2;

// Sums per row and output. Each is added in an order that does not depend on the other rows and
// outputs in the struct.
template <int kRows, int kOuts>
struct Sums {
  V v[kRows][kOuts];

  HWY_INLINE void Clear() {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int o = 0; o < kOuts; ++o) v[r][o] = hn::Zero(D());
    }
  }
  HWY_INLINE void AddParts(const Part (&parts)[kOuts], const float* x, int64_t x_stride) {
    const D d;
#pragma GCC unroll 8
    for (int i = 0; i < kVectors; ++i) {
#pragma GCC unroll 4
      for (int r = 0; r < kRows; ++r) {
        const V vector = hn::LoadU(d, x + r * x_stride + i * kLanes);
#pragma GCC unroll 4
        for (int o = 0; o < kOuts; ++o) v[r][o] = hn::MulAdd(parts[o].v[i], vector, v[r][o]);
      }
    }
  }
};

template <class Format, int64_t kPart, int kRows, int kOuts>
HWY_INLINE void AddPart(const uint8_t* const (&at)[kOuts],
                        const typename Format::Header (&headers)[kOuts], int64_t group,
                        const float* x, int64_t x_stride, Sums<kRows, kOuts>& sums) {
  Part parts[kOuts];
#pragma GCC unroll 4
  for (int o = 0; o < kOuts; ++o) {
    parts[o] = Format::template Get<kPart>(at[o], headers[o], group);
  }
  sums.AddParts(parts, x + (group * Format::kGroup + kPart) * kPartElements, x_stride);
}

// Adds the products of the blocks at the addresses `at`, one per output, to the sums.
template <class Format, int kRows, int kOuts, int64_t... kPart>
HWY_INLINE void AddBlocks(const uint8_t* const (&at)[kOuts], const float* x, int64_t x_stride,
                          Sums<kRows, kOuts>& sums,
                          std::integer_sequence<int64_t, kPart...> /*group*/) {
  typename Format::Header headers[kOuts];
#pragma GCC unroll 4
  for (int o = 0; o < kOuts; ++o) headers[o] = Format::Read(at[o]);
  for (int64_t group = 0; group < Format::kParts / Format::kGroup; ++group) {
    (AddPart<Format, kPart>(at, headers, group, x, x_stride, sums), ...);
  }
}

// Adds the products of the last elements (fewer than 32) of a row of single numbers.
template <class Format, int kRows>
HWY_INLINE void AddRest(const uint8_t* at, int64_t elements, const float* x, int64_t x_stride,
                        Sums<kRows, 1>& sums) {
  uint8_t padded[kUnitBytes<Format>] = {};
  std::memcpy(padded, at, static_cast<size_t>(elements * Format::kBytes));
  const uint8_t* const from[1] = {padded};
  AddBlocks<Format>(from, x, x_stride, sums, std::make_integer_sequence<int64_t, 1>());
}

HWY_NOINLINE void StoreTotals(const ProductWork& work, const float* totals, int64_t count,
                              int64_t at) {
  for (int64_t o = 0; o < count; ++o) {
    if (work.y_dtype == Dtype::kFloat32) {
      static_cast<float*>(work.y)[at + o] = totals[o];
    } else {
      static_cast<BFloat16*>(work.y)[at + o] = ToBFloat16(totals[o]);
    }
  }
}

// Computes y for rows r .. r + kRows - 1 and outputs output .. output + kOuts - 1.
template <class Format, int kRows, int kOuts>
HWY_NOINLINE void Product(const ProductWork& work, int64_t output, int64_t r) {
  const uint8_t* row[kOuts];
  // Addresses that the next call will read, for prefetching: rows are too short for the CPU's own
  // prefetching of several rows.
  const uint8_t* next[kOuts];
  for (int64_t o = 0; o < kOuts; ++o) {
    row[o] = reinterpret_cast<const uint8_t*>(work.weight.Row(output + o));
    const int64_t later = std::min(output + kOuts + o, work.weight.rows - 1);
    next[o] = reinterpret_cast<const uint8_t*>(work.weight.Row(later));
  }
  const float* x = work.x + r * work.x_stride;
  Sums<kRows, kOuts> sums;
  sums.Clear();
  const int64_t blocks = work.weight.columns / kUnitElements<Format>;
  for (int64_t block = 0; block < blocks; ++block) {
    const uint8_t* at[kOuts];
#pragma GCC unroll 4
    for (int o = 0; o < kOuts; ++o) {
      at[o] = row[o] + block * kUnitBytes<Format>;
      for (int64_t line = 0; line < kUnitBytes<Format>; line += 64) {
        hwy::Prefetch(next[o] + block * kUnitBytes<Format> + line);
      }
    }
    AddBlocks<Format>(at, x + block * kUnitElements<Format>, work.x_stride, sums,
                      std::make_integer_sequence<int64_t, Format::kGroup>());
  }
  if constexpr (Format::kElements == 1 && kOuts == 1) {
    const int64_t rest = work.weight.columns % kUnitElements<Format>;
    if (rest != 0) {
      AddRest<Format>(row[0] + blocks * kUnitBytes<Format>, rest,
                      x + blocks * kUnitElements<Format>, work.x_stride, sums);
    }
  }
  float totals[kRows][kOuts];
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int o = 0; o < kOuts; ++o) {
      totals[i][o] = hn::GetLane(hn::SumOfLanes(D(), sums.v[i][o]));
    }
  }
  for (int i = 0; i < kRows; ++i) {
    StoreTotals(work, totals[i], kOuts, (r + i) * work.y_stride + output);
  }
}

template <class Format, int kOuts>
HWY_INLINE void RowProducts(const ProductWork& work, int64_t output) {
  int64_t r = 0;
  for (; r + 4 <= work.rows; r += 4) Product<Format, 4, kOuts>(work, output, r);
  for (; r + 2 <= work.rows; r += 2) Product<Format, 2, kOuts>(work, output, r);
  for (; r < work.rows; ++r) Product<Format, 1, kOuts>(work, output, r);
}

template <class Format>
void Products(const ProductWork& work, int64_t begin, int64_t end) {
  int64_t output = begin;
  // Computes several outputs together only if rows consist of whole units (kUnitElements).
  if (work.weight.columns % kUnitElements<Format> == 0) {
    for (; output + kOutputs<Format> <= end; output += kOutputs<Format>) {
      RowProducts<Format, kOutputs<Format>>(work, output);
    }
  }
  for (; output < end; ++output) RowProducts<Format, 1>(work, output);
}

}  // namespace blocks

void ProductRange(const ProductWork& work, int64_t begin, int64_t end) {
  blocks::VisitFormat(work.weight.type, [&](auto format) HWY_ATTR {
    blocks::Products<decltype(format)>(work, begin, end);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(ProductRange);

namespace {

constexpr int64_t kOutputGrain = 32;

struct InputTag {};

// Converts x to float32 in out [rows, stride], with zeros after each row.
void Widen(const void* x, Dtype dtype, int64_t rows, int64_t inputs, int64_t stride, float* out) {
  for (int64_t row = 0; row < rows; ++row) {
    float* to = out + row * stride;
    if (dtype == Dtype::kFloat32) {
      std::copy_n(static_cast<const float*>(x) + row * inputs, inputs, to);
    } else {
      const auto* from = static_cast<const BFloat16*>(x) + row * inputs;
      for (int64_t i = 0; i < inputs; ++i) to[i] = ToFloat(from[i]);
    }
    std::fill(to + inputs, to + stride, 0.0f);
  }
}

}  // namespace

void QuantisedMatrixVector(const BlockMatrix& weight, const void* x, int64_t rows, Dtype dtype,
                           void* y, Dtype y_dtype, const Executor& executor, int64_t y_stride) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(weight.type));
  MIDSCOPE_KERNEL_CHECK(format.has_value());
  if (!format) return;
  MIDSCOPE_KERNEL_CHECK_EQ(weight.columns % format->elements, 0);
  MIDSCOPE_KERNEL_CHECK_GE(rows, 1);
  MIDSCOPE_KERNEL_CHECK_LE(rows, kMatrixVectorRows);
  MIDSCOPE_KERNEL_CHECK(y_dtype == dtype || y_dtype == Dtype::kFloat32);
  MIDSCOPE_KERNEL_CHECK(y_stride == 0 || y_stride >= weight.rows);
  // Rounds up to whole parts of 32 elements, which are read together.
  const int64_t stride = (weight.columns + 31) / 32 * 32;
  BorrowedScratch<InputTag> scratch;
  auto* wide = scratch.Get<float>(rows * stride);
  Widen(x, dtype, rows, weight.columns, stride, wide);
  if (y_stride == 0) y_stride = weight.rows;
  const ProductWork work{weight, wide, stride, rows, y, y_stride, y_dtype};
  executor.For(weight.rows, kOutputGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(ProductRange)(work, begin, end);
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
