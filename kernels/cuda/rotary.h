// SPDX-License-Identifier: MIT
// Rotary embedding of bfloat16 or float16 rows on a GPU, with a separate table per head: functions
// that rotate one thread's part of a row, a kernel for whole rows, and a kernel that computes
// tables.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// A rotary table in GPU memory, like RotaryView of kernels/rotary.h. Without data: no rotation.
struct Table {
  const float* cos = nullptr;  // [rows, pairs]
  const float* sin = nullptr;
  int pairs = 0;  // a multiple of 8
  bool operator==(const Table&) const = default;
};

// Returns the number of work items for a row of `head_dim` elements: pairs of chunks in the rotated
// halves, and single chunks in the rest.
MIDSCOPE_CUDA_BODY int ChunksOf(const Table& table, int head_dim) {
  const int pairs = table.cos ? table.pairs : 0;
  return (head_dim - pairs) / kChunk;
}

// Cosines and sines of the angles of one chunk of pairs.
struct Turn {
  float cos[kChunk];
  float sin[kChunk];
};
MIDSCOPE_CUDA_BODY Turn TurnOf(const Table& table, int64_t table_row, int chunk) {
  Turn turn;
  const int64_t at = table_row * table.pairs + At(chunk, kChunk);
  Load(table.cos + at, turn.cos);
  Load(table.sin + at, turn.sin);
  return turn;
}

// Rotates a chunk of pairs: `low` in the first half of the rotated elements, `high` in the second.
MIDSCOPE_CUDA_BODY void TurnChunk(const Turn& turn, float* low, float* high) {
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
    const float turned = low[i] * turn.cos[i] - high[i] * turn.sin[i];
    high[i] = high[i] * turn.cos[i] + low[i] * turn.sin[i];
    low[i] = turned;
  }
}

// Rotates chunk `chunk` of a row and calls work(first element, values) for it and, if it is in a
// rotated half, for the corresponding chunk in the other half.
template <class T, class Work>
MIDSCOPE_CUDA_BODY void WithRotatedChunk(const Table& table, int64_t table_row, int chunk,
                                         const T* row, const Work& work) {
  const int pairs = table.cos ? table.pairs : 0;
  const int first = chunk * kChunk;
  float low[kChunk];
  if (first >= pairs) {
    Load(row + first + pairs, low);
    work(first + pairs, low);
    return;
  }
  float high[kChunk];
  Load(row + first, low);
  Load(row + first + pairs, high);
  TurnChunk(TurnOf(table, table_row, chunk), low, high);
  work(first, low);
  work(first + pairs, high);
}

// Writes what WithRotatedChunk computes to a row `out`; copies elements that are not rotated. Rows
// are 16-byte aligned.
template <class T>
MIDSCOPE_CUDA_BODY void RotateChunk(const Table& table, int64_t table_row, int chunk, const T* in,
                                    T* out) {
  const int pairs = table.cos ? table.pairs : 0;
  const int first = chunk * kChunk;
  if (first >= pairs) {
    const int at = first + pairs;
    *reinterpret_cast<Words*>(out + at) = *reinterpret_cast<const Words*>(in + at);
    return;
  }
  WithRotatedChunk(table, table_row, chunk, in,
                   [&](int at, const float* values) { Keep(values, out + at); });
}

// Rotates x [rows, heads, head_dim] into out [rows, heads, head_dim], head h by its table, from the
// table's row `first` on. Row strides are in elements; heads are contiguous. All addresses and
// strides of rows are multiples of 16 bytes, head_dim of 8.
template <class T>
struct RotateArguments {
  const T* x = nullptr;
  T* out = nullptr;
  int64_t x_stride = 0;
  int64_t out_stride = 0;
  int64_t rows = 0;
  int64_t heads = 0;
  int head_dim = 0;
  int64_t first = 0;
  const Table* tables = nullptr;         // [heads]
  int64_t table_stride = sizeof(Table);  // bytes from one table to the next
  MIDSCOPE_CUDA_BODY const Table& TableOf(int64_t head) const {
    const auto* at = reinterpret_cast<const uint8_t*>(tables) + head * table_stride;
    return *reinterpret_cast<const Table*>(at);
  }
};

