// SPDX-License-Identifier: MIT
// The integers of block formats, for products in integers: a block's elements as unsigned bytes q,
// where element i is scale * (q[i] - kOffset) + minimum. Compiled once for each instruction set
// (see rows-inl.h). A format has these members:
//
// clang-format off
//   Stored          the format in small_blocks-inl.h or super_blocks-inl.h
//   kOffset         see above
//   kLargest        the largest possible q
//   kScaleElements  number of elements that share a scale: 16 or 32
//   kMinimum        whether parts of 32 elements have a minimum; otherwise it is 0
//   kPlain          whether a block is 32 nibbles or signed bytes at kQuants, after scale and minimum
//   Unpack(at, q, scales, minima)  unpacks the block at `at`
// clang-format on
#if defined(MIDSCOPE_KERNELS_WHOLE_NUMBER_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_WHOLE_NUMBER_BLOCKS_INL_H_
#undef MIDSCOPE_KERNELS_WHOLE_NUMBER_BLOCKS_INL_H_
#else
#define MIDSCOPE_KERNELS_WHOLE_NUMBER_BLOCKS_INL_H_
#endif

#include "kernels/quantised/small_blocks-inl.h"
#include "kernels/quantised/super_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

enum class PlainBlocks { kNo, kNibbles, kBytes };

// Unpacks nibbles: the low nibbles are the first half of the elements.
HWY_INLINE void UnpackNibbles(const uint8_t* from, int64_t bytes, uint8_t* q) {
  for (int64_t i = 0; i < bytes; ++i) q[i] = from[i] & 15;
  for (int64_t i = 0; i < bytes; ++i) q[bytes + i] = from[i] >> 4;
}

template <class Format, bool kFiveBits, bool kWithMinimum>
struct WholeNibbles {
  using Stored = Format;
  static constexpr int32_t kOffset = kWithMinimum ? 0 : (kFiveBits ? 16 : 8);
  static constexpr int32_t kLargest = kFiveBits ? 31 : 15;
  static constexpr int64_t kScaleElements = 32;
  static constexpr bool kMinimum = kWithMinimum;
  static constexpr PlainBlocks kPlain = kFiveBits ? PlainBlocks::kNo : PlainBlocks::kNibbles;
  static constexpr int64_t kQuants = Format::kQuants;
  static HWY_INLINE void Unpack(const uint8_t* at, uint8_t* q, float* scales, float* minima) {
    UnpackNibbles(at + Format::kQuants, 16, q);
    if constexpr (kFiveBits) {
      uint32_t bits = 0;
      std::memcpy(&bits, at + Format::kFifthBits, sizeof(bits));
      for (uint32_t i = 0; i < 32; ++i)
        q[i] = static_cast<uint8_t>(q[i] | (((bits >> i) & 1u) << 4));
    }
    scales[0] = ReadHalf(at);
    if constexpr (kWithMinimum) minima[0] = ReadHalf(at + 2);
  }
};

using WholeQ40 = WholeNibbles<Q40, false, false>;
using WholeQ41 = WholeNibbles<Q41, false, true>;
using WholeQ50 = WholeNibbles<Q50, true, false>;
using WholeQ51 = WholeNibbles<Q51, true, true>;

struct WholeQ80 {
  using Stored = Q80;
  static constexpr int32_t kOffset = 128;
  static constexpr int32_t kLargest = 255;
  static constexpr int64_t kScaleElements = 32;
  static constexpr bool kMinimum = false;
  static constexpr PlainBlocks kPlain = PlainBlocks::kBytes;
  static constexpr int64_t kQuants = 2;
  static HWY_INLINE void Unpack(const uint8_t* at, uint8_t* q, float* scales, float* /*minima*/) {
    for (int64_t i = 0; i < 32; ++i) q[i] = at[2 + i] ^ 0x80;
    scales[0] = ReadHalf(at);
  }
};

struct WholeIQ4NL {
  using Stored = IQ4NL;
  static constexpr int32_t kOffset = 128;
  static constexpr int32_t kLargest = 255;
  static constexpr int64_t kScaleElements = 32;
  static constexpr bool kMinimum = false;
  static constexpr PlainBlocks kPlain = PlainBlocks::kNo;
  static HWY_INLINE void Unpack(const uint8_t* at, uint8_t* q, float* scales, float* /*minima*/) {
    for (int64_t i = 0; i < 16; ++i) {
      q[i] = static_cast<uint8_t>(kNonLinearValues[at[2 + i] & 15] + kOffset);
      q[16 + i] = static_cast<uint8_t>(kNonLinearValues[at[2 + i] >> 4] + kOffset);
    }
    scales[0] = ReadHalf(at);
  }
};

template <class Format, bool kFiveBits>
struct WholeQ45K {
  using Stored = Format;
  static constexpr int32_t kOffset = 0;
  static constexpr int32_t kLargest = kFiveBits ? 31 : 15;
  static constexpr int64_t kScaleElements = 32;
  static constexpr bool kMinimum = true;
  static constexpr PlainBlocks kPlain = PlainBlocks::kNo;
  static HWY_INLINE void Unpack(const uint8_t* at, uint8_t* q, float* scales, float* minima) {
    const typename Format::Header header = Format::Read(at);
    for (int64_t group = 0; group < 4; ++group) {
      UnpackNibbles(at + Format::kQuants + group * 32, 32, q + group * 64);
    }
    for (int64_t part = 0; part < 8; ++part) {
      if constexpr (kFiveBits) {
        for (int64_t i = 0; i < 32; ++i) {
          const int fifth = ((at[16 + i] >> part) & 1) << 4;
          q[part * 32 + i] = static_cast<uint8_t>(q[part * 32 + i] | fifth);
        }
      }
      scales[part] = header.step[part];
      minima[part] = -header.offset[part];
    }
  }
};

using WholeQ4K = WholeQ45K<Q4K, false>;
using WholeQ5K = WholeQ45K<Q5K, true>;

struct WholeQ6K {
  using Stored = Q6K;
  static constexpr int32_t kOffset = 32;
  static constexpr int32_t kLargest = 63;
  static constexpr int64_t kScaleElements = 16;
  static constexpr bool kMinimum = false;
  static constexpr PlainBlocks kPlain = PlainBlocks::kNo;
  static HWY_INLINE void Unpack(const uint8_t* at, uint8_t* q, float* scales, float* /*minima*/) {
    const Q6K::Header header = Q6K::Read(at);
    for (int64_t part = 0; part < 8; ++part) {
      const uint8_t* low = at + part / 4 * 64 + part % 2 * 32;
      const uint8_t* high = at + 128 + part / 4 * 32;
      for (int64_t i = 0; i < 32; ++i) {
        const int nibble = (low[i] >> (part % 4 / 2 * 4)) & 15;
        const int bits = (high[i] >> (part % 4 * 2)) & 3;
        q[part * 32 + i] = static_cast<uint8_t>(nibble | bits << 4);
      }
    }
    std::memcpy(scales, header.step, sizeof(header.step));
  }
};

using WholeFormats = FormatList<WholeQ40, WholeQ41, WholeQ50, WholeQ51, WholeQ80, WholeIQ4NL,
                                WholeQ4K, WholeQ5K, WholeQ6K>;

template <class... Formats, class Visitor>
HWY_INLINE bool VisitWhole(FormatList<Formats...> /*list*/, BlockType type,
                           const Visitor& visitor) {
  return ((type == Formats::Stored::kType && (visitor(Formats()), true)) || ...);
}

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_WHOLE_NUMBER_BLOCKS_INL_H_
