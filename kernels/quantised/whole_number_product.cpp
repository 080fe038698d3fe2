// SPDX-License-Identifier: MIT
#include "kernels/quantised/whole_number_product.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/check.h"
#include "kernels/scratch.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/quantised/whole_number_product.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "kernels/quantised/whole_number_panels-inl.h"

#ifndef MIDSCOPE_KERNELS_WHOLE_NUMBER_PRODUCT_ONCE
#define MIDSCOPE_KERNELS_WHOLE_NUMBER_PRODUCT_ONCE
namespace midscope::kernels {

struct WholeNumberWork {
  const BlockMatrix& weight;
  RoundedRows x;
  RoundedBits bits;
  int64_t rows;
  void* y;
  Dtype y_dtype;
  int64_t y_stride;
  CancelFlag cancel;

  int64_t blocks() const { return weight.columns / kRoundedBlock; }
};

struct WholeNumberPanelTag {};

struct RoundingWork {
  const void* x;
  Dtype dtype;
  RoundedBits bits;
  int64_t blocks;  // blocks per row
  const RoundedRows& out;
};

}  // namespace midscope::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

// Writes the first `outputs` of kPanelOutputs sums of one row to y.
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

// Adds a block's minima times the sums of x in the block to `sums`, for kRows rows.
template <int kRows>
HWY_INLINE void AddMinima(const float* minima, const float* x_sums, int64_t blocks,
                          V (&sums)[kRows][kTileVectors]) {
  const D d;
#pragma GCC unroll 4
  for (int v = 0; v < kTileVectors; ++v) {
    const V minimum = hn::Load(d, minima + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      sums[r][v] = hn::MulAdd(minimum, hn::Set(d, x_sums[r * blocks]), sums[r][v]);
  }
}

// Adds a block's integer sums, times the scales of weights and of x, to `sums`.
template <int kRows, class Dots>
HWY_INLINE void AddScaled(const Dots& dots, const float* scales, const float* x_scales,
                          int64_t blocks, V (&sums)[kRows][kTileVectors]) {
  const D d;
#pragma GCC unroll 4
  for (int v = 0; v < kTileVectors; ++v) {
    const V weight_scale = hn::Load(d, scales + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const V product = hn::Mul(hn::ConvertTo(d, dots.sums[r][v]), weight_scale);
      sums[r][v] = hn::MulAdd(product, hn::Set(d, x_scales[r * blocks]), sums[r][v]);
    }
  }
}

// Computes y for the panel's outputs and rows row .. row + kRows - 1, which are in one tile of x.
// Prefetches the next tile meanwhile.
template <class Bits, class Format, int kRows>
HWY_NOINLINE void MultiplyTile(const WholeNumberWork& work, const Panel& panel, int64_t output,
                               int64_t row) {
  constexpr int64_t kScaleSteps = Format::kScaleElements / Bits::kStepInputs;
  constexpr int64_t kTileRows = Bits::kTileRows;
  constexpr int64_t kBlockBytes = kSteps<Bits> * kTileRows * kStepBytes;
  const D d;
  const int64_t blocks = work.blocks();
  const auto* x = static_cast<const uint8_t*>(work.x.numbers) +
                  row / kTileRows * blocks * kBlockBytes + row % kTileRows * kStepBytes;
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
    if constexpr (kRows == kTileRows) {
      for (int64_t i = 0; i < kBlockBytes; i += kLineBytes)
        hwy::Prefetch(x + (blocks + block) * kBlockBytes + i);
    }
#pragma GCC unroll 2
    for (int64_t scale = 0; scale < kScales<Format>; ++scale) {
      typename Bits::template Dots<Format, kRows> dots;
#pragma GCC unroll 8
      for (int r = 0; r < kRows; ++r) {
        const int32_t* half = x_halves + (r * blocks + block) * 2;
        const int32_t sum = kScales<Format> == 2 ? half[scale] : half[0] + half[1];
        dots.Start(r, Format::kOffset, sum);
      }
#pragma GCC unroll 16
      for (int64_t step = 0; step < kScaleSteps; ++step) {
        const int64_t at = block * kSteps<Bits> + scale * kScaleSteps + step;
        AddStep(static_cast<int>(step), step + 1 == kScaleSteps,
                panel.numbers + at * kPanelOutputs * kStepBytes, x + at * kTileRows * kStepBytes,
                dots);
      }
      AddScaled<kRows>(dots, panel.scales + (block * kScales<Format> + scale) * kPanelOutputs,
                       x_scales + block, blocks, sums);
    }
    if constexpr (Format::kMinimum)
      AddMinima<kRows>(panel.minima + block * kPanelOutputs, x_sums + block, blocks, sums);
  }
  const int64_t outputs = std::min(kPanelOutputs, work.weight.rows - output);
  for (int r = 0; r < kRows; ++r) {
    auto* y = static_cast<std::byte*>(work.y) +
              ((row + r) * work.y_stride + output) * SizeOf(work.y_dtype);
    StoreOutputs(sums[r], outputs, work.y_dtype, y);
  }
}

