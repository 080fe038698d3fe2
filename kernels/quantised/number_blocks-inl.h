// SPDX-License-Identifier: MIT
// The formats of single numbers; see block_formats-inl.h.
#if defined(MIDSCOPE_KERNELS_NUMBER_BLOCKS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_NUMBER_BLOCKS_INL_H_
#undef MIDSCOPE_KERNELS_NUMBER_BLOCKS_INL_H_
#else
#define MIDSCOPE_KERNELS_NUMBER_BLOCKS_INL_H_
#endif

#include "kernels/quantised/block_parts-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

template <int64_t kNumberBytes>
struct Numbers {
  static constexpr int64_t kElements = 1;
  static constexpr int64_t kBytes = kNumberBytes;
  static constexpr BlockScales kScales = {};
  static constexpr int64_t kParts = 1;
  static constexpr int64_t kGroup = 1;
  using Header = NoHeader;
  static HWY_INLINE Header Read(const uint8_t* /*at*/) { return {}; }
};

struct F32 : Numbers<4> {
  static constexpr BlockType kType = BlockType::kF32;
  static constexpr std::string_view kName = "F32";
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& /*header*/, int64_t /*group*/) {
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      part.v[v] = hn::LoadU(D(), reinterpret_cast<const float*>(at) + v * kLanes);
    }
    return part;
  }
};

struct F16 : Numbers<2> {
  static constexpr BlockType kType = BlockType::kF16;
  static constexpr std::string_view kName = "F16";
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& /*header*/, int64_t /*group*/) {
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      const auto* halves = reinterpret_cast<const uint16_t*>(at) + v * kLanes;
      part.v[v] = HalvesToFloats(hn::LoadU(hn::Rebind<uint16_t, D>(), halves));
    }
    return part;
  }
};

struct BF16 : Numbers<2> {
  static constexpr BlockType kType = BlockType::kBF16;
  static constexpr std::string_view kName = "BF16";
  template <int64_t kPart>
  static HWY_INLINE Part Get(const uint8_t* at, const Header& /*header*/, int64_t /*group*/) {
    Part part;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kVectors; ++v) {
      part.v[v] = LoadFloats(D(), reinterpret_cast<const BFloat16*>(at) + v * kLanes);
    }
    return part;
  }
};

using NumberFormats = FormatList<F32, F16, BF16>;

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_NUMBER_BLOCKS_INL_H_
