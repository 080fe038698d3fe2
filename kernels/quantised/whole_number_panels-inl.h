// SPDX-License-Identifier: MIT
// Packs the weights of some outputs in the order in which products in integers read them; see
// whole_number_product.cpp. Compiled once for each instruction set (see rows-inl.h).
#if defined(MIDSCOPE_KERNELS_WHOLE_NUMBER_PANELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_WHOLE_NUMBER_PANELS_INL_H_
#undef MIDSCOPE_KERNELS_WHOLE_NUMBER_PANELS_INL_H_
#else
#define MIDSCOPE_KERNELS_WHOLE_NUMBER_PANELS_INL_H_
#endif

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>

#include "kernels/quantised/whole_number_blocks-inl.h"
#include "kernels/quantised/whole_number_dots-inl.h"
#include "kernels/quantised/whole_number_product.h"
#include "kernels/transpose-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

// Number of vectors of outputs that are processed together.
constexpr int kTileVectors = 2;
constexpr int64_t kPanelOutputs = kTileVectors * kLanes;
constexpr int64_t kStepBytes = 4;   // bytes of a step, for weights and x: one lane
constexpr int64_t kLineBytes = 64;  // bytes of a cache line

#if HWY_TARGET != HWY_SCALAR
using DU = hn::RebindToUnsigned<D>;
using VU = hn::Vec<DU>;
#endif

// Packing of weights for x of 8 bits. Weights are unsigned; their offset is subtracted afterwards.
struct Bits8 {
  using X = int8_t;
  using Weight = uint8_t;
  static constexpr float kLargestX = 127.0f;
  static constexpr int64_t kStepInputs = 4;
  // Rows per tile: the tile's integer and float32 sums fit the registers.
  static constexpr int kTileRows = HWY_MAX_BYTES >= 64 ? 6 : 2;
  template <class Format, int kRows>
  using Dots = Dots8<Format::kLargest, kRows, kTileVectors>;

  template <class Format>
  static HWY_INLINE Weight WeightOf(uint8_t q) {
    return q;
  }
#if HWY_TARGET != HWY_SCALAR
  // Stores the numbers of inputs 4 i .. 4 i + 3 of a part, one output per lane, as a step.
  template <class Format>
  static HWY_INLINE void StoreFour(VU four, int64_t i, uint32_t* steps) {
    hn::Store(four, DU(), steps + i * kPanelOutputs);
  }
#endif
};

// Packing of weights for x of 16 bits. Weights are signed, because no instruction multiplies
// unsigned by signed 16-bit numbers.
struct Bits16 {
  using X = int16_t;
  using Weight = int16_t;
  static constexpr float kLargestX = 32767.0f;
  static constexpr int64_t kStepInputs = 2;
  // Rows per tile: integer sums take six of 16 registers; float32 sums are in memory.
  static constexpr int kTileRows = HWY_MAX_BYTES >= 64 ? 6 : 3;
  template <class /*Format*/, int kRows>
  using Dots = Dots16<kRows, kTileVectors>;

  template <class Format>
  static HWY_INLINE Weight WeightOf(uint8_t q) {
    return static_cast<int16_t>(q - Format::kOffset);
  }
#if HWY_TARGET != HWY_SCALAR
  template <class Format>
  static HWY_INLINE void StoreFour(VU four, int64_t i, uint32_t* steps) {
    const hn::Repartition<int16_t, D> d16;
    const VU first = hn::And(four, hn::Set(DU(), 0xffu));
    const VU second = hn::And(hn::ShiftLeft<8>(four), hn::Set(DU(), 0xff0000u));
    const VU third = hn::And(hn::ShiftRight<16>(four), hn::Set(DU(), 0xffu));
    const VU fourth = hn::And(hn::ShiftRight<8>(four), hn::Set(DU(), 0xff0000u));
    const auto offset = hn::Set(d16, static_cast<int16_t>(Format::kOffset));
    const auto store = [&](VU low, VU high, int64_t step) HWY_ATTR {
      const auto centred = hn::Sub(hn::BitCast(d16, hn::Or(low, high)), offset);
      hn::Store(hn::BitCast(DU(), centred), DU(), steps + step * kPanelOutputs);
    };
    store(first, second, 2 * i);
    store(third, fourth, 2 * i + 1);
  }
#endif
};

template <class Bits>
constexpr int64_t kSteps = kRoundedBlock / Bits::kStepInputs;

// Packed weights of kPanelOutputs outputs for all inputs.
struct Panel {
  uint8_t* numbers;  // [block][step][kPanelOutputs][kStepBytes]
  float* scales;     // [block][scale][kPanelOutputs]
  float* minima;     // [block][kPanelOutputs]
};

// Number of scales in a part of 32 elements.
template <class Format>
constexpr int64_t kScales = kRoundedBlock / Format::kScaleElements;

