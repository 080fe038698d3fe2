// SPDX-License-Identifier: MIT
#include "kernels/quantised_matrix_vector.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>

#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantised_matrix_vector.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/quantised_blocks-inl.h"
#include "kernels/rows-inl.h"

#ifndef MIDSCOPE_KERNELS_QUANTISED_MATRIX_VECTOR_ONCE
#define MIDSCOPE_KERNELS_QUANTISED_MATRIX_VECTOR_ONCE
namespace midscope::kernels {

struct ProductWork {
  const BlockMatrix& weight;
  BlockFormat format;
  const float* x;  // [row, x_stride]; zeros beyond weight.columns
  int64_t x_stride;
  int64_t rows;
  void* y;
  Dtype y_dtype;
};

// Elements that formats without code of their own are dequantised at a time: whole blocks.
constexpr int64_t kChunk = 1024;

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace quantised {

// Two chains of sums a row hide the latency of the additions. Every row is summed in the same order
// whichever rows are multiplied along with it.
template <int kRows>
struct Sums {
  V v[kRows][2];

  HWY_INLINE void Clear() {
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) v[r][0] = v[r][1] = hn::Zero(D());
  }
  HWY_INLINE void AddPart(const Part& part, const float* x, int64_t x_stride) {
    const D d;
#pragma GCC unroll 4
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < kVectors; ++i) {
        const V vector = hn::LoadU(d, x + r * x_stride + i * kLanes);
        v[r][i % 2] = hn::MulAdd(part.v[i], vector, v[r][i % 2]);
      }
    }
  }
};

template <class Format, int kRows, int... kPart>
HWY_INLINE void AddBlock(const uint8_t* at, const float* x, int64_t x_stride, Sums<kRows>& sums,
                         std::integer_sequence<int, kPart...> /*parts*/) {
  const typename Format::Header header = Format::Read(at);
  (sums.AddPart(Format::template Get<kPart>(at, header), x + kPart * kPartElements, x_stride), ...);
}

// Elements first .. columns - 1 of a row by way of memory.
template <int kRows>
HWY_INLINE void AddDequantised(const ProductWork& work, const uint8_t* row, int64_t first,
                               const float* x, Sums<kRows>& sums) {
  const D d;
  alignas(64) float values[kChunk];
  for (int64_t at = first; at < work.weight.columns; at += kChunk) {
    const int64_t count = std::min(kChunk, work.weight.columns - at);
    Dequantise(work.format.type, row + at / work.format.elements * work.format.bytes, count,
               values);
    const int64_t padded = (count + kPartElements - 1) / kPartElements * kPartElements;
    std::fill(values + count, values + padded, 0.0f);
    for (int64_t i = 0; i < padded; i += kPartElements) {
      Part part;
#pragma GCC unroll 8
      for (int v = 0; v < kVectors; ++v) part.v[v] = hn::Load(d, values + i + v * kLanes);
      sums.AddPart(part, x + at + i, work.x_stride);
    }
  }
}

struct Dequantised {};

// y for rows r .. r + kRows - 1 and one output.
template <class Format, int kRows>
HWY_INLINE void Product(const ProductWork& work, int64_t output, int64_t r) {
  const auto* row = reinterpret_cast<const uint8_t*>(work.weight.Row(output));
  const float* x = work.x + r * work.x_stride;
  Sums<kRows> sums;
  sums.Clear();
  int64_t done = 0;
  if constexpr (!std::is_same_v<Format, Dequantised>) {
    constexpr int64_t kElements = Format::kParts * kPartElements;
    const int64_t blocks = work.weight.columns / kElements;
    for (int64_t block = 0; block < blocks; ++block) {
      AddBlock<Format>(row + block * Format::kBytes, x + block * kElements, work.x_stride, sums,
                       std::make_integer_sequence<int, Format::kParts>());
    }
    done = blocks * kElements;
  }
  if (done < work.weight.columns) AddDequantised(work, row, done, x, sums);
  const D d;
  const hn::CappedTag<float, 1> one;
#pragma GCC unroll 4
  for (int i = 0; i < kRows; ++i) {
    const V both = hn::Add(sums.v[i][0], sums.v[i][1]);
    const auto total = hn::Set(one, hn::GetLane(hn::SumOfLanes(d, both)));
    const int64_t at = (r + i) * work.weight.rows + output;
    if (work.y_dtype == Dtype::kFloat32) {
      StoreFloats(one, total, static_cast<float*>(work.y) + at);
    } else {
      StoreFloats(one, total, static_cast<BFloat16*>(work.y) + at);
    }
  }
}

template <class Format>
void Products(const ProductWork& work, int64_t begin, int64_t end) {
  for (int64_t output = begin; output < end; ++output) {
    int64_t r = 0;
    for (; r + 4 <= work.rows; r += 4) Product<Format, 4>(work, output, r);
    for (; r + 2 <= work.rows; r += 2) Product<Format, 2>(work, output, r);
    for (; r < work.rows; ++r) Product<Format, 1>(work, output, r);
  }
}

}  // namespace quantised

void ProductRange(const ProductWork& work, int64_t begin, int64_t end) {
  using namespace quantised;
  switch (work.format.type) {
    case BlockType::kF32:
      return Products<Plain<BlockType::kF32>>(work, begin, end);
    case BlockType::kF16:
      return Products<Plain<BlockType::kF16>>(work, begin, end);
    case BlockType::kBF16:
      return Products<Plain<BlockType::kBF16>>(work, begin, end);
    case BlockType::kQ4_0:
      return Products<Nibbles<false>>(work, begin, end);
    case BlockType::kQ4_1:
      return Products<Nibbles<true>>(work, begin, end);
    case BlockType::kQ8_0:
      return Products<Q80>(work, begin, end);
    case BlockType::kQ4_K:
      return Products<Q45K<false>>(work, begin, end);
    case BlockType::kQ5_K:
      return Products<Q45K<true>>(work, begin, end);
    case BlockType::kQ6_K:
      return Products<Q6K>(work, begin, end);
    default:
      return Products<Dequantised>(work, begin, end);
  }
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

// x as float32 into out [rows, stride], zeros behind each row.
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
                           void* y, Dtype y_dtype, const Executor& executor) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(weight.type));
  assert(format && weight.columns % format->elements == 0);
  if (!format) return;
  // Parts of 32 elements are read whole.
  const int64_t stride = (weight.columns + 31) / 32 * 32;
  BorrowedScratch<InputTag> scratch;
  auto* wide = scratch.Get<float>(rows * stride);
  Widen(x, dtype, rows, weight.columns, stride, wide);
  const ProductWork work{weight, *format, wide, stride, rows, y, y_dtype};
  executor.For(weight.rows, kOutputGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(ProductRange)(work, begin, end);
  });
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