template <class T>
inline Grid RotateGrid(const RotateArguments<T>& a) {
  constexpr int64_t kThreads = 128;
  const int64_t chunks = a.rows * (a.head_dim / kChunk);
  return {(chunks + kThreads - 1) / kThreads, a.heads, 1, kThreads, 0};
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void RotateBlock(Machine& machine, const RotateArguments<T>& a) {
  const int64_t head = machine.block().y;
  const Table table = a.TableOf(head);
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

// Computes tables of rotary embedding, like FillRotary and FillRotaryAt of kernels/rotary.h: cos
// and sin [rows, pairs] of (floor(id / group) + offset) / ratio * inverse_frequency[pair], both
// times `magnitude`: equal to the CPU's result or an adjacent float32 number, for angles up to 1e8.
// Angles, their cosines and sines are computed in double. With a group of 1, ids are not rounded.
struct AnglesArguments {
  const double* inverse_frequency = nullptr;  // [pairs]
  const double* ids = nullptr;                // [rows], or null: 0, 1, 2, ...
  int64_t group = 1;
  int64_t offset = 0;
  double ratio = 1;
  double magnitude = 1;
  int64_t rows = 0;
  int64_t pairs = 0;
  float* cos = nullptr;
  float* sin = nullptr;
};

struct CosSin {
  double cos;
  double sin;
};

// Returns cosine and sine of an angle up to 1e8, within 1e-15 plus the error of the angle. The
// nearest multiple of a quarter turn is subtracted in two parts; the first omitted term of the
// remainder's power series is below 1e-17. CUDA's own functions need an array in memory for larger
// angles.
MIDSCOPE_CUDA_BODY CosSin CosSinOf(double angle) {
  constexpr double kTwoOverPi = 0.63661977236758134308;
  constexpr double kQuarterTurn = 1.57079632679489655800;
  constexpr double kQuarterTurnRest = 6.12323399573676603587e-17;
  const double turns = rint(angle * kTwoOverPi);
  const double x = fma(turns, -kQuarterTurnRest, fma(turns, -kQuarterTurn, angle));
  const double square = x * x;
  // Horner's method, innermost term first: 1 - x^2 / (k (k - 1)) * (following terms).
  double cos = 1;
  double sin = 1;
  MIDSCOPE_CUDA_UNROLL for (int k = 16; k > 0; k -= 2) {
    cos = fma(cos * square, -1.0 / static_cast<double>(k * (k - 1)), 1.0);
    sin = fma(sin * square, -1.0 / static_cast<double>(k * (k + 1)), 1.0);
  }
  sin *= x;
  switch (static_cast<int64_t>(turns) & 3) {
    case 0:
      return {cos, sin};
    case 1:
      return {-sin, cos};
    case 2:
      return {-cos, -sin};
    default:
      return {sin, -cos};
  }
}

inline Grid AnglesGrid(const AnglesArguments& a) {
  const int threads = ThreadsFor(a.pairs, kRowThreads);
  return {a.rows, threads == 0 ? 0 : (a.pairs + threads - 1) / threads, 1, threads, 0};
}

template <class Machine>
MIDSCOPE_CUDA_BODY void AnglesBlock(Machine& machine, const AnglesArguments& a) {
  const BlockIndex block = machine.block();
  machine.Each([&](int thread) {
    const int64_t pair = block.y * machine.threads() + thread;
    if (pair >= a.pairs) return;
    const double id = a.ids ? a.ids[block.x] : static_cast<double>(block.x);
    const double whole = a.group == 1 ? id : floor(id / static_cast<double>(a.group));
    const double position = whole + static_cast<double>(a.offset);
    const CosSin turn = CosSinOf(position / a.ratio * a.inverse_frequency[pair]);
    const int64_t at = block.x * a.pairs + pair;
    a.cos[at] = static_cast<float>(turn.cos * a.magnitude);
    a.sin[at] = static_cast<float>(turn.sin * a.magnitude);
  });
}

}  // namespace midscope::kernels::cuda
