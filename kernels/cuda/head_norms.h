// SPDX-License-Identifier: MIT
// Norms of each head of q or k separately, in one pass over memory, with the arithmetic of
// kernels/normalise.h: float32, rounded on writing. A warp processes one head of a row; a thread
// block processes a wide head. For a norm over a whole projection, pass one head.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/cuda/normalise.h"

namespace midscope::kernels::cuda {

// Computes out = norm(x) for every head of [rows, heads * head_dim]; rows and weights are 16-byte
// aligned, head_dim and strides multiples of 8. `out` may be x. T: float, BFloat16 or Float16.
template <class T>
struct HeadNormArguments {
  const T* x = nullptr;
  const float* weight = nullptr;  // [head_dim], or [heads, head_dim]
  T* out = nullptr;
  int64_t x_stride = 0;  // elements from one row to the next
  int64_t out_stride = 0;
  int64_t rows = 0;
  int64_t heads = 0;
  int head_dim = 0;
  int64_t weight_stride = 0;  // between the weights of two heads; 0: all heads share `weight`
  float epsilon = 0;
  bool centred = false;  // true: layer norm; false: RMS norm
};

// Maximum head_dim for one warp per head: the number of values that a warp can hold in registers.
constexpr int kMostOfWarp = kWarp * kChunk * kHeldChunks;

template <class T>
inline bool TakesBlockPerHead(const HeadNormArguments<T>& a) {
  return a.head_dim > kMostOfWarp;
}

template <class T>
inline Grid HeadNormGrid(const HeadNormArguments<T>& a) {
  if (TakesBlockPerHead(a)) return {a.rows, a.heads, 1, kRowThreads, 64};
  const int threads = ThreadsFor(a.heads * kWarp, kRowThreads);
  const int64_t heads = threads / kWarp;
  return {a.rows, (a.heads + heads - 1) / heads, 1, threads, 0};
}

// Calls work(std::bool_constant<kOfBlock>()) with kOfBlock = TakesBlockPerHead(a).
template <class T, class Work>
void WithVariantOf(const HeadNormArguments<T>& a, const Work& work) {
  TakesBlockPerHead(a) ? work(std::true_type()) : work(std::false_type());
}

// kOfBlock: a thread block processes one head, instead of a warp.
template <class T, bool kOfBlock, class Machine>
class HeadNormBlock {
 public:
  MIDSCOPE_CUDA_BODY HeadNormBlock(Machine& machine, const HeadNormArguments<T>& a)
      : machine_(machine), a_(a), sums_(machine), means_(machine), held_(machine) {
    if constexpr (kOfBlock) shared_ = machine.template Shared<float>(kRowThreads / kWarp);
  }

  MIDSCOPE_CUDA_BODY void Run() {
    const auto width = static_cast<float>(a_.head_dim);
    typename Machine::template PerThread<HeldChunks> weights(machine_);
    machine_.Each([&](int thread) {
      const float* weight = WeightOf(thread);
      EachHeld(thread, [&](int chunk, int i) { Load(weight + i, weights[thread].of[chunk]); });
    });
    // Before this call, only weights may be read: the kernel that computes x may still be running.
    machine_.AwaitEarlierWork();
    machine_.Each([&](int thread) {
      const T* x = XOf(thread);
      EachHeld(thread, [&](int chunk, int i) { Load(x + i, held_[thread].of[chunk]); });
      means_[thread].value = 0;
      sums_[thread].value =
          Sum(thread, [&](float value) { return a_.centred ? value : value * value; });
    });
    SumOfHead();
    if (a_.centred) {
      machine_.Each([&](int thread) {
        const float mean = means_[thread].value = sums_[thread].value / width;
        sums_[thread].value =
            Sum(thread, [&](float value) { return (value - mean) * (value - mean); });
      });
      SumOfHead();
    }
    machine_.Each([&](int thread) { Write(thread, weights[thread]); });
  }

