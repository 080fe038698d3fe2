// SPDX-License-Identifier: MIT
// GGUF's block formats in the form in which a GPU's threads read them. The values equal those of
// kernels/quantised/dequantise.h to the last bit.
//
// A thread reads a bundle: 8 bytes of small numbers, which hold groups of 8 neighbouring elements.
// Neighbouring bundles are adjacent, and so are their groups. A format is a struct:
//
//   kType, kElements, kBytes      as in BlockFormat; for formats of single numbers 8 elements
//   kBundles                      bundles per block
//   kGroups                       groups per bundle
//   First(bundle, group)          the first element of a group, within the block
//   Block(row, blocks, i)         the i-th block of a row with `blocks` blocks
//   Bits Read(block, bundle)      the data of a bundle, as stored: a thread reads the next bundle
//                                 while it multiplies one, and waits for the data that it uses
//   Numbers(bits, group, numbers) [8]: those of a group, small integers if kHasStep
//   Step(bits, group)             if kHasStep: an element is its number times this step
//   Minimum(bits, group)          if kHasMinimum: plus this minimum
//
// Rows have the layout of device_rows.h and are 16-byte aligned; the contiguous part of a block is
// aligned to the largest power of two that divides its size, up to 16.
#pragma once

#include "kernels/cuda/code_book_blocks.h"
#include "kernels/cuda/small_blocks.h"
#include "kernels/cuda/super_blocks.h"
#include "kernels/quantised/dequantise.h"

namespace midscope::kernels::cuda {

// Computes the 8 elements of a group.
template <class Format>
MIDSCOPE_CUDA_BODY void GroupValues(const typename Format::Bits& bits, int group, float* values) {
  Format::Numbers(bits, group, values);
  if constexpr (Format::kHasStep) {
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) values[i] *= Format::Step(bits, group);
  }
  if constexpr (Format::kHasMinimum) {
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) values[i] += Format::Minimum(bits, group);
  }
}

template <class Visitor, class... Formats>
void VisitAmong(BlockType type, const Visitor& visitor) {
  (void)((type == Formats::kType && (visitor(Formats()), true)) || ...);
}

// Calls visitor(Format()) with the format of block type `type`.
template <class Visitor>
void VisitFormat(BlockType type, const Visitor& visitor) {
  VisitAmong<Visitor, F32, F16, BF16, Q40, Q41, Q50, Q51, Q80, IQ4NL, MXFP4, Q2K, Q3K, Q4K, Q5K,
             Q6K, IQ4XS, TQ10, TQ20, IQ1S, IQ1M, IQ2XXS, IQ2XS, IQ2S, IQ3XXS, IQ3S>(type, visitor);
}

}  // namespace midscope::kernels::cuda
