// SPDX-License-Identifier: MIT
#include "kernels/float_product.h"

#include <algorithm>

#include "kernels/check.h"
#include "kernels/row_work.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/float_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/rows-inl.h"
#include "kernels/transpose-inl.h"

#ifndef MIDSCOPE_KERNELS_FLOAT_PRODUCT_ONCE
#define MIDSCOPE_KERNELS_FLOAT_PRODUCT_ONCE
namespace midscope::kernels {

// Outputs that a thread takes at a time: whole panels of every target.
constexpr int64_t kProductGroup = 64;
// Inputs that are multiplied before the sums are stored: whole blocks of any type. A panel of so
// many lies in the first cache while many rows pass it, those rows of x in the second.
constexpr int64_t kProductInputs = 256;
// What is left over at the end of a row may join the last inputs.
constexpr int64_t kMostProductInputs = 384;
// Strips of x that pass a panel before the next.
constexpr int64_t kStripsAtOnce = 16;

struct FloatWork {
  const BlockMatrix& weight;
  BlockFormat format;
  const float* x;  // packed: [strip][inputs][rows of a strip]
  int64_t rows;
  void* y;
  Dtype y_dtype;
  int64_t y_stride;
  CancelFlag cancel;
};

struct FloatGroupTag {};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace float_product {

// Fixed-size vectors only: sums live in arrays.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int64_t kLanes = hn::MaxLanes(D());
// Rows x vectors of sums, two vectors of weights and a number of x: 27 of 32 registers, or 15 of
// 16.
constexpr int64_t kVectors = 2;
constexpr int64_t kStrip = HWY_MAX_BYTES >= 64 ? 12 : 6;
constexpr int64_t kPanel = kVectors * kLanes;
static_assert(kProductGroup % kPanel == 0);

// sums [kStrip][kPanel] = (kFirst) or += x [count][kStrip]^T times panel [count][kPanel]: one chain
// of additions for each sum, in the order of the inputs.
template <bool kFirst>
HWY_INLINE void MultiplyStrip(const float* HWY_RESTRICT x, const float* HWY_RESTRICT panel,
                              int64_t count, float* HWY_RESTRICT sums) {
  const D d;
  V v[kStrip][kVectors];
#pragma GCC unroll 12
  for (int64_t r = 0; r < kStrip; ++r) {
#pragma GCC unroll 2
    for (int64_t i = 0; i < kVectors; ++i) {
      v[r][i] = kFirst ? hn::Zero(d) : hn::Load(d, sums + r * kPanel + i * kLanes);
    }
  }
  for (int64_t step = 0; step < count; ++step) {
    const V low = hn::Load(d, panel + step * kPanel);
    const V high = hn::Load(d, panel + step * kPanel + kLanes);
#pragma GCC unroll 12
    for (int64_t r = 0; r < kStrip; ++r) {
      const V number = hn::Set(d, x[step * kStrip + r]);
      v[r][0] = hn::MulAdd(low, number, v[r][0]);
      v[r][1] = hn::MulAdd(high, number, v[r][1]);
    }
  }
#pragma GCC unroll 12
  for (int64_t r = 0; r < kStrip; ++r) {
#pragma GCC unroll 2
    for (int64_t i = 0; i < kVectors; ++i) hn::Store(v[r][i], d, sums + r * kPanel + i * kLanes);
  }
}

// Weights of kPanel outputs from `output` on, inputs [first, first + count), into panel
// [count][kPanel]; zeros for outputs that are not there. rows: room for [kPanel][count].
void FillPanel(const FloatWork& work, int64_t output, int64_t first, int64_t count, float* rows,
               float* panel) {
  for (int64_t o = 0; o < kPanel; ++o) {
    if (output + o < work.weight.rows) {
      const std::byte* row = work.weight.Row(output + o);
      Dequantise(work.format.type, row + first / work.format.elements * work.format.bytes, count,
                 rows + o * count);
    } else {
      std::fill_n(rows + o * count, count, 0.0f);
    }
  }
  TransposeItems(rows, count, kPanel, panel, kPanel);
}

// sums [panel][row, padded][kPanel]: a row of y at a time, as its panels lie side by side there.
template <class Out>
HWY_INLINE void StoreGroup(const FloatWork& work, int64_t output, int64_t panels,
                           const float* sums) {
  const int64_t padded = (work.rows + kStrip - 1) / kStrip * kStrip;
  for (int64_t row = 0; row < work.rows; ++row) {
    Out* to = static_cast<Out*>(work.y) + row * work.y_stride + output;
    for (int64_t p = 0; p < panels; ++p) {
      const float* from = sums + (p * padded + row) * kPanel;
      const int64_t outputs = std::min(kPanel, work.weight.rows - output - p * kPanel);
      Out* out = to + p * kPanel;
      ForEachVector(outputs, [&](auto d, int64_t i)
                                 HWY_ATTR { StoreFloats(d, hn::LoadU(d, from + i), out + i); });
    }
  }
}

// All of y for outputs output .. output + kProductGroup - 1.
void MultiplyGroup(const FloatWork& work, int64_t output, float* rows, float* weights,
                   float* sums) {
  const int64_t outputs = std::min(kProductGroup, work.weight.rows - output);
  const int64_t panels = (outputs + kPanel - 1) / kPanel;
  const int64_t inputs = work.weight.columns;
  const int64_t strips = (work.rows + kStrip - 1) / kStrip;
  for (int64_t first = 0; first < inputs;) {
    const int64_t left = inputs - first;
    const int64_t count = left <= kMostProductInputs ? left : kProductInputs;
    for (int64_t p = 0; p < panels; ++p)
      FillPanel(work, output + p * kPanel, first, count, rows, weights + p * count * kPanel);
    for (int64_t begin = 0; begin < strips; begin += kStripsAtOnce) {
      const int64_t end = std::min(begin + kStripsAtOnce, strips);
      for (int64_t p = 0; p < panels; ++p) {
        const float* panel = weights + p * count * kPanel;
        for (int64_t strip = begin; strip < end; ++strip) {
          const float* x = work.x + (strip * inputs + first) * kStrip;
          float* to = sums + (p * strips + strip) * kStrip * kPanel;
          if (first == 0) {
            MultiplyStrip<true>(x, panel, count, to);
          } else {
            MultiplyStrip<false>(x, panel, count, to);
          }
        }
      }
    }
    first += count;
  }
  if (work.y_dtype == Dtype::kFloat32) {
    StoreGroup<float>(work, output, panels, sums);
  } else {
    StoreGroup<BFloat16>(work, output, panels, sums);
  }
}

// Strips begin .. end - 1 of x [rows, columns] into out [strip][columns][kStrip]; zeros for rows
// that are not there. `work` [kStrip][columns].
template <class In>
void PackStrips(const In* x, int64_t rows, int64_t columns, int64_t begin, int64_t end, float* work,
                float* out) {
  for (int64_t strip = begin; strip < end; ++strip) {
    for (int64_t r = 0; r < kStrip; ++r) {
      float* to = work + r * columns;
      const int64_t row = strip * kStrip + r;
      if (row >= rows) {
        std::fill_n(to, columns, 0.0f);
        continue;
      }
      const In* from = x + row * columns;
      ForEachVector(columns, [&](auto d, int64_t i)
                                 HWY_ATTR { hn::StoreU(LoadFloats(d, from + i), d, to + i); });
    }
    float* to = out + strip * columns * kStrip;
    for (int64_t row = 0; row < kStrip; row += 4) {
      const int64_t at = std::min(row, kStrip - 4);
      TransposeItems(work + at * columns, columns, 4, to + at, kStrip);
    }
  }
}

}  // namespace float_product

int64_t FloatProductStrip() { return float_product::kStrip; }

// Floats that FloatProductRange borrows.
int64_t SumFloats(int64_t rows) {
  using float_product::kStrip;
  return (rows + kStrip - 1) / kStrip * kStrip * kProductGroup;
}

// Outputs begin .. end - 1.
void FloatProductRange(const FloatWork& work, int64_t begin, int64_t end) {
  BorrowedScratch<FloatGroupTag> scratch;
  const int64_t rows_floats = float_product::kPanel * kMostProductInputs;
  const int64_t weight_floats = kProductGroup * kMostProductInputs;
  auto* rows = scratch.Get<float>(rows_floats + weight_floats + SumFloats(work.rows));
  float* weights = rows + rows_floats;
  float* sums = weights + weight_floats;
  for (int64_t output = begin; output < end && !Cancelled(work.cancel); output += kProductGroup)
    float_product::MultiplyGroup(work, output, rows, weights, sums);
}

void PackFloatStrips(const void* x, Dtype dtype, int64_t rows, int64_t columns, int64_t begin,
                     int64_t end, float* out) {
  BorrowedScratch<FloatGroupTag> scratch;
  auto* work = scratch.Get<float>(float_product::kStrip * columns);
  if (dtype == Dtype::kFloat32) {
    float_product::PackStrips(static_cast<const float*>(x), rows, columns, begin, end, work, out);
  } else {
    float_product::PackStrips(static_cast<const BFloat16*>(x), rows, columns, begin, end, work,
                              out);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(FloatProductRange);
HWY_EXPORT(PackFloatStrips);
HWY_EXPORT(FloatProductStrip);

namespace {
struct FloatInputTag {};
}  // namespace

bool FloatProduct(const BlockMatrix& weight, const void* x, int64_t rows, Dtype dtype, void* y,
                  Dtype y_dtype, int64_t y_stride, const Executor& executor, CancelFlag cancel) {
  const auto format = FindBlockFormat(static_cast<uint32_t>(weight.type));
  MIDSCOPE_KERNEL_CHECK(format.has_value());
  if (!format || rows <= 0) return true;
  MIDSCOPE_KERNEL_CHECK_EQ(weight.columns % format->elements, 0);
  MIDSCOPE_KERNEL_CHECK_GE(y_stride, weight.rows);
  const int64_t columns = weight.columns;
  const int64_t strip = HWY_DYNAMIC_DISPATCH(FloatProductStrip)();
  const int64_t strips = (rows + strip - 1) / strip;
  BorrowedScratch<FloatInputTag> scratch;
  auto* packed = scratch.Get<float>(strips * strip * columns);
  executor.For(strips, std::max<int64_t>(RowGrain(columns) / strip, 1),
               [&](int64_t begin, int64_t end) {
                 HWY_DYNAMIC_DISPATCH(PackFloatStrips)(x, dtype, rows, columns, begin, end, packed);
               });
  const FloatWork work{weight, *format, packed, rows, y, y_dtype, y_stride, cancel};
  executor.For(weight.rows, kProductGroup, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(FloatProductRange)(work, begin, end);
  });
  return !Cancelled(cancel);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
