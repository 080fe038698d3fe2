// SPDX-License-Identifier: MIT
// What kernels over rows of float32 or bfloat16 values share: chunks of 8 values, sums over a
// block's threads.
#pragma once

#include "kernels/cuda/machine.h"
#include "kernels/cuda/rotary.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

constexpr int kRowThreads = 256;

// 8 values at a 16-byte aligned address.
MIDSCOPE_CUDA_BODY void Load(const BFloat16* at, float* values) {
  Unpack(*reinterpret_cast<const Words*>(at), values);
}
MIDSCOPE_CUDA_BODY void Load(const float* at, float* values) {
  MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
    struct alignas(16) Four {
      float of[4];
    };
    const Four four = *reinterpret_cast<const Four*>(at + At(half, 4));
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) values[At(half, 4, i)] = four.of[i];
  }
}
MIDSCOPE_CUDA_BODY void Keep(const float* values, BFloat16* at) {
  *reinterpret_cast<Words*>(at) = Packed(values);
}
MIDSCOPE_CUDA_BODY void Keep(const float* values, float* at) {
  struct alignas(16) Four {
    float of[4];
  };
  MIDSCOPE_CUDA_UNROLL for (int half = 0; half < 2; ++half) {
    Four four;
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < 4; ++i) four.of[i] = values[At(half, 4, i)];
    *reinterpret_cast<Four*>(at + At(half, 4)) = four;
  }
}

struct Number {
  float value = 0;
};

// The sum, or largest, of every thread's number, for all threads. `shared`: [threads / kWarp],
// which nobody else uses from the last barrier to the next.
template <class Machine, class Numbers>
MIDSCOPE_CUDA_BODY void BlockSum(Machine& machine, Numbers& numbers, float* shared) {
  machine.template GroupSum<5>([&](int thread) -> float& { return numbers[thread].value; });
  machine.Each([&](int thread) {
    if (thread % kWarp == 0) shared[thread / kWarp] = numbers[thread].value;
  });
  machine.Barrier();
  machine.Each([&](int thread) {
    float sum = 0;
    for (int warp = 0; warp < machine.threads() / kWarp; ++warp) sum += shared[warp];
    numbers[thread].value = sum;
  });
  machine.Barrier();
}
template <class Machine, class Numbers>
MIDSCOPE_CUDA_BODY void BlockMax(Machine& machine, Numbers& numbers, float* shared) {
  machine.template GroupMax<5>([&](int thread) -> float& { return numbers[thread].value; });
  machine.Each([&](int thread) {
    if (thread % kWarp == 0) shared[thread / kWarp] = numbers[thread].value;
  });
  machine.Barrier();
  machine.Each([&](int thread) {
    float most = shared[0];
    for (int warp = 1; warp < machine.threads() / kWarp; ++warp) most = fmaxf(most, shared[warp]);
    numbers[thread].value = most;
  });
  machine.Barrier();
}

}  // namespace midscope::kernels::cuda
