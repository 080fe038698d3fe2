// SPDX-License-Identifier: MIT
// Code shared by GPU kernels that process rows of float32, bfloat16 or float16 values: chunks of 8
// values, and sums over the threads of a block.
#pragma once

#include <type_traits>

#include "kernels/cuda/machine.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

constexpr int kRowThreads = 256;

// Number of elements that a thread reads at once.
constexpr int kChunk = 8;

// Four float32 values that are read or written with one instruction.
struct alignas(16) Four {
  float of[4];
};

// Load and Keep read and write 8 values at a 16-byte aligned address. T: BFloat16 or Float16;
// overloads exist for float.
template <class T>
MIDSCOPE_CUDA_BODY void Unpack(const Words& words, float* values) {
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
    values[At(i, 2)] = LowOf<T>(words.word[i]);
    values[At(i, 2, 1)] = HighOf<T>(words.word[i]);
  }
}
template <class T>
MIDSCOPE_CUDA_BODY void Load(const T* at, float* values) {
  // Copies, because compilers read through a reference 4 bytes at a time.
  const Words words = *reinterpret_cast<const Words*>(at);
  Unpack<T>(words, values);
}
MIDSCOPE_CUDA_BODY void Load(const float* at, float* values) {
  MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
    const Four four = *reinterpret_cast<const Four*>(at + At(half, 4));
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) values[At(half, 4, i)] = four.of[i];
  }
}
template <class T>
MIDSCOPE_CUDA_BODY void Keep(const float* values, T* at) {
  Words words;
  MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) {
    words.word[i] = PackPair<T>(values[At(i, 2)], values[At(i, 2, 1)]);
  }
  *reinterpret_cast<Words*>(at) = words;
}
MIDSCOPE_CUDA_BODY void Keep(const float* values, float* at) {
  MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
    Four four;
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) four.of[i] = values[At(half, 4, i)];
    *reinterpret_cast<Four*>(at + At(half, 4)) = four;
  }
}

// Load and Keep for an array with a dtype known at run time, from element `at` on.
MIDSCOPE_CUDA_BODY void LoadAs(Dtype dtype, const void* from, int64_t at, float* values) {
  if (dtype == Dtype::kFloat32) {
    Load(static_cast<const float*>(from) + at, values);
    return;
  }
  const Words words = *reinterpret_cast<const Words*>(static_cast<const uint16_t*>(from) + at);
  dtype == Dtype::kBFloat16 ? Unpack<BFloat16>(words, values) : Unpack<Float16>(words, values);
}
MIDSCOPE_CUDA_BODY void KeepAs(Dtype dtype, const float* values, void* to, int64_t at) {
  switch (dtype) {
    case Dtype::kFloat32:
      return Keep(values, static_cast<float*>(to) + at);
    case Dtype::kBFloat16:
      return Keep(values, static_cast<BFloat16*>(to) + at);
    case Dtype::kFloat16:
      return Keep(values, static_cast<Float16*>(to) + at);
  }
}

// Writes one value as element `at` of an array with a dtype known at run time.
MIDSCOPE_CUDA_BODY void KeepOneAs(Dtype dtype, float value, void* to, int64_t at) {
  switch (dtype) {
    case Dtype::kFloat32:
      static_cast<float*>(to)[at] = value;
      return;
    case Dtype::kBFloat16:
      static_cast<uint16_t*>(to)[at] = static_cast<uint16_t>(PackPair<BFloat16>(value, 0));
      return;
    case Dtype::kFloat16:
      static_cast<uint16_t*>(to)[at] = static_cast<uint16_t>(PackPair<Float16>(value, 0));
      return;
  }
}

template <class T>
MIDSCOPE_CUDA_BODY float RoundedAs(float value) {
  if constexpr (std::is_same_v<T, float>) {
    return value;
  } else {
    return LowOf<T>(PackPair<T>(value, 0));
  }
}

MIDSCOPE_CUDA_BODY float RoundedOne(Dtype dtype, float value) {
  switch (dtype) {
    case Dtype::kBFloat16:
      return RoundedAs<BFloat16>(value);
    case Dtype::kFloat16:
      return RoundedAs<Float16>(value);
    default:
      return value;
  }
}

// Returns the number of threads for `items` items: rounded up to whole warps, at most `most`.
inline int ThreadsFor(int64_t items, int most) {
  const int64_t threads = (items + kWarp - 1) / kWarp * kWarp;
  return threads < most ? static_cast<int>(threads) : most;
}

// Returns a grid in which every thread processes one chunk of one row.
inline Grid RowChunkGrid(int64_t rows, int64_t width) {
  const int64_t chunks = width / kChunk;
  return {rows, (chunks + kRowThreads - 1) / kRowThreads, 1, kRowThreads, 0};
}

// Calls work(row, first element of the chunk) in each thread of a RowChunkGrid.
template <class Machine, class Work>
MIDSCOPE_CUDA_BODY void EachRowChunk(Machine& machine, int64_t width, const Work& work) {
  const BlockIndex block = machine.block();
  machine.Each([&](int thread) {
    const int64_t i = (block.y * kRowThreads + thread) * kChunk;
    if (i < width) work(block.x, i);
  });
}

struct Number {
  float value = 0;
};

// Sets the number of every thread to the combination of the numbers of the first threads of all
// warps. `shared` [threads / kWarp] must not be used by other code from the last barrier to the
// next.
template <class Machine, class Numbers, class Combine>
MIDSCOPE_CUDA_BODY void CombineWarps(Machine& machine, Numbers& numbers, float* shared,
                                     const Combine& combine) {
  machine.Each([&](int thread) {
    if (thread % kWarp == 0) shared[thread / kWarp] = numbers[thread].value;
  });
  machine.Barrier();
  machine.Each([&](int thread) {
    float all = shared[0];
    for (int warp = 1; warp < machine.threads() / kWarp; ++warp) all = combine(all, shared[warp]);
    numbers[thread].value = all;
  });
  machine.Barrier();
}

// Sets the number of every thread to the sum over all threads of the block.
template <class Machine, class Numbers>
MIDSCOPE_CUDA_BODY void BlockSum(Machine& machine, Numbers& numbers, float* shared) {
  machine.template GroupSum<5>([&](int thread) -> float& { return numbers[thread].value; });
  CombineWarps(machine, numbers, shared, [](float a, float b) { return a + b; });
}
// Sets the number of every thread to the maximum over all threads of the block.
template <class Machine, class Numbers>
MIDSCOPE_CUDA_BODY void BlockMax(Machine& machine, Numbers& numbers, float* shared) {
  machine.template GroupMax<5>([&](int thread) -> float& { return numbers[thread].value; });
  CombineWarps(machine, numbers, shared, [](float a, float b) { return fmaxf(a, b); });
}

}  // namespace midscope::kernels::cuda
