// SPDX-License-Identifier: MIT
// Formats with blocks of 256 elements, which are entries of a code book (code_books.h) with signs
// or shifts, times a scale for each 16 or 32 elements; see block_formats-inl.h.
#if defined(MIDSCOPE_KERNELS_CODE_BOOK_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_CODE_BOOK_BLOCKS_INL_H_
#undef MIDSCOPE_KERNELS_CODE_BOOK_BLOCKS_INL_H_
#else
#define MIDSCOPE_KERNELS_CODE_BOOK_BLOCKS_INL_H_
#endif

#include "kernels/quantised/block_parts-inl.h"
#include "kernels/quantised/code_books.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

template <class Number>
HWY_INLINE Number ReadBytes(const uint8_t* from) {
  Number number;
  std::memcpy(&number, from, sizeof(number));
  return number;
}

// A part of 32 elements: code book entries of kLength elements, a bit (sign or shift) per element,
// and the scales of both halves.
template <int kLength>
struct CodedPart {
  const int8_t* entries[kPartElements / kLength];
  uint32_t bits;
  float steps[2];
};

// Loads as many elements of the part as `d` has lanes, from element `first` on.
template <int kLength, class D8>
HWY_INLINE hn::Vec<D8> LoadEntries(D8 d, const int8_t* const* entries, int64_t first) {
  constexpr int64_t kCount = static_cast<int64_t>(hn::MaxLanes(D8()));
  if constexpr (kCount <= kLength) {
    return hn::LoadU(d, entries[first / kLength] + first % kLength);
  } else {
    const hn::Half<D8> half;
    return hn::Combine(d, LoadEntries<kLength>(half, entries, first + kCount / 2),
                       LoadEntries<kLength>(half, entries, first));
  }
}

enum class CodeBits { kSigns, kShifts };

// Returns the elements of a part. By kBits, a set bit negates an element, or shifts it by -1
// instead of 1.
template <CodeBits kBits, int kLength>
HWY_INLINE Part ReadCoded(const CodedPart<kLength>& coded) {
  const D d;
  const hn::Rebind<int8_t, D> d8;
  Part part;
#pragma GCC unroll 8
  for (int64_t v = 0; v < kVectors; ++v) {
    const uint64_t bits = coded.bits >> (v * kLanes);  // 8 readable bytes
    const auto set = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&bits));
    const auto numbers =
        hn::PromoteTo(hn::RebindToSigned<D>(), LoadEntries<kLength>(d8, coded.entries, v * kLanes));
    const V values = hn::ConvertTo(d, numbers);
    const V step = hn::Set(d, coded.steps[v * kLanes / 16]);
    if constexpr (kBits == CodeBits::kSigns) {
      part.v[v] = hn::Mul(values, hn::IfThenElse(set, hn::Neg(step), step));
    } else {
      const V shift = hn::IfThenElse(set, hn::Set(d, -1.0f), hn::Set(d, 1.0f));
      part.v[v] = hn::Mul(hn::Add(values, shift), step);
    }
  }
  return part;
}

struct CodedBlock {
  static constexpr int64_t kElements = 256;
  static constexpr int64_t kParts = 8;
  static constexpr int64_t kGroup = 1;
  static constexpr BlockScales kScales = {0};
  struct Header {
    float d;
  };
  static HWY_INLINE Header Read(const uint8_t* at) { return {ReadHalf(at)}; }
};

// Returns the step d * (2 * scale + 1) * unit, which float32 represents exactly.
HWY_INLINE float OddStep(float d, float unit, uint32_t scale) {
  return d * unit * static_cast<float>(2 * scale + 1);
}

// Sets both steps of a part for IQ2_XS and IQ2_S: `scales` contains a nibble per half of the part.
HWY_INLINE void SetNibbleSteps(float d, uint32_t scales, CodedPart<8>& coded) {
  coded.steps[0] = OddStep(d, 0.125f, scales & 15);
  coded.steps[1] = OddStep(d, 0.125f, scales >> 4);
}

// Block layout: scale d; per part of 32 elements, four indices [4], then four times seven signs and
// a scale in 32 bits.
struct IQ2XXS : CodedBlock {
  static constexpr BlockType kType = BlockType::kIQ2_XXS;
  static constexpr std::string_view kName = "IQ2_XXS";
  static constexpr int64_t kBytes = 66;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const uint8_t* indices = at + 2 + group * 8;
    const auto rest = ReadBytes<uint32_t>(indices + 4);
    CodedPart<8> coded;
    for (int i = 0; i < 4; ++i) coded.entries[i] = kIQ2XXSBook.entries[indices[i]];
    coded.bits = SignsOfSevens(rest);
    coded.steps[0] = coded.steps[1] = OddStep(header.d, 0.125f, rest >> 28);
    return ReadCoded<CodeBits::kSigns>(coded);
  }
};

// Block layout: scale d, indices [32] of 9 bits with seven signs each, scales [8] as nibbles.
struct IQ2XS : CodedBlock {
  static constexpr BlockType kType = BlockType::kIQ2_XS;
  static constexpr std::string_view kName = "IQ2_XS";
  static constexpr int64_t kBytes = 74;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const auto codes = ReadBytes<uint64_t>(at + 2 + group * 8);
    const uint64_t signs = codes >> 9 & 0x007f007f007f007full;
    const uint64_t pairs = signs | signs >> 8;
    CodedPart<8> coded;
    for (int i = 0; i < 4; ++i) coded.entries[i] = kIQ2XSBook.entries[codes >> (16 * i) & 511];
    coded.bits =
        WithEighthSigns(static_cast<uint32_t>((pairs & 0xffff) | (pairs >> 16 & 0xffff0000u)));
    SetNibbleSteps(header.d, at[66 + group], coded);
    return ReadCoded<CodeBits::kSigns>(coded);
  }
};

