// SPDX-License-Identifier: MIT
// The implementation of each block format for CPUs; compiled once for each instruction set (see
// rows-inl.h). Values equal those of the `gguf` Python package to the last bit: each is a product
// that float32 holds exactly, or that is rounded once.
//
// A format is a struct in number_blocks-inl.h, small_blocks-inl.h, super_blocks-inl.h or
// code_book_blocks-inl.h:
//
//   kType, kName, kElements, kBytes   as in BlockFormat
//   kScales                           as BlockFormat::scales
//   kParts                            parts of 32 elements that are read together: those of a
//                                     block, 1 for formats of single numbers
//   kGroup                            parts that one iteration of a loop reads
//   Header Read(at)                   the common data of the block's parts
//   Part Get<kPart>(at, header, group)  part group * kGroup + kPart of the block at `at`
//
// To add one: a line in BlockType (dequantise.h); the struct, and its name in the list below it;
// the same for GPUs (cuda/block_formats.h).
#if defined(MIDSCOPE_KERNELS_BLOCK_FORMATS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef MIDSCOPE_KERNELS_BLOCK_FORMATS_INL_H_
#undef MIDSCOPE_KERNELS_BLOCK_FORMATS_INL_H_
#else
#define MIDSCOPE_KERNELS_BLOCK_FORMATS_INL_H_
#endif

#include "kernels/quantised/block_parts-inl.h"
#include "kernels/quantised/code_book_blocks-inl.h"
#include "kernels/quantised/number_blocks-inl.h"
#include "kernels/quantised/small_blocks-inl.h"
#include "kernels/quantised/super_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {
namespace blocks {

// Elements that are read together: a block, or one part (32) in formats of single numbers.
template <class Format>
constexpr int64_t kUnitElements = Format::kParts* kPartElements;
template <class Format>
constexpr int64_t kUnitBytes = kUnitElements<Format> / Format::kElements* Format::kBytes;

template <class... Formats, class Visitor>
HWY_INLINE void VisitListed(FormatList<Formats...> /*list*/, BlockType type,
                            const Visitor& visitor) {
  (void)((type == Formats::kType && (visitor(Formats()), true)) || ...);
}

// Calls visitor(Format()) with the format of block type `type`.
template <class Visitor>
HWY_INLINE void VisitFormat(BlockType type, const Visitor& visitor) {
  VisitListed(NumberFormats(), type, visitor);
  VisitListed(SmallFormats(), type, visitor);
  VisitListed(SuperFormats(), type, visitor);
  VisitListed(CodeBookFormats(), type, visitor);
}

template <class... A, class... B, class... C, class... E>
constexpr auto DescribeFormats(FormatList<A...> /*a*/, FormatList<B...> /*b*/,
                               FormatList<C...> /*c*/, FormatList<E...> /*e*/) {
  const auto describe = [](auto format) {
    using Format = decltype(format);
    return BlockFormat{Format::kType, Format::kName, Format::kElements, Format::kBytes,
                       Format::kScales};
  };
  return std::array{describe(A())..., describe(B())..., describe(C())..., describe(E())...};
}

}  // namespace blocks
}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#endif  // MIDSCOPE_KERNELS_BLOCK_FORMATS_INL_H_
