// SPDX-License-Identifier: MIT
// Rotary embedding of bfloat16 rows, each head by a table of its own: the part of a row that one
// thread rotates (attention.h loads keys through it), and rows as a whole.
#pragma once

#include <cstdint>

#include "kernels/cuda/machine.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// As kernels/rotary.h's RotaryView, in the memory of the GPU. Without data: not rotated.
struct Table {
  const float* cos = nullptr;  // [rows, pairs]
  const float* sin = nullptr;
  int pairs = 0;  // a multiple of 8
};

// Elements that a thread reads at once.
constexpr int kChunk = 8;

// Number of chunks of one row of `head_dim` elements: chunks of a rotated half come with their
// partners.
MIDSCOPE_CUDA_BODY int ChunksOf(const Table& table, int head_dim) {
  const int pairs = table.cos ? table.pairs : 0;
  return (head_dim - pairs) / kChunk;
}

MIDSCOPE_CUDA_BODY void Unpack(const Words& words, float* values) {
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
    values[At(i, 2)] = LowOf(words.word[i]);
    values[At(i, 2, 1)] = HighOf(words.word[i]);
  }
}

MIDSCOPE_CUDA_BODY Words Packed(const float* values) {
  Words words;
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
    words.word[i] = PackPair(values[At(i, 2)], values[At(i, 2, 1)]);
  }
  return words;
}

// Chunk `chunk` of one row, rotated by row `table_row` of the table. in and out: 16-byte aligned.
MIDSCOPE_CUDA_BODY void RotateChunk(const Table& table, int64_t table_row, int chunk,
                                    const BFloat16* in, BFloat16* out) {
  const int pairs = table.cos ? table.pairs : 0;
  const int first = chunk * kChunk;
  if (first >= pairs) {  // after the rotated pairs
    const int at = first + pairs;
    *reinterpret_cast<Words*>(out + at) = *reinterpret_cast<const Words*>(in + at);
    return;
  }
  float low[kChunk];
  float high[kChunk];
  Unpack(*reinterpret_cast<const Words*>(in + first), low);
  Unpack(*reinterpret_cast<const Words*>(in + first + pairs), high);
  const float* cos = table.cos + table_row * pairs + first;
  const float* sin = table.sin + table_row * pairs + first;
  float turned_low[kChunk];
  float turned_high[kChunk];
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
    turned_low[i] = low[i] * cos[i] - high[i] * sin[i];
    turned_high[i] = high[i] * cos[i] + low[i] * sin[i];
  }
  *reinterpret_cast<Words*>(out + first) = Packed(turned_low);
  *reinterpret_cast<Words*>(out + first + pairs) = Packed(turned_high);
}

// x [rows, heads, head_dim] into out [rows, heads, head_dim], head h by tables[h] from its row
// `first` on. Strides of rows in elements; heads adjoin. All addresses and strides are multiples of
// 16 bytes, head_dim of 8.
struct RotateArguments {
  const BFloat16* x = nullptr;
  BFloat16* out = nullptr;
  int64_t x_stride = 0;
  int64_t out_stride = 0;
  int64_t rows = 0;
  int64_t heads = 0;
  int head_dim = 0;
  int64_t first = 0;
  const Table* tables = nullptr;  // [heads]
};

inline Grid RotateGrid(const RotateArguments& a) {
  constexpr int64_t kThreads = 128;
  const int64_t chunks = a.rows * (a.head_dim / kChunk);
  return {(chunks + kThreads - 1) / kThreads, a.heads, 1, kThreads, 0};
}

template <class Machine>
MIDSCOPE_CUDA_BODY void RotateBlock(Machine& machine, const RotateArguments& a) {
  const int64_t head = machine.block().y;
  const Table table = a.tables[head];
  const int chunks = ChunksOf(table, a.head_dim);
  machine.Each([&](int thread) {
    const int64_t item = machine.block().x * machine.threads() + thread;
    const int64_t row = item / chunks;
    if (row >= a.rows) return;
    RotateChunk(table, a.first + row, static_cast<int>(item % chunks),
                a.x + row * a.x_stride + head * a.head_dim,
                a.out + row * a.out_stride + head * a.head_dim);
  });
}

}  // namespace midscope::kernels::cuda
