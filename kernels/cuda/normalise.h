// SPDX-License-Identifier: MIT
// Norms and activations, each one pass over memory, with the arithmetic of kernels/normalise.h:
// float32, rounded where it is written.
#pragma once

#include <cstdint>

#include "kernels/cuda/block_rows.h"
#include "kernels/cuda/machine.h"
#include "kernels/normalise.h"

namespace midscope::kernels::cuda {

// out = norm(x) over rows [rows, width], contiguous, 16-byte aligned; width a multiple of 8. With
// `update`, x += update first. T: float, BFloat16 or Float16.
template <class T>
struct NormaliseArguments {
  T* x = nullptr;                 // written where there is an update
  const T* update = nullptr;      // or null
  const float* weight = nullptr;  // [width]
  const float* bias = nullptr;    // [width], or null
  T* out = nullptr;
  float* mean = nullptr;   // [rows], or null: of a layer norm
  float* scale = nullptr;  // [rows], or null: 1 / rms, 1 / deviation
  T* kept = nullptr;       // or null: gets the rows of x, after an update
  int64_t rows = 0;
  int64_t width = 0;
  float epsilon = 0;
  bool centred = false;  // a layer norm, else an RMS norm
};

template <class T>
inline Grid NormaliseGrid(const NormaliseArguments<T>& a) {
  return {a.rows, 1, 1, kRowThreads, 64};
}

template <class Machine, class T>
MIDSCOPE_CUDA_BODY void NormaliseBlock(Machine& machine, const NormaliseArguments<T>& a) {
  const int64_t row = machine.block().x;
  T* x = a.x + row * a.width;
  const auto width = static_cast<float>(a.width);
  auto* shared = machine.template Shared<float>(kRowThreads / kWarp);
  typename Machine::template PerThread<Number> sums(machine);
  typename Machine::template PerThread<Number> means(machine);
  const auto each_chunk = [&](int thread, const auto& work) {
    for (int64_t i = int64_t{thread} * kChunk; i < a.width; i += int64_t{kRowThreads} * kChunk) {
      work(i);
    }
  };
  machine.Each([&](int thread) {
    float sum = 0;
    each_chunk(thread, [&](int64_t i) {
      float values[kChunk];
      Load(x + i, values);
      if (a.update) {
        float more[kChunk];
        Load(a.update + row * a.width + i, more);
        MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) values[j] += more[j];
        Keep(values, x + i);
        Load(x + i, values);
      }
      if (a.kept) Keep(values, a.kept + row * a.width + i);
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) {
        sum += a.centred ? values[j] : values[j] * values[j];
      }
    });
    sums[thread].value = sum;
    means[thread].value = 0;
  });
  BlockSum(machine, sums, shared);
  if (a.centred) {
    machine.Each([&](int thread) {
      const float mean = means[thread].value = sums[thread].value / width;
      float sum = 0;
      each_chunk(thread, [&](int64_t i) {
        float values[kChunk];
        Load(x + i, values);
        MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) {
          sum += (values[j] - mean) * (values[j] - mean);
        }
      });
      sums[thread].value = sum;
    });
    BlockSum(machine, sums, shared);
  }
  machine.Each([&](int thread) {
    const float mean = means[thread].value;
    const float scale = 1.0f / sqrtf(sums[thread].value / width + a.epsilon);
    if (thread == 0 && a.mean && a.centred) a.mean[row] = mean;
    if (thread == 0 && a.scale) a.scale[row] = scale;
    each_chunk(thread, [&](int64_t i) {
      float values[kChunk];
      Load(x + i, values);
      MIDSCOPE_CUDA_UNROLL for (int j = 0; j < kChunk; ++j) {
        values[j] = (values[j] - mean) * scale * a.weight[i + j];
        if (a.bias) values[j] += a.bias[i + j];
      }
      Keep(values, a.out + row * a.width + i);
    });
  });
}

// out[r] = factor times what a norm makes of one element of row r, rounded to T: the column begins
// at `column`, rows are `stride` elements apart.
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
  const float* factor_on_gpu = nullptr;  // or null; else read instead of `factor`
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
    float value = FloatOf(a.column[row * a.stride]);
    if (a.mean) value -= a.mean[row];
    if (a.scale) value *= a.scale[row];
    const float factor = a.factor_on_gpu ? *a.factor_on_gpu : a.factor;
    a.out[row] = factor * RoundedAs<T>(value * a.weight + a.bias);
  });
}

// out = activation(gate) * up, or activation(gate) without `up`, over [rows, width]; strides of
// rows in elements, multiples of 8 as width is. `out` may be gate.
template <class T>
struct ActivateArguments {
  const T* gate = nullptr;
  const T* up = nullptr;  // or null
  T* out = nullptr;
  int64_t x_stride = 0;  // of gate and up
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

// out[r, i] = x[r, i] - amount[r] * direction[i] over [rows, width]; strides as above. `out` may be
// x.
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
