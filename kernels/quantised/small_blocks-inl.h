// SPDX-License-Identifier: MIT
// Formats with blocks of 32 elements; see block_formats-inl.h.
#if defined(MIDSCOPE_KERNELS_SMALL_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_SMALL_BLOCKS_INL_H_
#undef MIDSCOPE_KERNELS_SMALL_BLOCKS_INL_H_
#else
#define MIDSCOPE_KERNELS_SMALL_BLOCKS_INL_H_
#endif

#include "kernels/quantised/block_parts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

struct SmallBlock {
  static constexpr int64_t kElements = 32;
  static constexpr BlockScales kScales = {0};
  static constexpr int64_t kParts = 1;
  static constexpr int64_t kGroup = 1;
  using Header = NoHeader;
  static HWY_INLINE Header Read(const uint8_t* /*at*/) { return {}; }
};

// Returns vector v (elements v * kLanes + lane) of (nibble - 8) * step. The float 2^23 + n has the
// bits of n at the end of its mantissa; the high nibbles are not shifted, so their values are
// multiplied by 16.
HWY_INLINE V CentredNibbles(const uint8_t* from, int64_t v, V step) {
  const D d;
  const hn::RebindToSigned<D> di;
  const bool high = v * kLanes >= 16;
  const auto bytes = LoadBytes(from + v * kLanes % 16);
  const auto bits = hn::OrAnd(hn::Set(di, 0x4b000000), bytes, hn::Set(di, high ? 0xf0 : 0x0f));
  const V nibbles = hn::Sub(hn::BitCast(d, bits), hn::Set(d, 0x1p23f + (high ? 128.0f : 8.0f)));
  return hn::Mul(nibbles, high ? hn::Mul(step, hn::Set(d, 0.0625f)) : step);
}

// Block layout: scale d, (minimum,) (a fifth bit of each element [4],) nibbles [16].
template <bool kFiveBits, bool kWithMinimum>
struct Nibbles : SmallBlock {
  static constexpr int64_t kFifthBits = kWithMinimum ? 4 : 2;
  static constexpr int64_t kQuants = kFifthBits + (kFiveBits ? 4 : 0);
  static constexpr int64_t kBytes = kQuants + 16;
  static constexpr BlockScales kScales = {0, kWithMinimum ? 2 : kNoScale};

  // Returns 16 in the lanes of vector v whose element's bit in `bits` is set, else 0.
  static HWY_INLINE VI FifthBit(uint32_t bits, int64_t v) {
    const hn::RebindToSigned<D> di;
    const hn::RebindToUnsigned<D> du;
    const auto own = hn::Shl(hn::Set(du, 1), hn::Iota(du, static_cast<uint32_t>(v * kLanes)));
    const auto set = hn::Eq(hn::And(hn::Set(du, bits), own), own);
    return hn::BitCast(di, hn::IfThenElseZero(set, hn::Set(du, 16)));
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const NoHeader& /*header*/, int64_t /*group*/) {
    const D d;
    const hn::RebindToSigned<D> di;
    const V step = BroadcastHalf(at);
    [[maybe_unused]] uint32_t fifth_bits = 0;
    if constexpr (kFiveBits) std::memcpy(&fifth_bits, at + kFifthBits, sizeof(fifth_bits));
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      if constexpr (!kFiveBits && !kWithMinimum) {
        part.v[v] = CentredNibbles(at + kQuants, v, step);
        continue;
      }
      auto quants = LoadNibbles(at + kQuants, v);
      if constexpr (kFiveBits) quants = hn::Or(quants, FifthBit(fifth_bits, v));
      if constexpr (kWithMinimum) {
        part.v[v] = hn::MulAdd(hn::ConvertTo(d, quants), step, BroadcastHalf(at + 2));
      } else {
        quants = hn::Sub(quants, hn::Set(di, 16));
        part.v[v] = hn::Mul(hn::ConvertTo(d, quants), step);
      }
    }
    return part;
  }
};

struct Q40 : Nibbles<false, false> {
  static constexpr BlockType kType = BlockType::kQ4_0;
  static constexpr std::string_view kName = "Q4_0";
};

struct Q41 : Nibbles<false, true> {
  static constexpr BlockType kType = BlockType::kQ4_1;
  static constexpr std::string_view kName = "Q4_1";
};

struct Q50 : Nibbles<true, false> {
  static constexpr BlockType kType = BlockType::kQ5_0;
  static constexpr std::string_view kName = "Q5_0";
};

struct Q51 : Nibbles<true, true> {
  static constexpr BlockType kType = BlockType::kQ5_1;
  static constexpr std::string_view kName = "Q5_1";
};

// Block layout: scale d, signed bytes [32].
struct Q80 : SmallBlock {
  static constexpr BlockType kType = BlockType::kQ8_0;
  static constexpr std::string_view kName = "Q8_0";
  static constexpr int64_t kBytes = 34;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const NoHeader& /*header*/, int64_t /*group*/) {
    const hn::Rebind<int8_t, D> d8;
    const V step = BroadcastHalf(at);
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto bytes = hn::LoadU(d8, reinterpret_cast<const int8_t*>(at) + 2 + v * kLanes);
      const auto quants = hn::PromoteTo(hn::RebindToSigned<D>(), bytes);
      part.v[v] = hn::Mul(hn::ConvertTo(D(), quants), step);
    }
    return part;
  }
};

// Block layout: scale d, nibbles [16], which are indices of unevenly spaced values.
struct IQ4NL : SmallBlock {
  static constexpr BlockType kType = BlockType::kIQ4_NL;
  static constexpr std::string_view kName = "IQ4_NL";
  static constexpr int64_t kBytes = 18;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const NoHeader& /*header*/, int64_t /*group*/) {
    const V step = BroadcastHalf(at);
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v)
      part.v[v] = hn::Mul(LoadByTable(kNonLinearValues, at + 2, v), step);
    return part;
  }
};

// Block layout: an exponent, nibbles [16], which are floating-point numbers with one mantissa bit.
struct MXFP4 : SmallBlock {
  static constexpr BlockType kType = BlockType::kMXFP4;
  static constexpr std::string_view kName = "MXFP4";
  static constexpr int64_t kBytes = 17;
  static constexpr BlockScales kScales = {};
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const NoHeader& /*header*/, int64_t /*group*/) {
    const V step = hn::Set(D(), HalfOfE8M0(at[0]));
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v)
      part.v[v] = hn::Mul(LoadByTable(kE2M1Values, at + 1, v), step);
    return part;
  }
};

using SmallFormats = FormatList<Q40, Q41, Q50, Q51, Q80, IQ4NL, MXFP4>;

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_SMALL_BLOCKS_INL_H_
