// SPDX-License-Identifier: MIT
// Kernels for norms and activations, each with one pass over memory and the arithmetic of
// kernels/normalise.h: float32, rounded on writing.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/normalise.h"

namespace midscope::kernels::cuda {

// Computes out = norm(x) over rows [rows, width], contiguous, 16-byte aligned; width is a multiple
// of 8. With `update`, first computes x += update. T: float, BFloat16 or Float16.
template <class T>
struct NormaliseArguments {
  T* x = nullptr;                 // overwritten by x + update if `update` is not null
  const T* update = nullptr;      // or null
  const float* weight = nullptr;  // [width]
  const float* bias = nullptr;    // [width], or null
  T* out = nullptr;
  float* mean = nullptr;   // [rows]: means of a layer norm; or null
  float* scale = nullptr;  // [rows]: 1 / rms or 1 / deviation; or null
  T* kept = nullptr;       // or null: receives a copy of x, after the update
  int64_t rows = 0;
  int64_t width = 0;
  float epsilon = 0;
  bool centred = false;  // true: layer norm; false: RMS norm
};

template <class T>
inline Grid NormaliseGrid(const NormaliseArguments<T>& a) {
  return {a.rows, 1, 1, kRowThreads, 64};
}

// Returns a normalised value, computed by an explicit fused multiply-add: compilers fuse in some
// places and not in others, but NormalisedColumn must equal the norm's result to the last bit.
MIDSCOPE_CUDA_BODY float NormalisedValue(float x, float mean, float scale, float weight,
                                         float bias) {
  return fmaf((x - mean) * scale, weight, bias);
}

// Number of chunks of a row that a thread keeps in registers between passes over the row; further
// chunks are read again.
constexpr int kHeldChunks = 2;
struct HeldChunks {
  float of[kHeldChunks][kChunk];
};

template <class Machine, class T>
class RowNorm {
 public:
  MIDSCOPE_CUDA_BODY RowNorm(Machine& machine, const NormaliseArguments<T>& a)
      : machine_(machine),
        a_(a),
        row_(machine.block().x),
        x_(a.x + row_ * a.width),
        shared_(machine.template Shared<float>(kRowThreads / kWarp)),
        sums_(machine),
        means_(machine),
        held_(machine) {}

  MIDSCOPE_CUDA_BODY void Run() {
    const auto width = static_cast<float>(a_.width);
    typename Machine::template PerThread<HeldChunks> weights(machine_);
    machine_.Each([&](int thread) {
      EachHeld(thread,
               [&](int chunk, int64_t i) { Load(a_.weight + i, weights[thread].of[chunk]); });
    });
    // Before this call, only weights may be read: the kernel that computes x may still be running.
    machine_.AwaitEarlierWork();
    machine_.Each([&](int thread) {
      means_[thread].value = 0;
      sums_[thread].value = Sum(
          thread, [&](int64_t i, float* values) { Read(i, values); },
          [&](float value) { return a_.centred ? value : value * value; });
    });
    BlockSum(machine_, sums_, shared_);
    if (a_.centred) {
      machine_.Each([&](int thread) {
        const float mean = means_[thread].value = sums_[thread].value / width;
        sums_[thread].value = Sum(
            thread, [&](int64_t, float*) {},
            [&](float value) { return (value - mean) * (value - mean); });
      });
      BlockSum(machine_, sums_, shared_);
    }
    machine_.Each([&](int thread) { Write(thread, weights[thread]); });
  }

 private:
  static constexpr int64_t kStep = int64_t{kRowThreads} * kChunk;

