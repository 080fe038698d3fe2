// SPDX-License-Identifier: MIT
// Products of few rows with a matrix that stays quantised, on a GPU; reading the bytes of the
// matrix once limits the speed.
//
// A thread block computes kOutputsOfBlock outputs, for which it reads x once, of up to kRows rows.
// Neighbouring threads read neighbouring bytes. The order of additions in a sum depends only on the
// matrix.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "kernels/cuda/block_formats.h"
#include "kernels/cuda/dequantise.h"
#include "kernels/cuda/machine.h"
#include "kernels/cuda/normalise.h"
#include "kernels/types.h"

namespace midscope::kernels::cuda {

// Copies of outputs: outputs from `first` on are also written to the arrays `to`, `width` outputs
// to each, in y's dtype. `stride`: row strides in elements.
struct OutputCopies {
  void* to[2] = {};
  int64_t stride[2] = {};
  int64_t first = 0;
  int64_t width = 0;  // 0: none
};

// Computes y[r, o] = sum_i weight[o, i] x[r, i] in float32, with weights as dequantised by
// kernels::Dequantise. weight [outputs, inputs]: rows of blocks in the layout of device_rows.h. x
// [rows, inputs] of x_dtype, with row stride x_stride in elements, 16-byte aligned. y [rows,
// outputs] of y_dtype, with row stride y_stride. 1 <= rows <= kMatrixVectorRows.
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
  // Whether the first half of the outputs are gates of the second half: y [rows, outputs / 2] =
  // activation(gate) times the other output, after both are rounded to y_dtype.
  bool gated = false;
  ActivationKind activation = ActivationKind::kSilu;
  OutputCopies copies;  // not with gated outputs
};

// Outputs per thread block; fewer if bundles have many groups or bytes, which fill the registers.
template <class Format>
constexpr int kOutputsOfBlock = Format::kGroups > 2 || Format::kType == BlockType::kQ5_K ? 2 : 4;
constexpr int kProductThreads = 128;
// Number of thread blocks per multiprocessor for products of one row: as many as registers allow,
// to hide the latency of reading.
constexpr int ProductBlocks(BlockType type) {
  switch (type) {
    case BlockType::kIQ4_NL:
    case BlockType::kIQ4_XS:
    case BlockType::kMXFP4:
      return 5;
    case BlockType::kQ2_K:
    case BlockType::kQ3_K:
    case BlockType::kQ6_K:
      return 6;
    case BlockType::kQ4_K:
    case BlockType::kQ5_0:
    case BlockType::kQ5_1:
    case BlockType::kQ5_K:
      return 7;
    default:
      return 8;
  }
}
// Minimum number of bundles of a row per thread; with fewer, summing over more threads costs more
// than it saves.
constexpr int kBundlesOfThread = 2;

template <class Format, int kRows>
inline Grid QuantisedMatrixVectorGrid(const QuantisedMatrixVectorArguments& a) {
  const int64_t bundles = BundlesOf<Format>(a.inputs);
  const int threads =
      ThreadsFor((bundles + kBundlesOfThread - 1) / kBundlesOfThread, kProductThreads);
  constexpr int kOutputs = kOutputsOfBlock<Format>;
  // A thread block computes whole pairs of outputs.
  return {(a.outputs + kOutputs - 1) / kOutputs, 1, 1, threads,
          int64_t{kProductThreads} / kWarp * kRows * kOutputs * 4};
}

// Calls work(std::integral_constant<int, kRows>()) with the smallest available kRows >= rows.
template <class Work>
void WithProductRows(int64_t rows, const Work& work) {
  if (rows == 1) return work(std::integral_constant<int, 1>());
  if (rows == 2) return work(std::integral_constant<int, 2>());
  if (rows <= 4) return work(std::integral_constant<int, 4>());
  work(std::integral_constant<int, 8>());
}

template <class Format, int kRows, class Machine>
class QuantisedMatrixVectorBlock {
  static constexpr int kOutputs = kOutputsOfBlock<Format>;
  static constexpr int kPairs = kOutputs / 2;
  static constexpr int kSums = kRows * kOutputs;