// Block layout: scale d, low bytes of the indices [32], signs [32], two high bits of each index
// [8], scales [8] as nibbles.
struct IQ2S : CodedBlock {
  static constexpr BlockType kType = BlockType::kIQ2_S;
  static constexpr std::string_view kName = "IQ2_S";
  static constexpr int64_t kBytes = 82;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const uint32_t high = at[66 + group];
    CodedPart<8> coded;
    for (int i = 0; i < 4; ++i) {
      const uint32_t index = at[2 + group * 4 + i] | (high >> (2 * i) & 3) << 8;
      coded.entries[i] = kIQ2SBook.entries[index];
    }
    coded.bits = ReadBytes<uint32_t>(at + 34 + group * 4);
    SetNibbleSteps(header.d, at[74 + group], coded);
    return ReadCoded<CodeBits::kSigns>(coded);
  }
};

// Block layout: scale d, indices [64]; per part, four times seven signs and a scale in 32 bits.
struct IQ3XXS : CodedBlock {
  static constexpr BlockType kType = BlockType::kIQ3_XXS;
  static constexpr std::string_view kName = "IQ3_XXS";
  static constexpr int64_t kBytes = 98;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const auto rest = ReadBytes<uint32_t>(at + 66 + group * 4);
    CodedPart<4> coded;
    for (int i = 0; i < 8; ++i) coded.entries[i] = kIQ3XXSBook.entries[at[2 + group * 8 + i]];
    coded.bits = SignsOfSevens(rest);
    coded.steps[0] = coded.steps[1] = OddStep(header.d, 0.25f, rest >> 28);
    return ReadCoded<CodeBits::kSigns>(coded);
  }
};

// Block layout: scale d, low bytes [64] and high bits [8] of the indices, signs [32], nibble scales
// [4].
struct IQ3S : CodedBlock {
  static constexpr BlockType kType = BlockType::kIQ3_S;
  static constexpr std::string_view kName = "IQ3_S";
  static constexpr int64_t kBytes = 110;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const uint32_t high = at[66 + group];
    const uint32_t scale = at[106 + group / 2] >> (group % 2 * 4) & 15;
    CodedPart<4> coded;
    for (int i = 0; i < 8; ++i) {
      const uint32_t index = at[2 + group * 8 + i] | (high >> i & 1) << 8;
      coded.entries[i] = kIQ3SBook.entries[index];
    }
    coded.bits = ReadBytes<uint32_t>(at + 74 + group * 4);
    coded.steps[0] = coded.steps[1] = OddStep(header.d, 1.0f, scale);
    return ReadCoded<CodeBits::kSigns>(coded);
  }
};

// Block layout: scale d, low bytes of the indices [32]; per part of 32 elements, in 16 bits, three
// high bits per index, a scale and the sign of the shift.
struct IQ1S : CodedBlock {
  static constexpr BlockType kType = BlockType::kIQ1_S;
  static constexpr std::string_view kName = "IQ1_S";
  static constexpr int64_t kBytes = 50;
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const uint32_t rest = ReadBytes<uint16_t>(at + 34 + group * 2);
    CodedPart<8> coded;
    for (int i = 0; i < 4; ++i) {
      const uint32_t index = at[2 + group * 4 + i] | (rest >> (3 * i) & 7) << 8;
      coded.entries[i] = kIQ1Book.entries[index];
    }
    coded.bits = 0 - (rest >> 15);
    coded.steps[0] = coded.steps[1] = OddStep(header.d, 0.125f, rest >> 12 & 7);
    return ReadCoded<CodeBits::kShifts>(coded);
  }
};

// Block layout: low bytes of the indices [32]; nibbles [16] with the high bits and the shift of an
// index; four 16-bit numbers with four scales of three bits each, whose highest nibbles form d.
struct IQ1M : CodedBlock {
  static constexpr BlockType kType = BlockType::kIQ1_M;
  static constexpr std::string_view kName = "IQ1_M";
  static constexpr int64_t kBytes = 56;
  static constexpr BlockScales kScales = {48, kNoScale, true};
  static HWY_INLINE Header Read(const uint8_t* at) {
    return {ToFloat(Float16{SpreadHalf(ReadBytes<uint64_t>(at + 48))})};
  }
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& header, int64_t group) {
    const uint32_t rest = ReadBytes<uint16_t>(at + 32 + group * 2);
    const uint32_t scales =
        uint32_t{ReadBytes<uint16_t>(at + 48 + group / 2 * 2)} >> (group % 2 * 6);
    const uint32_t bytes = (rest | rest << 8) & 0x00ff00ffu;
    const uint32_t nibbles = (bytes | bytes << 4) & 0x0f0f0f0fu;
    CodedPart<8> coded;
    for (int i = 0; i < 4; ++i) {
      const uint32_t index = at[group * 4 + i] | (nibbles >> (8 * i) & 7) << 8;
      coded.entries[i] = kIQ1Book.entries[index];
    }
    coded.bits = (nibbles >> 3 & 0x01010101u) * 255;
    coded.steps[0] = OddStep(header.d, 0.125f, scales & 7);
    coded.steps[1] = OddStep(header.d, 0.125f, scales >> 3 & 7);
    return ReadCoded<CodeBits::kShifts>(coded);
  }
};

using CodeBookFormats = FormatList<IQ1S, IQ1M, IQ2XXS, IQ2XS, IQ2S, IQ3XXS, IQ3S>;

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_CODE_BOOK_BLOCKS_INL_H_
