// SPDX-License-Identifier: MIT
#include "kernels/int8_product.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/check.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/int8_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/int8_blocks-inl.h"
#include "kernels/int8_dot-inl.h"
#include "kernels/transpose-inl.h"

#ifndef MIDSCOPE_KERNELS_INT8_PRODUCT_ONCE
#define MIDSCOPE_KERNELS_INT8_PRODUCT_ONCE
namespace midscope::kernels {

struct Int8Work {
  const BlockMatrix& weight;
  RoundedRows x;
  int64_t rows;
  void* y;
  Dtype y_dtype;
  int64_t y_stride;
  CancelFlag cancel;

  int64_t blocks() const { return weight.columns / kInt8Block; }
};

struct Int8PanelTag {};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

// Rows and vectors of outputs at once: their sums, in whole numbers and in float32, stay in
// registers.
constexpr int kTileVectors = 2;
constexpr int kTileRows = HWY_MAX_BYTES >= 64 ? 6 : 2;
constexpr int64_t kPanelOutputs = kTileVectors * kLanes;
constexpr int64_t kSteps = kInt8Block / 4;  // a step is four inputs

// Some outputs' weights of all inputs, side by side.
struct Panel {
  uint8_t* numbers;  // [block][step][kPanelOutputs][4]
  float* scales;     // [block][scale][kPanelOutputs]
  float* minima;     // [block][kPanelOutputs]
};

// Scales of a part of 32 elements.
template <class Format>
constexpr int64_t kScales = kInt8Block / Format::kScaleElements;

// Outputs beyond the matrix repeat its last one; nothing is stored of them.
template <class Format>
HWY_NOINLINE void FillPanel(const BlockMatrix& weight, int64_t output, const Panel& panel) {
  constexpr int64_t kParts = Format::Stored::kElements / kInt8Block;
  for (int64_t o = 0; o < kPanelOutputs; ++o) {
    const auto* at =
        reinterpret_cast<const uint8_t*>(weight.Row(std::min(output + o, weight.rows - 1)));
    for (int64_t part = 0; part < weight.columns / kInt8Block; part += kParts) {
      alignas(64) uint8_t numbers[kParts * kInt8Block];
      float scales[kParts * kScales<Format>];
      float minima[kParts];
      Format::Unpack(at, numbers, scales, minima);
      at += Format::Stored::kBytes;
      uint8_t* to = panel.numbers + (part * kSteps * kPanelOutputs + o) * 4;
      for (int64_t step = 0; step < kParts * kSteps; ++step)
        std::memcpy(to + step * kPanelOutputs * 4, numbers + step * 4, 4);
      for (int64_t i = 0; i < kParts * kScales<Format>; ++i)
        panel.scales[(part * kScales<Format> + i) * kPanelOutputs + o] = scales[i];
      if constexpr (Format::kMinimum) {
        for (int64_t i = 0; i < kParts; ++i)
          panel.minima[(part + i) * kPanelOutputs + o] = minima[i];
      }
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
using DU = hn::RebindToUnsigned<D>;
using VU = hn::Vec<DU>;

HWY_INLINE hn::Vec<hn::Full128<uint32_t>> SixteenBytes(const uint8_t* at) {
  return hn::BitCast(hn::Full128<uint32_t>(), hn::LoadU(hn::Full128<uint8_t>(), at));
}

// The 16 bytes behind each of four, eight or sixteen addresses, four apart: a part of the vector
// for each of them.
template <class D32>
HWY_INLINE hn::Vec<D32> EveryFourth(D32 d, const uint8_t* const* rows, int64_t at) {
  constexpr int64_t kCount = hn::MaxLanes(D32());
  if constexpr (kCount == 4) {
    return SixteenBytes(rows[0] + at);
  } else {
    const hn::Half<D32> half;
    return hn::Combine(d, EveryFourth(half, rows + kCount / 2, at), EveryFourth(half, rows, at));
  }
}

// quads[i], lane o: bytes 4 i .. 4 i + 3 of the 16 at rows[o] + at.
HWY_INLINE void TransposeQuads(const uint8_t* const* rows, int64_t at, VU (&quads)[kSquare]) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < kSquare; ++i) quads[i] = EveryFourth(DU(), rows + i, at);
  TransposeSquare(quads);
}

// A part of 32 elements of kLanes outputs into its steps.
template <class Format>
HWY_INLINE void FillSteps(const uint8_t* const* rows, int64_t at, uint32_t* to) {
  const DU d32;
  VU quads[kSquare];
  TransposeQuads(rows, at, quads);
  if constexpr (Format::kPlain == PlainBlocks::kNibbles) {
    const VU low = hn::Set(d32, 0x0f0f0f0fu);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSquare; ++i) {
      hn::Store(hn::And(quads[i], low), d32, to + i * kPanelOutputs);
      hn::Store(hn::And(hn::ShiftRight<4>(quads[i]), low), d32, to + (i + 4) * kPanelOutputs);
    }
  } else {
    const VU sign = hn::Set(d32, 0x80808080u);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSquare; ++i)
      hn::Store(hn::Xor(quads[i], sign), d32, to + i * kPanelOutputs);
    TransposeQuads(rows, at + 16, quads);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSquare; ++i)
      hn::Store(hn::Xor(quads[i], sign), d32, to + (i + 4) * kPanelOutputs);
  }
}

