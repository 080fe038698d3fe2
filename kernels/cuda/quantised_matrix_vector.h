// SPDX-License-Identifier: MIT
// Products of a few rows with a matrix of blocks that stays as it is in the file, on a GPU: bound
// by reading its bytes once.
//
// A block of threads has kOutputsTogether outputs, which share what is read of x, and up to kRows
// rows. Neighbouring threads read neighbouring bytes. Each sum is added up in an order that depends
// on the matrix alone.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/cuda/block_formats.h"
#include "kernels/cuda/dequantise.h"
#include "kernels/cuda/machine.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// y[r, o] = sum_i weight[o, i] x[r, i] in float32, with weights as kernels::Dequantise gives them.
// weight [outputs, inputs]: rows of blocks as in DequantiseArguments. x [rows, inputs] of x_dtype,
// rows x_stride elements apart, 16-byte aligned. y [rows, outputs] of y_dtype, rows y_stride apart.
// 1 <= rows <= kMatrixVectorRows.
struct QuantisedMatrixVectorArguments {
  const uint8_t* weight = nullptr;
  int64_t row_bytes = 0;
  const void* x = nullptr;
  int64_t x_stride = 0;
  Dtype x_dtype = Dtype::kFloat32;
  void* y = nullptr;
  int64_t y_stride = 0;
  Dtype y_dtype = Dtype::kFloat32;
  int64_t rows = 0;
  int64_t inputs = 0;
  int64_t outputs = 0;
};

constexpr int kOutputsTogether = 2;
constexpr int kProductThreads = 128;
// Of a row, that a thread has at least: fewer are not worth the sum over more threads.
constexpr int kBundlesOfThread = 2;

template <class Format, int kRows>
inline Grid QuantisedMatrixVectorGrid(const QuantisedMatrixVectorArguments& a) {
  const int64_t bundles = BundlesOf<Format>(a.inputs);
  const int threads =
      ThreadsFor((bundles + kBundlesOfThread - 1) / kBundlesOfThread, kProductThreads);
  return {(a.outputs + kOutputsTogether - 1) / kOutputsTogether, 1, 1, threads,
          int64_t{kProductThreads} / kWarp * kRows * kOutputsTogether * 4};
}

template <int kRows>
struct ProductSums {
  float of[kRows][kOutputsTogether];
};

template <class Format, int kRows, class Machine>
class QuantisedMatrixVectorBlock {
 public:
  MIDSCOPE_CUDA_BODY QuantisedMatrixVectorBlock(Machine& machine,
                                                const QuantisedMatrixVectorArguments& a)
      : machine_(machine), a_(a), output_(machine.block().x * kOutputsTogether) {}

  MIDSCOPE_CUDA_BODY void Run() {
    auto* shared = machine_.template Shared<float>(kProductThreads / kWarp * kSums);
    typename Machine::template PerThread<ProductSums<kRows>> sums(machine_);
    machine_.Each([&](int thread) { AddBundles(thread, sums[thread]); });
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kSums; ++i) {
      machine_.template GroupSum<5>([&](int thread) -> float& { return Sum(sums[thread], i); });
    }
    machine_.Each([&](int thread) {
      if (thread % kWarp != 0) return;
      MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kSums; ++i) {
        shared[At(thread / kWarp, kSums, i)] = Sum(sums[thread], i);
      }
    });
    machine_.Barrier();
    machine_.Each([&](int thread) {
      if (thread < kSums) Write(shared, thread);
    });
  }

 private:
  static constexpr int kSums = kRows * kOutputsTogether;

  MIDSCOPE_CUDA_BODY static float& Sum(ProductSums<kRows>& sums, int i) {
    return sums.of[i / kOutputsTogether][i % kOutputsTogether];
  }

  // The last output and row take the place of those beyond them, which are not written.
  MIDSCOPE_CUDA_BODY const uint8_t* Row(int o) const {
    const int64_t output = output_ + o < a_.outputs ? output_ + o : a_.outputs - 1;
    return a_.weight + output * a_.row_bytes;
  }
  MIDSCOPE_CUDA_BODY void LoadX(int r, int64_t at, float* values) const {
    const int64_t row = r < a_.rows ? r : a_.rows - 1;
    LoadAs(a_.x_dtype, a_.x, row * a_.x_stride + at, values);
  }

  MIDSCOPE_CUDA_BODY void AddBundles(int thread, ProductSums<kRows>& sums) const {
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kSums; ++i) Sum(sums, i) = 0;
    const auto bundles = static_cast<int>(BundlesOf<Format>(a_.inputs));
    for (int item = thread; item < bundles; item += machine_.threads()) {
      const int bundle = item % Format::kBundles;
      const int64_t block = item / Format::kBundles;
      typename Format::Bits bits[kOutputsTogether];
      MIDSCOPE_CUDA_UNROLL for (int o = 0; o < kOutputsTogether; ++o) {
        bits[o] = Format::Read(Row(o) + block * Format::kBytes, bundle);
      }
      MIDSCOPE_CUDA_UNROLL for (int group = 0; group < Format::kGroups; ++group) {
        AddGroup(bits, group, block * Format::kElements + Format::First(bundle, group), sums);
      }
    }
  }

  // The group of each output, whose first element is `at`.
  MIDSCOPE_CUDA_BODY void AddGroup(const typename Format::Bits* bits, int group, int64_t at,
                                   ProductSums<kRows>& sums) const {
    float weights[kOutputsTogether][kChunk];
    MIDSCOPE_CUDA_UNROLL for (int o = 0; o < kOutputsTogether; ++o) {
      Format::Values(bits[o], group, weights[o]);
    }
    MIDSCOPE_CUDA_UNROLL for (int r = 0; r < kRows; ++r) {
      float x[kChunk];
      LoadX(r, at, x);
      MIDSCOPE_CUDA_UNROLL for (int o = 0; o < kOutputsTogether; ++o) {
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
          sums.of[r][o] = fmaf(weights[o][i], x[i], sums.of[r][o]);
        }
      }
    }
  }

  MIDSCOPE_CUDA_BODY void Write(const float* shared, int i) const {
    const int64_t row = i / kOutputsTogether;
    const int64_t output = output_ + i % kOutputsTogether;
    if (row >= a_.rows || output >= a_.outputs) return;
    float sum = 0;
    for (int warp = 0; warp < machine_.threads() / kWarp; ++warp) {
      sum += shared[At(warp, kSums, i)];
    }
    KeepOneAs(a_.y_dtype, sum, a_.y, row * a_.y_stride + output);
  }

  Machine& machine_;
  const QuantisedMatrixVectorArguments& a_;
  int64_t output_;
};

}  // namespace midscope::kernels::cuda
