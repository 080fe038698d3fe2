// SPDX-License-Identifier: MIT
// Measures the speed of the kernels on two threads. GFLOP/s counts only the visible half of the
// causal square.
#include <benchmark/benchmark.h>

#include <cmath>
#include <random>
#include <vector>

#include "kernels/attention.h"
#include "kernels/matrix_vector.h"
#include "kernels/normalise.h"
#include "kernels/quantised/dequantise.h"
#include "kernels/quantised/quantised_matrix_vector.h"
#include "kernels/quantised/quantised_product.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

// Measures wall time with each of the arguments.
template <benchmark::TimeUnit unit, int64_t... arguments>
void Times(benchmark::internal::Benchmark* bench) {
  (bench->Arg(arguments), ...);
  bench->Unit(unit)->UseRealTime();
}

constexpr int kThreads = 2;

std::vector<char> Normal(int64_t count, Dtype dtype) {
  std::vector<char> bytes(static_cast<size_t>(count * SizeOf(dtype)));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int64_t i = 0; i < count; ++i) {
    const float value = normal(random);
    if (dtype == Dtype::kFloat32) {
      reinterpret_cast<float*>(bytes.data())[i] = value;
    } else {
      reinterpret_cast<BFloat16*>(bytes.data())[i] = ToBFloat16(value);
    }
  }
  return bytes;
}

// SmolLM2-135M's heads for `rows` tokens; q, k and v are in one buffer.
struct Inputs {
  static constexpr int64_t kHeads = 9, kKeyValueHeads = 3, kDim = 64;
  static constexpr int64_t kWidth = (kHeads + 2 * kKeyValueHeads) * kDim;

  Inputs(int64_t rows, Dtype type)
      : dtype(type),
        fused(Normal(rows * kWidth, type)),
        out(static_cast<size_t>(rows * kHeads * kDim * 4)) {
    std::vector<double> frequencies;
    frequencies.reserve(kDim / 2);
    for (int i = 0; i < kDim / 2; ++i) frequencies.push_back(std::pow(1e5, -2.0 * i / kDim));
    cos.resize(static_cast<size_t>(rows * kDim / 2));
    sin.resize(cos.size());
    FillRotary(frequencies, 1.0, 0, rows, 1.0, cos.data(), sin.data());
    tables.assign(kHeads, {cos.data(), sin.data(), kDim / 2});
    far_cos = cos;
    far_tables.assign(kHeads, {far_cos.data(), sin.data(), kDim / 2});
  }
  ConstHeads Part(int64_t head, int64_t row) const {
    return {fused.data() + (row * kWidth + head * kDim) * SizeOf(dtype), dtype, kWidth, kDim};
  }
  HeadPositions Positions() const { return {tables, tables, scales}; }
  // Positions of Self-Extend, with tables of the same cost.
  HeadPositions FarPositionsOf(int64_t window) const {
    HeadPositions positions = Positions();
    positions.far = {far_tables, far_tables, window};
    return positions;
  }
  Heads Out() { return {out.data(), dtype, kHeads * kDim, kDim}; }

  Dtype dtype;
  std::vector<char> fused, out;
  std::vector<float> cos, sin, far_cos;
  std::vector<RotaryView> tables, far_tables;
  std::vector<float> scales = std::vector<float>(kHeads, 0.125f);
};