// Fills a panel. Outputs beyond the matrix repeat its last one; their results are not stored.
template <class Bits, class Format>
HWY_NOINLINE void FillPanel(const BlockMatrix& weight, int64_t output, const Panel& panel) {
  constexpr int64_t kParts = Format::Stored::kElements / kRoundedBlock;
  for (int64_t o = 0; o < kPanelOutputs; ++o) {
    const auto* at =
        reinterpret_cast<const uint8_t*>(weight.Row(std::min(output + o, weight.rows - 1)));
    for (int64_t part = 0; part < weight.columns / kRoundedBlock; part += kParts) {
      alignas(64) uint8_t numbers[kParts * kRoundedBlock];
      typename Bits::Weight weights[kParts * kRoundedBlock];
      float scales[kParts * kScales<Format>];
      float minima[kParts];
      Format::Unpack(at, numbers, scales, minima);
      at += Format::Stored::kBytes;
      for (int64_t i = 0; i < kParts * kRoundedBlock; ++i)
        weights[i] = Bits::template WeightOf<Format>(numbers[i]);
      uint8_t* to = panel.numbers + (part * kSteps<Bits> * kPanelOutputs + o) * kStepBytes;
      for (int64_t step = 0; step < kParts * kSteps<Bits>; ++step) {
        std::memcpy(to + step * kPanelOutputs * kStepBytes, weights + step * Bits::kStepInputs,
                    kStepBytes);
      }
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
HWY_INLINE hn::Vec<hn::Full128<uint32_t>> SixteenBytes(const uint8_t* at) {
  return hn::BitCast(hn::Full128<uint32_t>(), hn::LoadU(hn::Full128<uint8_t>(), at));
}

// Loads 16 bytes at offset `at` of every fourth of 4, 8 or 16 `rows` into the parts of a vector.
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

// Transposes: sets lane o of quads[i] to bytes 4 i .. 4 i + 3 of the 16 bytes at rows[o] + at.
HWY_INLINE void TransposeQuads(const uint8_t* const* rows, int64_t at, VU (&quads)[kSquare]) {
#pragma GCC unroll 4
  for (int64_t i = 0; i < kSquare; ++i) quads[i] = EveryFourth(DU(), rows + i, at);
  TransposeSquare(quads);
}

// Packs a part of 32 elements of kLanes outputs into steps of four bytes per output.
template <class Bits, class Format>
HWY_INLINE void FillSteps(const uint8_t* const* rows, int64_t at, uint32_t* to) {
  const DU d32;
  VU quads[kSquare];
  TransposeQuads(rows, at, quads);
  if constexpr (Format::kPlain == PlainBlocks::kNibbles) {
    const VU low = hn::Set(d32, 0x0f0f0f0fu);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSquare; ++i) {
      Bits::template StoreFour<Format>(hn::And(quads[i], low), i, to);
      Bits::template StoreFour<Format>(hn::And(hn::ShiftRight<4>(quads[i]), low), i + 4, to);
    }
  } else {
    const VU sign = hn::Set(d32, 0x80808080u);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSquare; ++i)
      Bits::template StoreFour<Format>(hn::Xor(quads[i], sign), i, to);
    TransposeQuads(rows, at + 16, quads);
#pragma GCC unroll 4
    for (int64_t i = 0; i < kSquare; ++i)
      Bits::template StoreFour<Format>(hn::Xor(quads[i], sign), i + 4, to);
  }
}

// Converts the binary16 numbers at rows[o] + at, o < kPanelOutputs, to float32.
HWY_INLINE void FillHalves(const uint8_t* const* rows, int64_t at, float* to) {
  const hn::Rebind<uint16_t, D> d16;
  alignas(64) uint16_t halves[kPanelOutputs];
#pragma GCC unroll 32
  for (int64_t o = 0; o < kPanelOutputs; ++o) std::memcpy(halves + o, rows[o] + at, 2);
  for (int64_t v = 0; v < kPanelOutputs; v += kLanes)
    hn::Store(HalvesToFloats(hn::LoadU(d16, halves + v)), D(), to + v);
}
#endif

// FillPanel for blocks of 32 plain nibbles or bytes with scales in binary16, vectorised over
// outputs, because for few rows of x filling takes longer than the products.
template <class Bits, class Format>
HWY_NOINLINE void FillPlain(const BlockMatrix& weight, int64_t output, const Panel& panel) {
#if HWY_TARGET != HWY_SCALAR
  const auto row_of = [&](int64_t o) {
    return reinterpret_cast<const uint8_t*>(weight.Row(std::min(o, weight.rows - 1)));
  };
  const uint8_t* rows[kPanelOutputs];
  const uint8_t* next_rows[kPanelOutputs];
  for (int64_t o = 0; o < kPanelOutputs; ++o) {
    rows[o] = row_of(output + o);
    next_rows[o] = row_of(output + kPanelOutputs + o);
  }
  for (int64_t part = 0; part < weight.columns / kRoundedBlock; ++part) {
    auto* to = reinterpret_cast<uint32_t*>(panel.numbers) + part * kSteps<Bits> * kPanelOutputs;
    const int64_t at = part * Format::Stored::kBytes;
    // Prefetches weights of the next panel: for few rows of x, reading weights limits the speed.
    if (at % kLineBytes < Format::Stored::kBytes) {
      for (const uint8_t* row : next_rows) hwy::Prefetch(row + at);
    }
    for (int64_t o = 0; o < kPanelOutputs; o += kLanes)
      FillSteps<Bits, Format>(rows + o, at + Format::kQuants, to + o);
    FillHalves(rows, at, panel.scales + part * kPanelOutputs);
    if constexpr (Format::kMinimum) FillHalves(rows, at + 2, panel.minima + part * kPanelOutputs);
  }
#else
  FillPanel<Bits, Format>(weight, output, panel);
#endif
}

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_WHOLE_NUMBER_PANELS_INL_H_
