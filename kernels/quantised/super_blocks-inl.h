// SPDX-License-Identifier: MIT
// Formats with blocks of 256 elements, in which the scales of each 16 or 32 elements are quantised
// themselves; see block_formats-inl.h.
#if defined(MIDSCOPE_KERNELS_SUPER_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_SUPER_BLOCKS_INL_H_
#undef MIDSCOPE_KERNELS_SUPER_BLOCKS_INL_H_
#else
#define MIDSCOPE_KERNELS_SUPER_BLOCKS_INL_H_
#endif

#include "kernels/quantised/block_parts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

struct SuperBlock {
  static constexpr int64_t kElements = 256;
  static constexpr int64_t kParts = 8;
};

// Block layout: scales and minima [16] as nibbles, 2-bit quants [64], d and dmin, their factors.
struct Q2K : SuperBlock {
  static constexpr BlockType kType = BlockType::kQ2_K;
  static constexpr std::string_view kName = "Q2_K";
  static constexpr int64_t kBytes = 84;
  static constexpr BlockScales kScales = {80, 82};
  static constexpr int64_t kGroup = 4;
  struct Header {
    float step[16];
    float offset[16];
  };
  static HWY_INLINE Header Read(const uint8_t* at) {
    const float d = ReadHalf(at + 80);
    const float minimum = ReadHalf(at + 82);
    Header header;
    for (int i = 0; i < 16; ++i) {
      header.step[i] = d * static_cast<float>(at[i] & 15);
      header.offset[i] = minimum * static_cast<float>(at[i] >> 4);
    }
    return header;
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const D d;
    const hn::RebindToSigned<D> di;
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto bytes = LoadBytes(at + 16 + group * 32 + v * kLanes);
      const auto quants = hn::And(hn::ShiftRight<kPart * 2>(bytes), hn::Set(di, 3));
      const int64_t scale = (group * kGroup + kPart) * 2 + v * kLanes / 16;
      part.v[v] = hn::MulSub(hn::ConvertTo(d, quants), hn::Set(d, header.step[scale]),
                             hn::Set(d, header.offset[scale]));
    }
    return part;
  }
};

// Block layout: one high bit [32] and two low bits [64] of each element, 6-bit scales [12], scale
// d.
struct Q3K : SuperBlock {
  static constexpr BlockType kType = BlockType::kQ3_K;
  static constexpr std::string_view kName = "Q3_K";
  static constexpr int64_t kBytes = 110;
  static constexpr BlockScales kScales = {108};
  static constexpr int64_t kGroup = 4;
  struct Header {
    float step[16];
  };
  static HWY_INLINE Header Read(const uint8_t* at) {
    const uint8_t* scales = at + 96;
    const float d = ReadHalf(at + 108);
    Header header;
    for (int i = 0; i < 16; ++i) {
      const int low = (scales[i % 8] >> (i / 8 * 4)) & 15;
      const int high = (scales[8 + i % 4] >> (i / 4 * 2)) & 3;
      header.step[i] = d * static_cast<float>((low | high << 4) - 32);
    }
    return header;
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const D d;
    const hn::RebindToSigned<D> di;
    const int64_t number = group * kGroup + kPart;
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto bytes = LoadBytes(at + 32 + group * 32 + v * kLanes);
      const auto low = hn::And(hn::ShiftRight<kPart * 2>(bytes), hn::Set(di, 3));
      const auto quants = IfBit(at + v * kLanes, number, low, hn::Sub(low, hn::Set(di, 4)));
      const V step = hn::Set(d, header.step[number * 2 + v * kLanes / 16]);
      part.v[v] = hn::Mul(hn::ConvertTo(d, quants), step);
    }
    return part;
  }
};

