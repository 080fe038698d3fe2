// SPDX-License-Identifier: MIT
// How each format's weights become float32 vectors in registers, 32 elements ("a part") at a time;
// compiled once for each instruction set (see rows-inl.h). The values are those of Dequantise to
// the last bit: each is a product that float32 holds exactly, or that is rounded once.
#if defined(MIDSCOPE_KERNELS_QUANTISED_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_QUANTISED_BLOCKS_INL_H_
#undef MIDSCOPE_KERNELS_QUANTISED_BLOCKS_INL_H_
#else
#define MIDSCOPE_KERNELS_QUANTISED_BLOCKS_INL_H_
#endif

#include <cstdint>
#include <cstring>

#include "kernels/dequantise_blocks.h"
#include "kernels/rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace quantised {

// Fixed-size vectors only: weights and sums live in arrays.
using D = hn::CappedTag<float, 16>;
using V = hn::Vec<D>;
constexpr int kLanes = static_cast<int>(hn::MaxLanes(D()));
constexpr int kPartElements = 32;
constexpr int kVectors = kPartElements / kLanes;

struct Part {
  V v[kVectors];
};

// Lanes unsigned bytes, widened.
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LoadBytes(const uint8_t* from) {
  const hn::Rebind<uint8_t, D> d8;
  return hn::PromoteTo(hn::RebindToSigned<D>(), hn::LoadU(d8, from));
}

// Element v * kLanes + lane of 32 nibbles in 16 bytes: low nibbles are the first half.
HWY_INLINE hn::Vec<hn::RebindToSigned<D>> LoadNibbles(const uint8_t* from, int v) {
  const hn::RebindToSigned<D> di;
  const auto bytes = LoadBytes(from + v * kLanes % 16);
  if (v * kLanes >= 16) return hn::ShiftRight<4>(bytes);
  return hn::And(bytes, hn::Set(di, 15));
}

// Every format gives: bytes and parts of a block; Header, what its parts share; Read and Get.
struct NoHeader {};

template <bool kWithMinimum>  // Q4_1, or Q4_0
struct Nibbles {
  static constexpr int kBytes = kWithMinimum ? 20 : 18;
  static constexpr int kParts = 1;
  using Header = NoHeader;
  static HWY_INLINE Header Read(const uint8_t* /*at*/) { return {}; }
  template <int kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& /*header*/) {
    const D d;
    const float scale = ReadHalf(at);
    const V step = hn::Set(d, scale);
    const V offset = hn::Set(d, kWithMinimum ? ReadHalf(at + 2) : -8.0f * scale);
    Part part;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const auto quants = LoadNibbles(at + kBytes - 16, v);
      part.v[v] = hn::MulAdd(hn::ConvertTo(d, quants), step, offset);
    }
    return part;
  }
};

struct Q80 {
  static constexpr int kBytes = 34;
  static constexpr int kParts = 1;
  using Header = NoHeader;
  static HWY_INLINE Header Read(const uint8_t* /*at*/) { return {}; }
  template <int kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& /*header*/) {
    const D d;
    const hn::Rebind<int8_t, D> d8;
    const V step = hn::Set(d, ReadHalf(at));
    Part part;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const auto bytes = hn::LoadU(d8, reinterpret_cast<const int8_t*>(at) + 2 + v * kLanes);
      const auto quants = hn::PromoteTo(hn::RebindToSigned<D>(), bytes);
      part.v[v] = hn::Mul(hn::ConvertTo(d, quants), step);
    }
    return part;
  }
};

