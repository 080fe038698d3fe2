// SPDX-License-Identifier: MIT
// Finds the largest values of long rows, such as a vocabulary's logits: one thread block per part
// of a row finds the part's largest values, and another block merges the parts. A value and its
// column are packed into one integer key, and the largest key is selected repeatedly. Among equal
// values, the lower column comes first, as in midscope::TopTokens. The result does not depend on
// the order of threads.
#pragma once

#include <cstdint>

#include "kernels/cuda/machine.h"

#ifndef __CUDACC__
#include <bit>
#endif

namespace midscope::kernels::cuda {

constexpr int kTopThreads = 256;
constexpr int kTopColumns = 4096;  // columns per part; maximum candidates of a merge
constexpr int kMostTop = 32;

constexpr int64_t TopParts(int64_t columns) { return (columns + kTopColumns - 1) / kTopColumns; }
// Whether these kernels can find the `top` largest values of rows with `columns` columns.
inline bool HasTopRows(int64_t columns, int64_t top) {
  return top > 0 && top <= kMostTop && top <= columns && TopParts(columns) * top <= kTopColumns;
}

// Returns a key that is larger for larger values and, among equal values, for lower columns. Values
// that are not finite get the largest keys, so that they are noticed. Key 0 means no value.
MIDSCOPE_CUDA_BODY uint64_t TopKey(float value, int64_t column) {
#ifdef __CUDACC__
  const uint32_t bits = __float_as_uint(value + 0.0f);  // -0 becomes 0
#else
  const auto bits = std::bit_cast<uint32_t>(value + 0.0f);
#endif
  constexpr uint32_t kSign = 0x80000000u;
  constexpr uint32_t kNotFinite = 0x7f800000u;
  uint32_t order = (bits & kSign) != 0 ? ~bits : bits | kSign;
  if ((bits & kNotFinite) == kNotFinite) order = ~0u;
  return static_cast<uint64_t>(order) << 32 | static_cast<uint32_t>(~static_cast<uint32_t>(column));
}
MIDSCOPE_CUDA_BODY int32_t ColumnOfKey(uint64_t key) {
  return static_cast<int32_t>(~static_cast<uint32_t>(key));
}

template <class Machine>
class TopOfBlock {
 public:
  MIDSCOPE_CUDA_BODY explicit TopOfBlock(Machine& machine)
      : machine_(machine),
        keys_(machine.template Shared<uint64_t>(kTopColumns)),
        of_threads_(machine.template Shared<uint64_t>(kTopThreads)) {}

  // Calls write(i, key) for the `top` largest of key(0) ... key(count - 1), largest first; 0 if
  // there are fewer keys. count: at most kTopColumns.
  template <class Key, class Write>
  MIDSCOPE_CUDA_BODY void Run(int count, int top, const Key& key, const Write& write) {
    machine_.Each([&](int thread) {
      for (int i = thread; i < count; i += kTopThreads) keys_[i] = key(i);
    });
    for (int round = 0; round < top; ++round) {
      machine_.Each([&](int thread) {
        uint64_t largest = 0;
        for (int i = thread; i < count; i += kTopThreads) {
          largest = keys_[i] > largest ? keys_[i] : largest;
        }
        of_threads_[thread] = largest;
      });
      for (int half = kTopThreads / 2; half > 0; half /= 2) {
        machine_.Barrier();
        machine_.Each([&](int thread) {
          if (thread < half && of_threads_[thread + half] > of_threads_[thread]) {
            of_threads_[thread] = of_threads_[thread + half];
          }
        });
      }
      machine_.Barrier();
      machine_.Each([&](int thread) {
        const uint64_t largest = of_threads_[0];
        if (thread == 0) write(round, largest);
        for (int i = thread; i < count; i += kTopThreads) {
          if (keys_[i] == largest) keys_[i] = 0;
        }
      });
      machine_.Barrier();
    }
  }

 private:
  Machine& machine_;
  uint64_t* keys_;        // [kTopColumns]; each thread reads and writes only its own keys
  uint64_t* of_threads_;  // [kTopThreads]
};

constexpr int64_t kTopSharedBytes = int64_t{kTopColumns + kTopThreads} * 8;

// Computes kept [rows, TopParts(columns), top]: the largest keys of each part of the rows.
struct TopRowsArguments {
  const float* values = nullptr;  // [rows, columns]
  uint64_t* kept = nullptr;
  int64_t rows = 0;
  int64_t columns = 0;
  int top = 1;  // requires HasTopRows(columns, top)
};

inline Grid TopRowsGrid(const TopRowsArguments& a) {
  return {TopParts(a.columns), a.rows, 1, kTopThreads, kTopSharedBytes};
}

template <class Machine>
MIDSCOPE_CUDA_BODY void TopRowsBlock(Machine& machine, const TopRowsArguments& a) {
  const BlockIndex block = machine.block();
  const int64_t first = block.x * kTopColumns;
  const int64_t left = a.columns - first;
  const float* row = a.values + block.y * a.columns;
  uint64_t* kept = a.kept + (block.y * machine.blocks().x + block.x) * a.top;
  TopOfBlock<Machine> top(machine);
  top.Run(
      static_cast<int>(left < kTopColumns ? left : kTopColumns), a.top,
      [&](int i) { return TopKey(row[first + i], first + i); },
      [&](int i, uint64_t key) { kept[i] = key; });
}

// Merges the parts: columns_of, values_of [rows, top] are the largest values of each row,
// descending.
struct MergeTopArguments {
  TopRowsArguments parts;
  int32_t* columns_of = nullptr;
  float* values_of = nullptr;
};

inline Grid MergeTopGrid(const MergeTopArguments& a) {
  return {1, a.parts.rows, 1, kTopThreads, kTopSharedBytes};
}

template <class Machine>
MIDSCOPE_CUDA_BODY void MergeTopBlock(Machine& machine, const MergeTopArguments& a) {
  const int64_t row = machine.block().y;
  const int64_t parts = TopParts(a.parts.columns);
  const uint64_t* kept = a.parts.kept + row * parts * a.parts.top;
  TopOfBlock<Machine> top(machine);
  top.Run(
      static_cast<int>(parts) * a.parts.top, a.parts.top, [&](int i) { return kept[i]; },
      [&](int i, uint64_t key) {
        const int32_t column = ColumnOfKey(key);
        a.columns_of[row * a.parts.top + i] = column;
        a.values_of[row * a.parts.top + i] = a.parts.values[row * a.parts.columns + column];
      });
}

}  // namespace midscope::kernels::cuda
