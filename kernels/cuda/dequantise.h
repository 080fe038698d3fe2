// SPDX-License-Identifier: MIT
// Rows of blocks of GGUF's formats, turned into float32, bfloat16 or float16 on a GPU: bound by
// writing them.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_formats.h"
#include "kernels/cuda/machine.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// out [rows, columns] of `dtype`, contiguous, 16-byte aligned: the values of
// kernels::DequantiseRows. Rows of blocks are row_bytes apart, each block as aligned as
// block_formats.h says; columns are whole blocks, of formats of single numbers a multiple of 8.
struct DequantiseArguments {
  const uint8_t* blocks = nullptr;
  int64_t row_bytes = 0;
  void* out = nullptr;
  Dtype dtype = Dtype::kFloat32;
  int64_t rows = 0;
  int64_t columns = 0;
};

// Bundles of a row. constexpr, as grids on the CPU are made of it too.
template <class Format>
constexpr int64_t BundlesOf(int64_t columns) {
  return columns / Format::kElements * Format::kBundles;
}

// Of a row, that a thread reads before it expands the first of them.
constexpr int kBundlesAtOnce = 4;

template <class Format>
inline Grid DequantiseGrid(const DequantiseArguments& a) {
  const int64_t items = (BundlesOf<Format>(a.columns) + kBundlesAtOnce - 1) / kBundlesAtOnce;
  const int threads = ThreadsFor(items, kRowThreads);
  return {a.rows, threads == 0 ? 0 : (items + threads - 1) / threads, 1, threads, 0};
}

template <class Format, class Machine>
MIDSCOPE_CUDA_BODY void DequantiseBlock(Machine& machine, const DequantiseArguments& a) {
  const BlockIndex block = machine.block();
  const auto bundles = static_cast<int>(BundlesOf<Format>(a.columns));
  const int begin = static_cast<int>(block.y) * kBundlesAtOnce * machine.threads();
  machine.Each([&](int thread) {
    typename Format::Bits bits[kBundlesAtOnce];
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kBundlesAtOnce; ++i) {
      const int item = begin + At(i, machine.threads(), thread);
      if (item >= bundles) break;
      bits[i] = Format::Read(
          a.blocks + block.x * a.row_bytes + item / Format::kBundles * int64_t{Format::kBytes},
          item % Format::kBundles);
    }
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kBundlesAtOnce; ++i) {
      const int item = begin + At(i, machine.threads(), thread);
      if (item >= bundles) break;
      const int64_t first =
          block.x * a.columns + item / Format::kBundles * int64_t{Format::kElements};
      MIDSCOPE_CUDA_UNROLL for (int group = 0; group < Format::kGroups; ++group) {
        float values[kChunk];
        Format::Values(bits[i], group, values);
        KeepAs(a.dtype, values, a.out, first + Format::First(item % Format::kBundles, group));
      }
    }
  });
}

}  // namespace midscope::kernels::cuda