// The binary16 numbers at rows[o] + at, o < kPanelOutputs, as float32.
HWY_INLINE void FillHalves(const uint8_t* const* rows, int64_t at, float* to) {
  const hn::Rebind<uint16_t, D> d16;
  alignas(64) uint16_t halves[kPanelOutputs];
#pragma GCC unroll 32
  for (int64_t o = 0; o < kPanelOutputs; ++o) std::memcpy(halves + o, rows[o] + at, 2);
  for (int64_t v = 0; v < kPanelOutputs; v += kLanes)
    hn::Store(HalvesToFloats(hn::LoadU(d16, halves + v)), D(), to + v);
}
#endif

// FillPanel for blocks of 32 plain nibbles or bytes and numbers in binary16, a vector of outputs at
// a time: for few rows of x this takes longer than the products.
template <class Format>
HWY_NOINLINE void FillPlain(const BlockMatrix& weight, int64_t output, const Panel& panel) {
#if HWY_TARGET != HWY_SCALAR
  constexpr int64_t kLineBytes = 64;
  const auto row_of = [&](int64_t o) {
    return reinterpret_cast<const uint8_t*>(weight.Row(std::min(o, weight.rows - 1)));
  };
  const uint8_t* rows[kPanelOutputs];
  const uint8_t* next_rows[kPanelOutputs];
  for (int64_t o = 0; o < kPanelOutputs; ++o) {
    rows[o] = row_of(output + o);
    next_rows[o] = row_of(output + kPanelOutputs + o);
  }
  for (int64_t part = 0; part < weight.columns / kInt8Block; ++part) {
    auto* to = reinterpret_cast<uint32_t*>(panel.numbers) + part * kSteps * kPanelOutputs;
    const int64_t at = part * Format::Stored::kBytes;
    // Few rows of x are bound by reading weights: those of the next panel are on their way then.
    if (at % kLineBytes < Format::Stored::kBytes) {
      for (const uint8_t* row : next_rows) hwy::Prefetch(row + at);
    }
    for (int64_t o = 0; o < kPanelOutputs; o += kLanes)
      FillSteps<Format>(rows + o, at + Format::kQuants, to + o);
    FillHalves(rows, at, panel.scales + part * kPanelOutputs);
    if constexpr (Format::kMinimum) FillHalves(rows, at + 2, panel.minima + part * kPanelOutputs);
  }
#else
  FillPanel<Format>(weight, output, panel);
#endif
}

// y [kPanelOutputs] of one row, of which `outputs` are wanted.
HWY_INLINE void StoreOutputs(const V (&sums)[kTileVectors], int64_t outputs, Dtype dtype, void* y) {
  const D d;
  alignas(64) float values[kPanelOutputs];
  for (int v = 0; v < kTileVectors; ++v) hn::Store(sums[v], d, values + v * kLanes);
  if (dtype == Dtype::kFloat32) {
    std::memcpy(y, values, static_cast<size_t>(outputs) * sizeof(float));
  } else {
    auto* to = static_cast<BFloat16*>(y);
    for (int64_t o = 0; o < outputs; ++o) to[o] = ToBFloat16(values[o]);
  }
}