template <bool kFiveBits>  // Q5_K, or Q4_K
struct Q45K {
  static constexpr int kBytes = kFiveBits ? 176 : 144;
  static constexpr int kParts = 8;
  struct Header {
    float step[kParts];
    float offset[kParts];
  };
  // Four 6-bit numbers at a time, one in each byte.
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
  template <int kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header) {
    const D d;
    const hn::RebindToSigned<D> di;
    const V step = hn::Set(d, header.step[kPart]);
    const V offset = hn::Set(d, header.offset[kPart]);
    Part part;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const auto bytes = LoadBytes(at + kBytes - 128 + kPart / 2 * 32 + v * kLanes);
      auto quants = hn::And(hn::ShiftRight<kPart % 2 * 4>(bytes), hn::Set(di, 15));
      if (kFiveBits) {
        const auto high = hn::And(LoadBytes(at + 16 + v * kLanes), hn::Set(di, 1 << kPart));
        quants =
            hn::IfThenElse(hn::Eq(high, hn::Zero(di)), quants, hn::Or(quants, hn::Set(di, 16)));
      }
      part.v[v] = hn::MulSub(hn::ConvertTo(d, quants), step, offset);
    }
    return part;
  }
};

struct Q6K {
  static constexpr int kBytes = 210;
  static constexpr int kParts = 8;
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
  template <int kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header) {
    const D d;
    const hn::RebindToSigned<D> di;
    const uint8_t* low = at + kPart / 4 * 64 + kPart % 2 * 32;
    const uint8_t* high = at + 128 + kPart / 4 * 32;
    Part part;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const auto nibbles =
          hn::And(hn::ShiftRight<kPart % 4 / 2 * 4>(LoadBytes(low + v * kLanes)), hn::Set(di, 15));
      const auto bits =
          hn::And(hn::ShiftRight<kPart % 4 * 2>(LoadBytes(high + v * kLanes)), hn::Set(di, 3));
      const auto quants = hn::Sub(hn::Or(nibbles, hn::ShiftLeft<4>(bits)), hn::Set(di, 32));
      const V step = hn::Set(d, header.step[kPart * 2 + v * kLanes / 16]);
      part.v[v] = hn::Mul(hn::ConvertTo(d, quants), step);
    }
    return part;
  }
};

// IEEE binary16, as HalfToFloat.
HWY_INLINE V HalvesToFloats(const uint8_t* from) {
  const D d;
  const hn::RebindToUnsigned<D> d32;
  const hn::Rebind<uint16_t, D> d16;
  const auto halves = hn::PromoteTo(d32, hn::LoadU(d16, reinterpret_cast<const uint16_t*>(from)));
  const auto magnitude = hn::ShiftLeft<13>(hn::And(halves, hn::Set(d32, 0x7fff)));
  const auto sign = hn::ShiftLeft<16>(hn::And(halves, hn::Set(d32, 0x8000)));
  const auto scale = hn::BitCast(d, hn::Set(d32, 0x77800000u));
  const auto lifted = hn::BitCast(d32, hn::Mul(hn::BitCast(d, magnitude), scale));
  const auto special = hn::Gt(magnitude, hn::Set(d32, 0x0f7fffffu));
  const auto infinite = hn::Or(magnitude, hn::Set(d32, 0x7f800000u));
  return hn::BitCast(d, hn::Or(sign, hn::IfThenElse(special, infinite, lifted)));
}

// F32, BF16 and F16: a "block" is as long as a part.
template <BlockType kType>
struct Plain {
  static constexpr int kElementBytes = kType == BlockType::kF32 ? 4 : 2;
  static constexpr int kBytes = kPartElements * kElementBytes;
  static constexpr int kParts = 1;
  using Header = NoHeader;
  static HWY_INLINE Header Read(const uint8_t* /*at*/) { return {}; }
  template <int kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& /*header*/) {
    const D d;
    Part part;
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) {
      const uint8_t* from = at + v * kLanes * kElementBytes;
      if constexpr (kType == BlockType::kF32) {
        part.v[v] = hn::LoadU(d, reinterpret_cast<const float*>(from));
      } else if constexpr (kType == BlockType::kBF16) {
        part.v[v] = LoadFloats(d, reinterpret_cast<const BFloat16*>(from));
      } else {
        part.v[v] = HalvesToFloats(from);
      }
    }
    return part;
  }
};

}  // namespace quantised
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_QUANTISED_BLOCKS_INL_H_