// Block layout: d and dmin, the factors of scales and minima; eight scales and eight minima of 6
// bits [12]; (fifth bits [32],) nibbles [128].
template <bool kFiveBits>
struct Q45K : SuperBlock {
  static constexpr int64_t kQuants = kFiveBits ? 48 : 16;
  static constexpr int64_t kBytes = kQuants + 128;
  static constexpr BlockScales kScales = {0, 2};
  static constexpr int64_t kGroup = 2;
  struct Header {
    float step[kParts];
    float offset[kParts];
  };
  // Reads the header of a block: unpacks four 6-bit numbers at a time, one in each byte.
  static HWY_INLINE Header Read(const uint8_t* at) {
    uint32_t packed[3];
    std::memcpy(packed, at + 4, sizeof(packed));
    const uint32_t scales[2] = {packed[0] & 0x3f3f3f3fu,
                                (packed[2] & 0x0f0f0f0fu) | ((packed[0] >> 2) & 0x30303030u)};
    const uint32_t minima[2] = {packed[1] & 0x3f3f3f3fu, ((packed[2] >> 4) & 0x0f0f0f0fu) |
                                                             ((packed[1] >> 2) & 0x30303030u)};
    uint8_t scale[kParts];
    uint8_t minimum[kParts];
    std::memcpy(scale, scales, sizeof(scale));
    std::memcpy(minimum, minima, sizeof(minimum));
    const float d = ReadHalf(at);
    const float m = ReadHalf(at + 2);
    Header header;
    for (int i = 0; i < kParts; ++i) {
      header.step[i] = d * static_cast<float>(scale[i]);
      header.offset[i] = m * static_cast<float>(minimum[i]);
    }
    return header;
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const D d;
    const hn::RebindToSigned<D> di;
    const int64_t number = group * kGroup + kPart;
    const V step = hn::Set(d, header.step[number]);
    const V offset = hn::Set(d, header.offset[number]);
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto bytes = LoadBytes(at + kQuants + group * 32 + v * kLanes);
      auto quants = hn::And(hn::ShiftRight<kPart * 4>(bytes), hn::Set(di, 15));
      if constexpr (kFiveBits) {
        quants = IfBit(at + 16 + v * kLanes, number, hn::Or(quants, hn::Set(di, 16)), quants);
      }
      part.v[v] = hn::MulSub(hn::ConvertTo(d, quants), step, offset);
    }
    return part;
  }
};

struct Q4K : Q45K<false> {
  static constexpr BlockType kType = BlockType::kQ4_K;
  static constexpr std::string_view kName = "Q4_K";
};

struct Q5K : Q45K<true> {
  static constexpr BlockType kType = BlockType::kQ5_K;
  static constexpr std::string_view kName = "Q5_K";
};

// Block layout: nibbles [128], two high bits of each element [64], signed scales [16], scale d.
struct Q6K : SuperBlock {
  static constexpr BlockType kType = BlockType::kQ6_K;
  static constexpr std::string_view kName = "Q6_K";
  static constexpr int64_t kBytes = 210;
  static constexpr BlockScales kScales = {208};
  static constexpr int64_t kGroup = 4;
  struct Header {
    float step[16];
  };
  static HWY_INLINE Header Read(const uint8_t* at) {
    const float d = ReadHalf(at + 208);
    Header header;
    for (int i = 0; i < 16; ++i) {
      header.step[i] = d * static_cast<float>(static_cast<int8_t>(at[192 + i]));
    }
    return header;
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const D d;
    const hn::RebindToSigned<D> di;
    const uint8_t* low = at + group * 64 + kPart % 2 * 32;
    const uint8_t* high = at + 128 + group * 32;
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto nibbles =
          hn::And(hn::ShiftRight<kPart / 2 * 4>(LoadBytes(low + v * kLanes)), hn::Set(di, 15));
      const auto bits =
          hn::And(hn::ShiftRight<kPart * 2>(LoadBytes(high + v * kLanes)), hn::Set(di, 3));
      const auto quants = hn::Sub(hn::Or(nibbles, hn::ShiftLeft<4>(bits)), hn::Set(di, 32));
      const V step = hn::Set(d, header.step[(group * kGroup + kPart) * 2 + v * kLanes / 16]);
      part.v[v] = hn::Mul(hn::ConvertTo(d, quants), step);
    }
    return part;
  }
};