// Rows row .. row + kRows - 1 of y for the panel's outputs.
template <class Format, int kRows>
HWY_NOINLINE void MultiplyTile(const Int8Work& work, const Panel& panel, int64_t output,
                               int64_t row) {
  constexpr int64_t kScaleSteps = Format::kScaleElements / 4;
  const D d;
  const int64_t columns = work.weight.columns;
  const int64_t blocks = work.blocks();
  const int8_t* x = work.x.numbers + row * columns;
  const float* x_scales = work.x.scales + row * blocks;
  const float* x_sums = work.x.scaled_sums + row * blocks;
  const int32_t* x_halves = work.x.half_sums + row * blocks * 2;
  V sums[kRows][kTileVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kTileVectors; ++v) sums[r][v] = hn::Zero(d);
  }
  for (int64_t block = 0; block < blocks; ++block) {
#pragma GCC unroll 2
    for (int64_t scale = 0; scale < kScales<Format>; ++scale) {
      Dots<Format::kLargest, kRows, kTileVectors> dots;
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const int32_t* half = x_halves + (r * blocks + block) * 2;
        const int32_t sum = kScales<Format> == 2 ? half[scale] : half[0] + half[1];
        dots.Start(r, Format::kOffset, sum);
      }
#pragma GCC unroll 8
      for (int64_t step = 0; step < kScaleSteps; ++step) {
        const int64_t at = block * kSteps + scale * kScaleSteps + step;
        dots.Add(static_cast<int>(step), step + 1 == kScaleSteps,
                 panel.numbers + at * kPanelOutputs * 4, x + at * 4, columns);
      }
      const float* scales = panel.scales + (block * kScales<Format> + scale) * kPanelOutputs;
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) {
        const V weight_scale = hn::Load(d, scales + v * kLanes);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const V product = hn::Mul(hn::ConvertTo(d, dots.sums[r][v]), weight_scale);
          sums[r][v] = hn::MulAdd(product, hn::Set(d, x_scales[r * blocks + block]), sums[r][v]);
        }
      }
    }
    if constexpr (Format::kMinimum) {
#pragma GCC unroll 4
      for (int v = 0; v < kTileVectors; ++v) {
        const V minimum = hn::Load(d, panel.minima + block * kPanelOutputs + v * kLanes);
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          sums[r][v] = hn::MulAdd(minimum, hn::Set(d, x_sums[r * blocks + block]), sums[r][v]);
        }
      }
    }
  }
  const int64_t outputs = std::min(kPanelOutputs, work.weight.rows - output);
  for (int r = 0; r < kRows; ++r) {
    auto* y = static_cast<std::byte*>(work.y) +
              ((row + r) * work.y_stride + output) * SizeOf(work.y_dtype);
    StoreOutputs(sums[r], outputs, work.y_dtype, y);
  }
}

template <class Format>
HWY_INLINE void MultiplyPanel(const Int8Work& work, const Panel& panel, int64_t output) {
  int64_t row = 0;
  for (; row + kTileRows <= work.rows; row += kTileRows)
    MultiplyTile<Format, kTileRows>(work, panel, output, row);
  for (; row + 2 <= work.rows; row += 2) MultiplyTile<Format, 2>(work, panel, output, row);
  for (; row < work.rows; ++row) MultiplyTile<Format, 1>(work, panel, output, row);
}

// One block of x, [32], rounded.
template <class T>
HWY_INLINE void RoundBlock(const T* x, int8_t* numbers, float* scale, float* scaled_sum,
                           int32_t* half_sums) {
  const D d;
  V values[kVectors];
  V most = hn::Zero(d);
  V none = hn::Zero(d);  // NaN where x has a number that is not finite
  for (int64_t v = 0; v < kVectors; ++v) {
    values[v] = LoadFloats(d, x + v * kLanes);
    most = hn::Max(most, hn::Abs(values[v]));
    none = hn::Add(none, hn::Sub(values[v], values[v]));
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
  const float not_finite = hn::GetLane(hn::SumOfLanes(d, none));
  // Smaller ones have no inverse in float32.
  constexpr float kSmallest = 1e-35f;
  const bool empty = !(largest >= kSmallest) || not_finite != 0.0f;
  const V inverse = hn::Set(d, empty ? 0.0f : 127.0f / largest);
  const hn::Rebind<int8_t, D> d8;
  for (int64_t v = 0; v < kVectors; ++v) {
    const V scaled = empty ? hn::Zero(d) : hn::Mul(values[v], inverse);
    const auto rounded = hn::NearestInt(scaled);
    hn::StoreU(hn::DemoteTo(d8, rounded), d8, numbers + v * kLanes);
  }
  for (int64_t half = 0; half < 2; ++half) {
    int32_t sum = 0;
    for (int64_t i = 0; i < 16; ++i) sum += numbers[half * 16 + i];
    half_sums[half] = sum;
  }
  *scale = (empty ? 0.0f : largest / 127.0f) + not_finite;
  *scaled_sum = *scale * static_cast<float>(half_sums[0] + half_sums[1]);
}

}  // namespace blocks