template <class Bits, class Format>
HWY_INLINE void MultiplyPanel(const WholeNumberWork& work, const Panel& panel, int64_t output) {
  constexpr int kTileRows = Bits::kTileRows;
  int64_t row = 0;
  for (; row + kTileRows <= work.rows; row += kTileRows)
    MultiplyTile<Bits, Format, kTileRows>(work, panel, output, row);
  for (; row + 2 <= work.rows; row += 2) MultiplyTile<Bits, Format, 2>(work, panel, output, row);
  for (; row < work.rows; ++row) MultiplyTile<Bits, Format, 1>(work, panel, output, row);
}

// Rounds one block of x, [32], to integers in numbers [32].
template <class Bits, class T>
HWY_INLINE void RoundBlock(const T* x, typename Bits::X* numbers, float* scale, float* scaled_sum,
                           int32_t* half_sums) {
  const D d;
  V values[kVectors];
  V most = hn::Zero(d);
  V none = hn::Zero(d);  // NaN if x has a number that is not finite
  for (int64_t v = 0; v < kVectors; ++v) {
    values[v] = LoadFloats(d, x + v * kLanes);
    most = hn::Max(most, hn::Abs(values[v]));
    none = hn::Add(none, hn::Sub(values[v], values[v]));
  }
  const float largest = hn::GetLane(hn::MaxOfLanes(d, most));
  const float not_finite = hn::GetLane(hn::SumOfLanes(d, none));
  // Blocks with a smaller maximum become 0: kLargestX / maximum could overflow float32.
  constexpr float kSmallest = 1e-33f;
  const bool empty = !(largest >= kSmallest) || not_finite != 0.0f;
  const V inverse = hn::Set(d, empty ? 0.0f : Bits::kLargestX / largest);
  const hn::Rebind<typename Bits::X, D> dx;
  for (int64_t v = 0; v < kVectors; ++v) {
    const V scaled = empty ? hn::Zero(d) : hn::Mul(values[v], inverse);
    const auto rounded = hn::NearestInt(scaled);
    hn::StoreU(hn::DemoteTo(dx, rounded), dx, numbers + v * kLanes);
  }
  for (int64_t half = 0; half < 2; ++half) {
    int32_t sum = 0;
    for (int64_t i = 0; i < 16; ++i) sum += numbers[half * 16 + i];
    half_sums[half] = sum;
  }
  *scale = (empty ? 0.0f : largest / Bits::kLargestX) + not_finite;
  *scaled_sum = *scale * static_cast<float>(half_sums[0] + half_sums[1]);
}

// Rounds blocks first .. last - 1 of x, counted over all rows with `blocks` blocks each.
template <class Bits, class T>
HWY_INLINE void RoundBlocks(const T* x, int64_t blocks, const RoundedRows& out, int64_t first,
                            int64_t last) {
  constexpr int64_t kTileRows = Bits::kTileRows;
  for (int64_t block = first; block < last; ++block) {
    alignas(64) typename Bits::X numbers[kRoundedBlock];
    RoundBlock<Bits>(x + block * kRoundedBlock, numbers, out.scales + block,
                     out.scaled_sums + block, out.half_sums + block * 2);
    const int64_t row = block / blocks;
    const int64_t step = (row / kTileRows * blocks + block % blocks) * kSteps<Bits>;
    auto* to =
        static_cast<uint8_t*>(out.numbers) + (step * kTileRows + row % kTileRows) * kStepBytes;
    for (int64_t i = 0; i < kSteps<Bits>; ++i) {
      std::memcpy(to + i * kTileRows * kStepBytes, numbers + i * Bits::kStepInputs, kStepBytes);
    }
  }
}

template <class Bits, class Format>
HWY_INLINE void MultiplyOutputs(const WholeNumberWork& work, int64_t begin, int64_t end) {
  const int64_t columns = work.weight.columns;
  const int64_t numbers =
      columns * kPanelOutputs * static_cast<int64_t>(sizeof(typename Bits::Weight));
  const int64_t scales = columns / Format::kScaleElements * kPanelOutputs;
  BorrowedScratch<WholeNumberPanelTag> scratch;
  auto* memory = scratch.Get<uint8_t>(numbers + (scales + work.blocks() * kPanelOutputs) *
                                                    static_cast<int64_t>(sizeof(float)));
  auto* floats = reinterpret_cast<float*>(memory + numbers);
  const Panel panel{memory, floats, floats + scales};
  for (int64_t output = begin; output < end && !Cancelled(work.cancel); output += kPanelOutputs) {
    if constexpr (Format::kPlain != PlainBlocks::kNo) {
      FillPlain<Bits, Format>(work.weight, output, panel);
    } else {
      FillPanel<Bits, Format>(work.weight, output, panel);
    }
    MultiplyPanel<Bits, Format>(work, panel, output);
  }
}

}  // namespace blocks