  // Calls work(chunk, first element) for the chunks of a row that the thread holds in registers,
  // and work(first element) for its other chunks.
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachHeld(int thread, const Work& work) const {
    MIDSCOPE_CUDA_UNROLL for (int chunk = 0; chunk < kHeldChunks; ++chunk) {
      const int64_t i = At(thread, kChunk) + chunk * kStep;
      if (i < a_.width) work(chunk, i);
    }
  }
  template <class Work>
  MIDSCOPE_CUDA_BODY void EachBeyond(int thread, const Work& work) const {
    for (int64_t i = At(thread, kChunk) + kHeldChunks * kStep; i < a_.width; i += kStep) work(i);
  }

  // Reads 8 values of x, adds the update and rounds as on writing.
  MIDSCOPE_CUDA_BODY void Read(int64_t i, float* values) const {
    Load(x_ + i, values);
    if (a_.update) {
      float more[kChunk];
      Load(a_.update + row_ * a_.width + i, more);
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) {
        values[j] = RoundedAs<T>(values[j] + more[j]);
      }
      Keep(values, x_ + i);
    }
    if (a_.kept) Keep(values, a_.kept + row_ * a_.width + i);
  }

  // Returns the sum of of(value) over a thread's values. read(first element, values) reads the
  // chunks that the thread holds, and also the rest, which is in memory afterwards.
  template <class ReadHeld, class Of>
  MIDSCOPE_CUDA_BODY float Sum(int thread, const ReadHeld& read, const Of& of) {
    float sum = 0;
    const auto add = [&](const float* values) {
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) sum += of(values[j]);
    };
    EachHeld(thread, [&](int chunk, int64_t i) {
      read(i, held_[thread].of[chunk]);
      add(held_[thread].of[chunk]);
    });
    EachBeyond(thread, [&](int64_t i) {
      float values[kChunk];
      Load(x_ + i, values);
      read(i, values);
      add(values);
    });
    return sum;
  }

  MIDSCOPE_CUDA_BODY void Write(int thread, const HeldChunks& weights) {
    const float mean = means_[thread].value;
    const float scale =
        1.0f / sqrtf(sums_[thread].value / static_cast<float>(a_.width) + a_.epsilon);
    if (thread == 0 && a_.mean && a_.centred) a_.mean[row_] = mean;
    if (thread == 0 && a_.scale) a_.scale[row_] = scale;
    const auto write = [&](int64_t i, float* values, const float* weight) {
      float bias[kChunk] = {};
      if (a_.bias) Load(a_.bias + i, bias);
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) {
        values[j] = NormalisedValue(values[j], mean, scale, weight[j], bias[j]);
      }
      Keep(values, a_.out + row_ * a_.width + i);
    };
    EachHeld(thread,
             [&](int chunk, int64_t i) { write(i, held_[thread].of[chunk], weights.of[chunk]); });
    EachBeyond(thread, [&](int64_t i) {
      float values[kChunk];
      float weight[kChunk];
      Load(x_ + i, values);
      Load(a_.weight + i, weight);
      write(i, values, weight);
    });
  }

  Machine& machine_;
  const NormaliseArguments<T>& a_;
  int64_t row_;
  T* x_;
  float* shared_;
  typename Machine::template PerThread<Number> sums_;
  typename Machine::template PerThread<Number> means_;
  typename Machine::template PerThread<HeldChunks> held_;
};

// StartsEarly: the kernel calls AwaitEarlierWork by itself.
template <class Machine, class T>
MIDSCOPE_CUDA_BODY void NormaliseBlock(Machine& machine, const NormaliseArguments<T>& a) {
  RowNorm<Machine, T>(machine, a).Run();
}

// Computes out[r] = factor times one normalised element of row r, rounded to T. The elements begin
// at `column`, with stride `stride` (in elements) between rows.
template <class T>
struct NormalisedColumnArguments {
  const T* column = nullptr;
  const float* mean = nullptr;   // [rows], or null
  const float* scale = nullptr;  // [rows], or null: 1
  float* out = nullptr;
  int64_t stride = 0;
  int64_t rows = 0;
  float weight = 1;
  float bias = 0;
  float factor = 1;
  const float* factor_on_gpu = nullptr;  // or null; if not null, replaces `factor`
};

