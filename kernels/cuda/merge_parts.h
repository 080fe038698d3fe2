// SPDX-License-Identifier: MIT
// Merges the attention results of two parts of the keys: near and far keys, whose positions differ
// (Self-Extend).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Sets near [rows, heads, head_dim] to the result of attention over both parts: each part's result
// times its share of the weights, computed from the logarithms of the sums of exponentials,
// near_sums and far_sums (row r and head h at h * sums_stride + r). Rows of near and far have
// strides in elements; heads are contiguous. All addresses and strides are multiples of 16 bytes,
// head_dim of 8.
template <class T>
struct MergePartsArguments {
  T* near = nullptr;
  const T* far = nullptr;
  const float* near_sums = nullptr;
  const float* far_sums = nullptr;
  int64_t near_stride = 0;
  int64_t far_stride = 0;
  int64_t near_sums_stride = 0;
  int64_t far_sums_stride = 0;
  int64_t rows = 0;
  int64_t heads = 0;
  int head_dim = 0;
};

template <class T>
inline Grid MergePartsGrid(const MergePartsArguments<T>& a) {
  return RowChunkGrid(a.rows, a.heads * a.head_dim);
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void MergePartsBlock(Machine& machine, const MergePartsArguments<T>& a) {
  EachRowChunk(machine, a.heads * a.head_dim, [&](int64_t row, int64_t i) {
    const int64_t head = i / a.head_dim;
    const float near_sum = a.near_sums[head * a.near_sums_stride + row];
    const float far_sum = a.far_sums[head * a.far_sums_stride + row];
    const float share = 1 / (1 + PowerOfTwo((far_sum - near_sum) * kLog2E));
    float near[kChunk];
    float far[kChunk];
    T* merged = a.near + row * a.near_stride + i;
    Load(merged, near);
    Load(a.far + row * a.far_stride + i, far);
    MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) {
      near[j] = far[j] + share * (near[j] - far[j]);
    }
    Keep(near, merged);
  });
}

}  // namespace midscope::kernels::cuda