// Block layout: scale d, high bits of the scales [2], low bits of the scales [4], nibbles [128],
// which are indices of unevenly spaced values.
struct IQ4XS : SuperBlock {
  static constexpr BlockType kType = BlockType::kIQ4_XS;
  static constexpr std::string_view kName = "IQ4_XS";
  static constexpr int64_t kBytes = 136;
  static constexpr BlockScales kScales = {0};
  static constexpr int64_t kGroup = 1;
  struct Header {
    float step[kParts];
  };
  static HWY_INLINE Header Read(const uint8_t* at) {
    const float d = ReadHalf(at);
    Header header;
    for (int i = 0; i < kParts; ++i) {
      const int low = (at[4 + i / 2] >> (i % 2 * 4)) & 15;
      const int high = (at[2 + i / 4] >> (i % 4 * 2)) & 3;
      header.step[i] = d * static_cast<float>((low | high << 4) - 32);
    }
    return header;
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const V step = hn::Set(D(), header.step[group]);
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      part.v[v] = hn::Mul(LoadByTable(kNonLinearValues, at + 8 + group * 16, v), step);
    }
    return part;
  }
};

// Block layout: bytes [48] with five ternary digits each, bytes [4] with four, scale d. A byte /
// 256 is a fraction with these ternary digits: 3 * byte = first digit * 256 + the remaining digits
// as a byte.
struct TQ10 : SuperBlock {
  static constexpr BlockType kType = BlockType::kTQ1_0;
  static constexpr std::string_view kName = "TQ1_0";
  static constexpr int64_t kBytes = 54;
  static constexpr BlockScales kScales = {52};
  static constexpr int64_t kGroup = 8;
  struct Header {
    float step;
    uint8_t last[16];  // their first digits are the last 16 elements
  };
  static HWY_INLINE Header Read(const uint8_t* at) {
    Header header;
    header.step = ReadHalf(at + 52);
    for (int i = 0; i < 16; ++i)
      header.last[i] = static_cast<uint8_t>(at[48 + i % 4] * kPowersOfThree[i / 4]);
    return header;
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t /*group*/) {
    const D d;
    const hn::RebindToSigned<D> di;
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const int64_t half = v * kLanes / 16;
      const int64_t row = kPart < 5 ? kPart : (kPart - 5) * 2 + half;
      const uint8_t* from = kPart < 5 ? at + half * 16 : row < 5 ? at + 32 : header.last;
      const int power = row < 5 ? kPowersOfThree[row] : 1;
      const auto shifted = hn::Mul(LoadBytes(from + v * kLanes % 16), hn::Set(di, power));
      const auto digits = hn::Mul(hn::And(shifted, hn::Set(di, 255)), hn::Set(di, 3));
      const auto quants = hn::Sub(hn::ShiftRight<8>(digits), hn::Set(di, 1));
      part.v[v] = hn::Mul(hn::ConvertTo(d, quants), hn::Set(d, header.step));
    }
    return part;
  }
};

// Block layout: ternary digits of 2 bits each [64], scale d.
struct TQ20 : SuperBlock {
  static constexpr BlockType kType = BlockType::kTQ2_0;
  static constexpr std::string_view kName = "TQ2_0";
  static constexpr int64_t kBytes = 66;
  static constexpr BlockScales kScales = {64};
  static constexpr int64_t kGroup = 4;
  struct Header {
    float step;
  };
  static HWY_INLINE Header Read(const uint8_t* at) { return {ReadHalf(at + 64)}; }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const D d;
    const hn::RebindToSigned<D> di;
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto bytes = LoadBytes(at + group * 32 + v * kLanes);
      const auto digits = hn::And(hn::ShiftRight<kPart * 2>(bytes), hn::Set(di, 3));
      const auto quants = hn::Sub(digits, hn::Set(di, 1));
      part.v[v] = hn::Mul(hn::ConvertTo(d, quants), hn::Set(d, header.step));
    }
    return part;
  }
};

using SuperFormats = FormatList<Q2K, Q3K, Q4K, Q5K, Q6K, IQ4XS, TQ10, TQ20>;

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_SUPER_BLOCKS_INL_H_