template <class T>
inline Grid NormalisedColumnGrid(const NormalisedColumnArguments<T>& a) {
  return {(a.rows + kRowThreads - 1) / kRowThreads, 1, 1, kRowThreads, 0};
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void NormalisedColumnBlock(Machine& machine,
                                              const NormalisedColumnArguments<T>& a) {
  machine.Each([&](int thread) {
    const int64_t row = machine.block().x * kRowThreads + thread;
    if (row >= a.rows) return;
    const float value =
        NormalisedValue(FloatOf(a.column[row * a.stride]), a.mean ? a.mean[row] : 0.0f,
                        a.scale ? a.scale[row] : 1.0f, a.weight, a.bias);
    const float factor = a.factor_on_gpu ? *a.factor_on_gpu : a.factor;
    a.out[row] = factor * RoundedAs<T>(value);
  });
}

// Computes out = activation(gate) * up, or activation(gate) without `up`, over [rows, width]; width
// and the row strides, in elements, are multiples of 8. `out` may be gate.
template <class T>
struct ActivateArguments {
  const T* gate = nullptr;
  const T* up = nullptr;  // or null
  T* out = nullptr;
  int64_t x_stride = 0;  // row stride of gate and up
  int64_t out_stride = 0;
  int64_t rows = 0;
  int64_t width = 0;
  ActivationKind kind = ActivationKind::kSilu;
};

MIDSCOPE_CUDA_BODY float Activated(ActivationKind kind, float x) {
  switch (kind) {
    case ActivationKind::kSilu:
      return x / (1.0f + PowerOfTwo(-x * kLog2E));
    case ActivationKind::kGelu:
      return 0.5f * x * (1.0f + erff(x * 0.707106781f));
    case ActivationKind::kGeluTanh:
      return 0.5f * x * (1.0f + tanhf(0.797884561f * (x + 0.044715f * x * x * x)));
    case ActivationKind::kRelu:
      return x > 0 ? x : 0.0f;
    case ActivationKind::kSquaredRelu:
      return x > 0 ? x * x : 0.0f;
  }
  return x;
}

template <class T>
inline Grid ActivateGrid(const ActivateArguments<T>& a) {
  return RowChunkGrid(a.rows, a.width);
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void ActivateBlock(Machine& machine, const ActivateArguments<T>& a) {
  EachRowChunk(machine, a.width, [&](int64_t row, int64_t i) {
    float values[kChunk];
    Load(a.gate + row * a.x_stride + i, values);
    MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) values[j] = Activated(a.kind, values[j]);
    if (a.up) {
      float up[kChunk];
      Load(a.up + row * a.x_stride + i, up);
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) values[j] *= up[j];
    }
    Keep(values, a.out + row * a.out_stride + i);
  });
}

// Computes out[r, i] = x[r, i] - amount[r] * direction[i] over [rows, width]; row strides are in
// elements and multiples of 8. `out` may be x.
template <class T>
struct RankOneArguments {
  const T* x = nullptr;
  const float* amount = nullptr;     // [rows]
  const float* direction = nullptr;  // [width]
  T* out = nullptr;
  int64_t x_stride = 0;
  int64_t out_stride = 0;
  int64_t rows = 0;
  int64_t width = 0;
};

template <class T>
inline Grid RankOneGrid(const RankOneArguments<T>& a) {
  return RowChunkGrid(a.rows, a.width);
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void RankOneBlock(Machine& machine, const RankOneArguments<T>& a) {
  EachRowChunk(machine, a.width, [&](int64_t row, int64_t i) {
    float values[kChunk];
    Load(a.x + row * a.x_stride + i, values);
    const float amount = a.amount[row];
    MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) values[j] -= amount * a.direction[i + j];
    Keep(values, a.out + row * a.out_stride + i);
  });
}

}  // namespace midscope::kernels::cuda
