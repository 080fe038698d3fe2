// SPDX-License-Identifier: MIT
// Copies rows unchanged, and adds up parts of sums.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"

namespace midscope::kernels::cuda {

// Copies the two halves of from[r] to first[r] and second[r], each of `words` words of 16 bytes;
// addresses of words are multiples of 16. Row strides are in words.
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

// Computes out[r, i] = the sum of parts[., r, i] over `parts` parts, [parts, rows, width], in
// order. Rows of out have stride out_stride, in elements.
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

}  // namespace midscope::kernels::cuda