void AttentionSpeed(benchmark::State& state, Dtype dtype) {
  const int64_t rows = state.range(0);
  Inputs inputs(rows, dtype);
  const ThreadExecutor executor(kThreads);
  const AttentionShape shape{rows, rows, 0, Inputs::kHeads, Inputs::kKeyValueHeads, Inputs::kDim};
  while (state.KeepRunning()) {
    Attention(shape, inputs.Part(0, 0), inputs.Part(9, 0), inputs.Part(12, 0), inputs.Positions(),
              inputs.Out(), executor);
  }
  const auto flops = static_cast<double>(2 * Inputs::kHeads * Inputs::kDim * rows * (rows + 1));
  state.counters["GFLOP/s"] =
      benchmark::Counter(flops * 1e-9, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK_CAPTURE(AttentionSpeed, bfloat16, Dtype::kBFloat16)
    ->Apply(Times<benchmark::kMillisecond, 150, 512, 2048, 8000>);
BENCHMARK_CAPTURE(AttentionSpeed, float32, Dtype::kFloat32)
    ->Apply(Times<benchmark::kMillisecond, 150, 512, 2048, 8000>);

// Self-Extend with a window of 1,024 keys, in one pass; or, if `two_passes`, as two passes with
// windows of all keys but those, without merging the results by log-sum-exp.
void SelfExtendSpeed(benchmark::State& state, Dtype dtype, bool two_passes) {
  constexpr int64_t kWindow = 1024;
  const int64_t rows = state.range(0);
  Inputs inputs(rows, dtype);
  const ThreadExecutor executor(kThreads);
  AttentionShape shape{rows, rows, 0, Inputs::kHeads, Inputs::kKeyValueHeads, Inputs::kDim};
  const auto attend = [&](const AttentionShape& part, const HeadPositions& positions) {
    Attention(part, inputs.Part(0, rows - part.query_rows), inputs.Part(9, 0), inputs.Part(12, 0),
              positions, inputs.Out(), executor);
  };
  while (state.KeepRunning()) {
    if (two_passes) {
      AttentionShape near = shape;
      near.window = kWindow;
      attend(near, inputs.Positions());
      AttentionShape far = shape;
      far.query_rows = far.key_rows = rows - kWindow;
      attend(far, inputs.Positions());
    } else {
      attend(shape, inputs.FarPositionsOf(kWindow));
    }
  }
}
BENCHMARK_CAPTURE(SelfExtendSpeed, bfloat16, Dtype::kBFloat16, false)
    ->Apply(Times<benchmark::kMillisecond, 2048, 8000>);
BENCHMARK_CAPTURE(SelfExtendSpeed, float32, Dtype::kFloat32, false)
    ->Apply(Times<benchmark::kMillisecond, 2048, 8000>);
BENCHMARK_CAPTURE(SelfExtendSpeed, two_passes_bfloat16, Dtype::kBFloat16, true)
    ->Apply(Times<benchmark::kMillisecond, 2048, 8000>);
BENCHMARK_CAPTURE(SelfExtendSpeed, two_passes_float32, Dtype::kFloat32, true)
    ->Apply(Times<benchmark::kMillisecond, 2048, 8000>);

void AttentionWeightsSpeed(benchmark::State& state, Dtype dtype) {
  const int64_t keys = state.range(0);
  Inputs inputs(keys, dtype);
  const ThreadExecutor executor(kThreads);
  const AttentionShape shape{1,           keys, keys - 1, Inputs::kHeads, Inputs::kKeyValueHeads,
                             Inputs::kDim};
  std::vector<float> weights(static_cast<size_t>(Inputs::kHeads * keys));
  while (state.KeepRunning()) {
    AttentionWeights(shape, inputs.Part(0, keys - 1), inputs.Part(9, 0), inputs.Positions(),
                     weights.data(), executor);
  }
}
BENCHMARK_CAPTURE(AttentionWeightsSpeed, bfloat16, Dtype::kBFloat16)
    ->Apply(Times<benchmark::kMicrosecond, 2048, 8000>);
BENCHMARK_CAPTURE(AttentionWeightsSpeed, float32, Dtype::kFloat32)
    ->Apply(Times<benchmark::kMicrosecond, 2048, 8000>);

void MatrixVectorSpeed(benchmark::State& state, Dtype dtype) {
  const int64_t rows = state.range(0), inputs = 576, outputs = 49152;
  const std::vector<char> weight = Normal(inputs * outputs, dtype),
                          x = Normal(rows * inputs, dtype);
  std::vector<float> y(static_cast<size_t>(rows * outputs));
  const ThreadExecutor executor(kThreads);
  while (state.KeepRunning()) {
    MatrixVector(weight.data(), x.data(), rows, inputs, outputs, dtype, y.data(), Dtype::kFloat32,
                 executor);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(weight.size()));
}
BENCHMARK_CAPTURE(MatrixVectorSpeed, bfloat16, Dtype::kBFloat16)
    ->Apply(Times<benchmark::kMillisecond, 1, 4, 8>);
BENCHMARK_CAPTURE(MatrixVectorSpeed, float32, Dtype::kFloat32)
    ->Apply(Times<benchmark::kMillisecond, 1, 4, 8>);

void SwiGluSpeed(benchmark::State& state, Dtype dtype) {
  const int64_t rows = 2048, width = 1536;
  const std::vector<char> gate_up = Normal(rows * 2 * width, dtype);
  std::vector<float> out(static_cast<size_t>(rows * width));
  const ThreadExecutor executor(kThreads);
  while (state.KeepRunning()) {
    GatedActivation(ActivationKind::kSilu, gate_up.data(), rows, width, dtype, out.data(),
                    executor);
  }
}
BENCHMARK_CAPTURE(SwiGluSpeed, bfloat16, Dtype::kBFloat16)->Apply(Times<benchmark::kMicrosecond>);
BENCHMARK_CAPTURE(SwiGluSpeed, float32, Dtype::kFloat32)->Apply(Times<benchmark::kMicrosecond>);

// Uses one thread; bytes are those written.
void DequantiseSpeed(benchmark::State& state, BlockType type) {
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  const int64_t elements = int64_t{1} << 22;
  const std::vector<char> blocks(static_cast<size_t>(elements / format.elements * format.bytes),
                                 0x11);
  std::vector<float> out(static_cast<size_t>(elements));
  while (state.KeepRunning()) Dequantise(type, blocks.data(), elements, out.data());
  state.SetBytesProcessed(state.iterations() * elements * 4);
}
BENCHMARK_CAPTURE(DequantiseSpeed, Q4_1, BlockType::kQ4_1);
BENCHMARK_CAPTURE(DequantiseSpeed, Q8_0, BlockType::kQ8_0);
BENCHMARK_CAPTURE(DequantiseSpeed, Q3_K, BlockType::kQ3_K);
BENCHMARK_CAPTURE(DequantiseSpeed, Q4_K, BlockType::kQ4_K);
BENCHMARK_CAPTURE(DequantiseSpeed, Q6_K, BlockType::kQ6_K);

// Products of a few tokens, on one thread.
void QuantisedVectorSpeed(benchmark::State& state, BlockType type) {
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  const int64_t outputs = 1024, inputs = 1536, rows = state.range(0);
  const int64_t row_bytes = inputs / format.elements * format.bytes;
  const std::vector<char> blocks(static_cast<size_t>(outputs * row_bytes), 0x11);
  const std::vector<char> x = Normal(rows * inputs, Dtype::kFloat32);
  std::vector<float> y(static_cast<size_t>(rows * outputs));
  const BlockMatrix weight{type, blocks.data(), row_bytes, {}, outputs, inputs};
  while (state.KeepRunning()) {
    QuantisedMatrixVector(weight, x.data(), rows, Dtype::kFloat32, y.data(), Dtype::kFloat32,
                          SerialExecutor());
  }
  state.SetBytesProcessed(state.iterations() * outputs * row_bytes);
}
BENCHMARK_CAPTURE(QuantisedVectorSpeed, F16, BlockType::kF16)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, Q4_0, BlockType::kQ4_0)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, Q5_1, BlockType::kQ5_1)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, Q8_0, BlockType::kQ8_0)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, Q3_K, BlockType::kQ3_K)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, Q4_K, BlockType::kQ4_K)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, Q6_K, BlockType::kQ6_K)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, IQ4_XS, BlockType::kIQ4_XS)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, IQ2_XXS, BlockType::kIQ2_XXS)->Arg(1)->Arg(4);
BENCHMARK_CAPTURE(QuantisedVectorSpeed, IQ3_S, BlockType::kIQ3_S)->Arg(1)->Arg(4);