 public:
  MIDSCOPE_CUDA_BODY QuantisedMatrixVectorBlock(Machine& machine,
                                                const QuantisedMatrixVectorArguments& a)
      : machine_(machine),
        a_(a),
        of_half_(a.gated ? a.outputs / 2 : 0),
        output_(machine.block().x * (a.gated ? kPairs : kOutputs)),
        outputs_(InBlock(a.gated ? of_half_ - output_ : a.outputs - output_,
                         a.gated ? kPairs : kOutputs)),
        rows_(a.weight + output_ * a.row_bytes),
        bundles_(static_cast<int>(BundlesOf<Format>(a.inputs))) {}

  MIDSCOPE_CUDA_BODY void Run() {
    auto* shared = machine_.template Shared<float>(kProductThreads / kWarp * kSums);
    typename Machine::template PerThread<Sums> sums(machine_);
    typename Machine::template PerThread<Bundle> first(machine_);
    machine_.Each([&](int thread) {
      if (thread < bundles_) Read(thread, first[thread]);
    });
    // Before this call, only weights may be read: the kernel that computes x may still be running.
    machine_.AwaitEarlierWork();
    machine_.Each([&](int thread) { AddBundles(thread, first[thread], sums[thread]); });
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
      if (a_.gated) {
        if (thread < kRows * kPairs) WriteGated(shared, thread / kPairs, thread % kPairs);
      } else if (thread < kSums) {
        Write(shared, thread / kOutputs, thread % kOutputs);
      }
    });
  }

 private:
  struct Sums {
    float of[kRows][kOutputs];
  };
  MIDSCOPE_CUDA_BODY static int InBlock(int64_t left, int most) {
    return left < most ? static_cast<int>(left) : most;
  }
  MIDSCOPE_CUDA_BODY static float& Sum(Sums& sums, int i) {
    return sums.of[i / kOutputs][i % kOutputs];
  }

  // Indices beyond the last output or row use the last one; their results are not written.
  MIDSCOPE_CUDA_BODY const uint8_t* Row(int o) const {
    const int of_pair = a_.gated ? o % kPairs : o;
    const int there = of_pair < outputs_ ? of_pair : outputs_ - 1;
    const int64_t half = o >= kPairs ? of_half_ * a_.row_bytes : 0;
    return rows_ + half + At(there, static_cast<int>(a_.row_bytes));
  }
  // Loads 8 elements of a row of x. X is the element type for one row (the loop over bundles is
  // then compiled per dtype); for more rows, the dtype is looked up inside the loop.
  template <class X>
  MIDSCOPE_CUDA_BODY void LoadX(int r, int64_t at, float* values) const {
    const int64_t row = r < a_.rows ? r : a_.rows - 1;
    if constexpr (std::is_void_v<X>) {
      LoadAs(a_.x_dtype, a_.x, row * a_.x_stride + at, values);
    } else {
      Load(static_cast<const X*>(a_.x) + row * a_.x_stride + at, values);
    }
  }

  // One bundle (block_formats.h) for each output of the thread block.
  struct Bundle {
    typename Format::Bits of[kOutputs];
  };
  MIDSCOPE_CUDA_BODY void Read(int item, Bundle& bundle) const {
    const int block = item / Format::kBundles;
    MIDSCOPE_CUDA_UNROLL for (int o = 0; o < kOutputs; ++o) {
      bundle.of[o] = Format::Read(Format::Block(Row(o), bundles_ / Format::kBundles, block),
                                  item % Format::kBundles);
    }
  }

  MIDSCOPE_CUDA_BODY void AddBundles(int thread, Bundle& bundle, Sums& sums) const {
    MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kSums; ++i) Sum(sums, i) = 0;
    if constexpr (kRows > 1) {
      AddBundlesTimes<void>(thread, bundle, sums);
    } else if (a_.x_dtype == Dtype::kFloat32) {
      AddBundlesTimes<float>(thread, bundle, sums);
    } else if (a_.x_dtype == Dtype::kBFloat16) {
      AddBundlesTimes<BFloat16>(thread, bundle, sums);
    } else {
      AddBundlesTimes<Float16>(thread, bundle, sums);
    }
  }

  template <class X>
  MIDSCOPE_CUDA_BODY void AddBundlesTimes(int thread, Bundle& bundle, Sums& sums) const {
    for (int item = thread; item < bundles_;) {
      const int64_t block = item / Format::kBundles * Format::kElements;
      MIDSCOPE_CUDA_UNROLL for (int group = 0; group < Format::kGroups; ++group) {
        AddGroup<X>(bundle.of, group, block + Format::First(item % Format::kBundles, group), sums);
      }
      item += machine_.threads();
      if (item < bundles_) Read(item, bundle);
    }
  }

  // Adds the products of a group of elements, from element `at` on, for each output. Multiplies x
  // by the group's numbers first, then by step and minimum, which the whole group shares.
  template <class X>
  MIDSCOPE_CUDA_BODY void AddGroup(const typename Format::Bits* bits, int group, int64_t at,
                                   Sums& sums) const {
    float numbers[kOutputs][kChunk];
    MIDSCOPE_CUDA_UNROLL for (int o = 0; o < kOutputs; ++o) {
      Format::Numbers(bits[o], group, numbers[o]);
    }
    MIDSCOPE_CUDA_UNROLL for (int r = 0; r < kRows; ++r) {
      float x[kChunk];
      LoadX<X>(r, at, x);
      float x_sum = 0;
      if constexpr (Format::kHasMinimum) {
        MIDSCOPE_CUDA_UNROLL for (const float value : x) x_sum += value;
      }
      MIDSCOPE_CUDA_UNROLL for (int o = 0; o < kOutputs; ++o) {
        float& sum = sums.of[r][o];
        float of_group = Format::kHasStep ? 0 : sum;
        MIDSCOPE_CUDA_UNROLL for (int i = 0; i < kChunk; ++i) {
          of_group = fmaf(numbers[o][i], x[i], of_group);
        }
        if constexpr (Format::kHasStep) {
          sum = fmaf(Format::Step(bits[o], group), of_group, sum);
        } else {
          sum = of_group;
        }
        if constexpr (Format::kHasMinimum) {
          sum = fmaf(Format::Minimum(bits[o], group), x_sum, sum);
        }
      }
    }
  }

  MIDSCOPE_CUDA_BODY float SumOf(const float* shared, int row, int o) const {
    float sum = 0;
    for (int warp = 0; warp < machine_.threads() / kWarp; ++warp) {
      sum += shared[At(warp, kSums, At(row, kOutputs, o))];
    }
    return sum;
  }

  MIDSCOPE_CUDA_BODY void Write(const float* shared, int row, int o) const {
    if (row >= a_.rows || o >= outputs_) return;
    const float sum = SumOf(shared, row, o);
    KeepOneAs(a_.y_dtype, sum, a_.y, row * a_.y_stride + output_ + o);
    const OutputCopies& copies = a_.copies;
    const int64_t copied = output_ + o - copies.first;
    if (copied < 0 || copied >= 2 * copies.width) return;
    const int64_t which = copied / copies.width;
    KeepOneAs(a_.y_dtype, sum, copies.to[which],
              row * copies.stride[which] + copied % copies.width);
  }

  MIDSCOPE_CUDA_BODY void WriteGated(const float* shared, int row, int o) const {
    if (row >= a_.rows || o >= outputs_) return;
    const float gate = RoundedOne(a_.y_dtype, SumOf(shared, row, o));
    const float up = RoundedOne(a_.y_dtype, SumOf(shared, row, kPairs + o));
    KeepOneAs(a_.y_dtype, Activated(a_.activation, gate) * up, a_.y,
              row * a_.y_stride + output_ + o);
  }

  Machine& machine_;
  const QuantisedMatrixVectorArguments& a_;
  int64_t of_half_;  // half of the outputs; 0: not gated
  int64_t output_;
  int outputs_;  // outputs of the block; if gated, pairs of outputs
  const uint8_t* rows_;
  int bundles_;
};

}  // namespace midscope::kernels::cuda