// Outputs begin .. end - 1.
void Int8ProductRange(const Int8Work& work, int64_t begin, int64_t end) {
  using blocks::kPanelOutputs;
  blocks::VisitWhole(blocks::WholeFormats(), work.weight.type, [&](auto format) HWY_ATTR {
    using Format = decltype(format);
    const int64_t columns = work.weight.columns;
    const int64_t numbers = columns * kPanelOutputs;
    const int64_t scales = columns / Format::kScaleElements * kPanelOutputs;
    BorrowedScratch<Int8PanelTag> scratch;
    auto* memory = scratch.Get<uint8_t>(numbers + (scales + work.blocks() * kPanelOutputs) *
                                                      static_cast<int64_t>(sizeof(float)));
    auto* floats = reinterpret_cast<float*>(memory + numbers);
    const blocks::Panel panel{memory, floats, floats + scales};
    for (int64_t output = begin; output < end && !Cancelled(work.cancel); output += kPanelOutputs) {
      if constexpr (Format::kPlain != blocks::PlainBlocks::kNo) {
        blocks::FillPlain<Format>(work.weight, output, panel);
      } else {
        blocks::FillPanel<Format>(work.weight, output, panel);
      }
      blocks::MultiplyPanel<Format>(work, panel, output);
    }
  });
}

// Blocks first .. last - 1 of all of x.
void RoundInput(const void* x, Dtype dtype, const RoundedRows& out, int64_t first, int64_t last) {
  for (int64_t block = first; block < last; ++block) {
    const int64_t at = block * kInt8Block;
    if (dtype == Dtype::kFloat32) {
      blocks::RoundBlock(static_cast<const float*>(x) + at, out.numbers + at, out.scales + block,
                         out.scaled_sums + block, out.half_sums + block * 2);
    } else {
      blocks::RoundBlock(static_cast<const BFloat16*>(x) + at, out.numbers + at, out.scales + block,
                         out.scaled_sums + block, out.half_sums + block * 2);
    }
  }
}

bool IsWholeFormat(BlockType type) {
  return blocks::VisitWhole(blocks::WholeFormats(), type, [](auto) {});
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(Int8ProductRange);
HWY_EXPORT(RoundInput);
HWY_EXPORT(IsWholeFormat);

namespace {

constexpr int64_t kOutputGrain = 32;  // a multiple of every target's panel
constexpr int64_t kBlockGrain = 512;

}  // namespace

bool HasInt8Product(BlockType type) { return HWY_DYNAMIC_DISPATCH(IsWholeFormat)(type); }

Int8Input::Int8Input(const void* x, Dtype dtype, int64_t rows, int64_t columns,
                     const Executor& executor)
    : rows_(rows), columns_(columns) {
  MIDSCOPE_KERNEL_CHECK_EQ(columns % kInt8Block, 0);
  const int64_t blocks = rows * (columns / kInt8Block);
  auto* memory = scratch_.Get<int8_t>(blocks * (kInt8Block + 16));
  auto* floats = reinterpret_cast<float*>(memory + blocks * kInt8Block);
  rounded_ = {memory, floats, floats + blocks, reinterpret_cast<int32_t*>(floats + 2 * blocks)};
  executor.For(blocks, kBlockGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(RoundInput)(x, dtype, rounded_, begin, end);
  });
}

bool Int8Product(const BlockMatrix& weight, const Int8Input& x, void* y, Dtype y_dtype,
                 int64_t y_stride, const Executor& executor, CancelFlag cancel) {
  MIDSCOPE_KERNEL_CHECK(HasInt8Product(weight.type));
  MIDSCOPE_KERNEL_CHECK_EQ(weight.columns, x.columns());
  MIDSCOPE_KERNEL_CHECK_GE(y_stride, weight.rows);
  if (x.rows() <= 0) return true;
  const Int8Work work{weight, x.rounded(), x.rows(), y, y_dtype, y_stride, cancel};
  executor.For(weight.rows, kOutputGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(Int8ProductRange)(work, begin, end);
  });
  return !Cancelled(cancel);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