// Computes outputs begin .. end - 1 of y for all rows.
void WholeNumberRange(const WholeNumberWork& work, int64_t begin, int64_t end) {
  blocks::VisitWhole(blocks::WholeFormats(), work.weight.type, [&](auto format) HWY_ATTR {
    using Format = decltype(format);
    if (work.bits == RoundedBits::k8) {
      blocks::MultiplyOutputs<blocks::Bits8, Format>(work, begin, end);
    } else {
      blocks::MultiplyOutputs<blocks::Bits16, Format>(work, begin, end);
    }
  });
}

// Rounds blocks first .. last - 1 of x, counted over all rows.
void RoundInput(const RoundingWork& work, int64_t first, int64_t last) {
  const auto round = [&](const auto* x) HWY_ATTR {
    if (work.bits == RoundedBits::k8) {
      blocks::RoundBlocks<blocks::Bits8>(x, work.blocks, work.out, first, last);
    } else {
      blocks::RoundBlocks<blocks::Bits16>(x, work.blocks, work.out, first, last);
    }
  };
  if (work.dtype == Dtype::kFloat32) {
    round(static_cast<const float*>(work.x));
  } else {
    round(static_cast<const BFloat16*>(work.x));
  }
}

int64_t WholeNumberTileRows(RoundedBits bits) {
  return bits == RoundedBits::k8 ? blocks::Bits8::kTileRows : blocks::Bits16::kTileRows;
}

bool IsWholeFormat(BlockType type) {
  return blocks::VisitWhole(blocks::WholeFormats(), type, [](auto) {});
}

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
HWY_EXPORT(WholeNumberRange);
HWY_EXPORT(RoundInput);
HWY_EXPORT(WholeNumberTileRows);
HWY_EXPORT(IsWholeFormat);

namespace {

constexpr int64_t kOutputGrain = 32;  // a multiple of every target's panel
constexpr int64_t kBlockGrain = 512;
// Additional bytes per block of x: two scales and two sums.
constexpr int64_t kBytesBeside = 2 * sizeof(float) + 2 * sizeof(int32_t);

}  // namespace

bool HasWholeNumberProduct(BlockType type) { return HWY_DYNAMIC_DISPATCH(IsWholeFormat)(type); }

RoundedInput::RoundedInput(const void* x, Dtype dtype, int64_t rows, int64_t columns,
                           RoundedBits bits, const Executor& executor)
    : rows_(rows), columns_(columns), bits_(bits) {
  MIDSCOPE_KERNEL_CHECK_EQ(columns % kRoundedBlock, 0);
  const int64_t tile = HWY_DYNAMIC_DISPATCH(WholeNumberTileRows)(bits);
  const int64_t tiles = (rows + tile - 1) / tile;
  const int64_t numbers = tiles * tile * columns * (bits == RoundedBits::k8 ? 1 : 2);
  const int64_t blocks = rows * (columns / kRoundedBlock);
  auto* memory = scratch_.Get<std::byte>(numbers + blocks * kBytesBeside);
  auto* floats = reinterpret_cast<float*>(memory + numbers);
  rounded_ = {memory, floats, floats + blocks, reinterpret_cast<int32_t*>(floats + 2 * blocks)};
  const RoundingWork work{x, dtype, bits, columns / kRoundedBlock, rounded_};
  executor.For(blocks, kBlockGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(RoundInput)(work, begin, end);
  });
}

bool WholeNumberProduct(const BlockMatrix& weight, const RoundedInput& x, void* y, Dtype y_dtype,
                        int64_t y_stride, const Executor& executor, CancelFlag cancel) {
  MIDSCOPE_KERNEL_CHECK(HasWholeNumberProduct(weight.type));
  MIDSCOPE_KERNEL_CHECK_EQ(weight.columns, x.columns());
  MIDSCOPE_KERNEL_CHECK_GE(y_stride, weight.rows);
  if (x.rows() <= 0) return true;
  const WholeNumberWork work{weight, x.rounded(), x.bits(), x.rows(), y, y_dtype, y_stride, cancel};
  const int64_t multiply_adds = x.rows() * weight.rows * weight.columns;
  ForProduct(executor, multiply_adds, weight.rows, kOutputGrain, [&](int64_t begin, int64_t end) {
    HWY_DYNAMIC_DISPATCH(WholeNumberRange)(work, begin, end);
  });
  return !Cancelled(cancel);
}

}  // namespace midscope::kernels
#endif  // HWY_ONCE