 private:
  static constexpr int kStep = (kOfBlock ? kRowThreads : kWarp) * kChunk;

  MIDSCOPE_CUDA_BODY int64_t HeadOf(int thread) const {
    const int64_t first = machine_.block().y;
    return kOfBlock ? first : first * (machine_.threads() / kWarp) + thread / kWarp;
  }
  MIDSCOPE_CUDA_BODY int FirstOf(int thread) const {
    return At(kOfBlock ? thread : thread % kWarp, kChunk);
  }
  MIDSCOPE_CUDA_BODY const T* XOf(int thread) const {
    return a_.x + machine_.block().x * a_.x_stride + HeadOf(thread) * a_.head_dim;
  }
  MIDSCOPE_CUDA_BODY const float* WeightOf(int thread) const {
    return a_.weight + HeadOf(thread) * a_.weight_stride;
  }

  // Calls work(chunk, first element) for the chunks of a head that the thread holds in registers,
  // and work(first element) for other chunks, which exist only with kOfBlock. No calls in warps
  // beyond the last head.
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachHeld(int thread, const Work& work) const {
    if (HeadOf(thread) >= a_.heads) return;
    MIDSCOPE_CUDA_UNROLL for (int chunk = 0; chunk < kHeldChunks; ++chunk) {
      const int i = FirstOf(thread) + At(chunk, kStep);
      if (i < a_.head_dim) work(chunk, i);
    }
  }
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachBeyond(int thread, const Work& work) const {
    if constexpr (kOfBlock) {
      for (int i = FirstOf(thread) + kHeldChunks * kStep; i < a_.head_dim; i += kStep) work(i);
    }
  }

  // Returns the sum of of(value) over the thread's values of the head.
  template <class Of>
  MIDSCOPE_CUDA_BODY float Sum(int thread, const Of& of) {
    float sum = 0;
    const auto add = [&](const float* values) {
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) sum += of(values[j]);
    };
    EachHeld(thread, [&](int chunk, int) { add(held_[thread].of[chunk]); });
    const T* x = XOf(thread);
    EachBeyond(thread, [&](int i) {
      float values[kChunk];
      Load(x + i, values);
      add(values);
    });
    return sum;
  }

  MIDSCOPE_CUDA_BODY void SumOfHead() {
    if constexpr (kOfBlock) {
      BlockSum(machine_, sums_, shared_);
    } else {
      machine_.template GroupSum<5>([&](int thread) -> float& { return sums_[thread].value; });
    }
  }

  // Writes the normalised values. If `out` is x, each thread rereads only elements that it writes
  // later.
  MIDSCOPE_CUDA_BODY void Write(int thread, const HeldChunks& weights) {
    const float mean = means_[thread].value;
    const float scale =
        1.0f / sqrtf(sums_[thread].value / static_cast<float>(a_.head_dim) + a_.epsilon);
    T* out = a_.out + machine_.block().x * a_.out_stride + HeadOf(thread) * a_.head_dim;
    const auto write = [&](int i, float* values, const float* weight) {
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) {
        values[j] = (values[j] - mean) * scale * weight[j];
      }
      Keep(values, out + i);
    };
    EachHeld(thread,
             [&](int chunk, int i) { write(i, held_[thread].of[chunk], weights.of[chunk]); });
    const T* x = XOf(thread);
    EachBeyond(thread, [&](int i) {
      float values[kChunk];
      float weight[kChunk];
      Load(x + i, values);
      Load(WeightOf(thread) + i, weight);
      write(i, values, weight);
    });
  }

  Machine& machine_;
  const HeadNormArguments<T>& a_;
  float* shared_ = nullptr;
  typename Machine::template PerThread<Number> sums_;
  typename Machine::template PerThread<Number> means_;
  typename Machine::template PerThread<HeldChunks> held_;
};

}  // namespace midscope::kernels::cuda