// Products of 512 rows with the shapes of a 7B model, on one thread. Measures CPU time, so that
// other work on the machine has little effect.
void QuantisedProductSpeed(benchmark::State& state, BlockType type) {
  if (!HasQuantisedProduct()) {
    state.SkipWithError("no AVX-512 BF16");
    return;
  }
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
  const int64_t rows = 512, outputs = 1024, inputs = state.range(0);
  const int64_t row_bytes = inputs / format.elements * format.bytes;
  const std::vector<char> blocks(static_cast<size_t>(outputs * row_bytes), 0x11);
  const std::vector<char> x = Normal(rows * inputs, Dtype::kBFloat16);
  std::vector<BFloat16> y(static_cast<size_t>(rows * outputs));
  const BlockMatrix weight{type, blocks.data(), row_bytes, {}, outputs, inputs};
  while (state.KeepRunning()) {
    QuantisedProduct(weight, reinterpret_cast<const BFloat16*>(x.data()), rows, y.data(), outputs,
                     SerialExecutor());
  }
  state.counters["FLOP/s"] =
      benchmark::Counter(static_cast<double>(state.iterations() * 2 * rows * outputs * inputs),
                         benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(QuantisedProductSpeed, BF16, BlockType::kBF16)->Arg(4096);
BENCHMARK_CAPTURE(QuantisedProductSpeed, Q4_0, BlockType::kQ4_0)->Arg(4096)->Arg(11008);
BENCHMARK_CAPTURE(QuantisedProductSpeed, Q4_K, BlockType::kQ4_K)->Arg(4096);
BENCHMARK_CAPTURE(QuantisedProductSpeed, Q6_K, BlockType::kQ6_K)->Arg(4096);
BENCHMARK_CAPTURE(QuantisedProductSpeed, IQ4_XS, BlockType::kIQ4_XS)->Arg(4096);

}  // namespace
}  // namespace midscope::kernels
