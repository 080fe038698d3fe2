// SPDX-License-Identifier: MIT
// GPU kernel that dequantises rows of blocks in GGUF's formats to float32, bfloat16 or float16;
// writing the result limits the speed.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_formats.h"
#include "kernels/cuda/machine.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// Computes out [rows, columns] of `dtype`, contiguous, 16-byte aligned: the values of
// kernels::DequantiseRows for `columns` columns, from first_column on, of rows with row_columns
// columns. Rows have stride row_bytes and the layout of device_rows.h; all column counts are whole
// blocks, or multiples of 8 for formats of single numbers.
struct DequantiseArguments {
  const uint8_t* blocks = nullptr;
  int64_t row_bytes = 0;
  int64_t row_columns = 0;
  int64_t first_column = 0;
  void* out = nullptr;
  Dtype dtype = Dtype::kFloat32;
  int64_t rows = 0;
  int64_t columns = 0;
};

// Returns the number of bundles (block_formats.h) in a row. Also called on the CPU, for grids.
template <class Format>
constexpr int64_t BundlesOf(int64_t columns) {
  return columns / Format::kElements * Format::kBundles;
}

template <class Format>
inline Grid DequantiseGrid(const DequantiseArguments& a) {
  const int64_t bundles = BundlesOf<Format>(a.columns);
  const int threads = ThreadsFor(bundles, kRowThreads);
  return {a.rows, threads == 0 ? 0 : (bundles + threads - 1) / threads, 1, threads, 0};
}

template <class Format, class Machine>
MIDSCOPE_CUDA_BODY void DequantiseBlock(Machine& machine, const DequantiseArguments& a) {
  const BlockIndex block = machine.block();
  machine.Each([&](int thread) {
    const int64_t item = block.y * machine.threads() + thread;
    if (item >= BundlesOf<Format>(a.columns)) return;
    const auto bundle = static_cast<int>(item % Format::kBundles);
    const int64_t of_row = item / Format::kBundles;
    const typename Format::Bits bits = Format::Read(
        Format::Block(a.blocks + block.x * a.row_bytes, a.row_columns / Format::kElements,
                      a.first_column / Format::kElements + of_row),
        bundle);
    const int64_t first = block.x * a.columns + of_row * Format::kElements;
    MIDSCOPE_CUDA_UNROLL for (int group = 0; group < Format::kGroups; ++group) {
      float values[kChunk];
      GroupValues<Format>(bits, group, values);
      KeepAs(a.dtype, values, a.out, first + Format::First(bundle, group));
    }
  });
}

}  // namespace midscope::kernels::cuda
