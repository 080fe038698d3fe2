// SPDX-License-Identifier: MIT
// Kernels that copy rows, add partial sums, and merge attention over near and far keys.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Copies the two halves of each row from[r] to first[r] and second[r]. A half has `words` words of
// 16 bytes, 16-byte aligned. Row strides are in words.
struct SplitRowsArguments {
  const Words* from = nullptr;
  Words* first = nullptr;
  Words* second = nullptr;
  int64_t from_stride = 0;
  int64_t first_stride = 0;
  int64_t second_stride = 0;
  int64_t rows = 0;
  int64_t words = 0;
};

inline Grid SplitRowsGrid(const SplitRowsArguments& a) {
  const int64_t items = a.rows * a.words * 2;
  return {(items + kRowThreads - 1) / kRowThreads, 1, 1, kRowThreads, 0};
}

template <class Machine>
MIDSCOPE_CUDA_BODY void SplitRowsBlock(Machine& machine, const SplitRowsArguments& a) {
  machine.Each([&](int thread) {
    const int64_t item = machine.block().x * kRowThreads + thread;
    const int64_t row = item / (a.words * 2);
    const int64_t word = item % (a.words * 2);
    if (row >= a.rows) return;
    const Words moved = a.from[row * a.from_stride + word];
    if (word < a.words) {
      a.first[row * a.first_stride + word] = moved;
    } else {
      a.second[row * a.second_stride + word - a.words] = moved;
    }
  });
}

// Computes out[r, i] = sum over p of parts[p, r, i], in order, for parts [parts, rows, width]. Rows
// of out have stride out_stride, in elements.
template <class T>
struct AddPartsArguments {
  const float* sums = nullptr;
  T* out = nullptr;
  int64_t out_stride = 0;
  int64_t parts = 0;
  int64_t rows = 0;
  int64_t width = 0;
};

constexpr int kAddThreads = 64;

template <class T>
inline Grid AddPartsGrid(const AddPartsArguments<T>& a) {
  return {(a.width + kAddThreads - 1) / kAddThreads, a.rows, 1, kAddThreads, 0};
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void AddPartsBlock(Machine& machine, const AddPartsArguments<T>& a) {
  const BlockIndex block = machine.block();
  machine.Each([&](int thread) {
    const int64_t i = block.x * kAddThreads + thread;
    if (i >= a.width) return;
    const float* part = a.sums + block.y * a.width + i;
    float sum = 0;
    MIDSCOPE_CUDA_UNROLL_BY(8)
    for (int64_t p = 0; p < a.parts; ++p) sum += part[p * a.rows * a.width];
    KeepOneAs(kDtypeOf<T>, sum, a.out + block.y * a.out_stride, i);
  });
}

// Merges the attention results of near and far keys, whose positions differ (Self-Extend). Sets
// near [rows, heads, head_dim] to the result of attention over all keys: the results of both parts,
// weighted by their shares of the softmax. These are computed from the log-sum-exp of the logits,
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
