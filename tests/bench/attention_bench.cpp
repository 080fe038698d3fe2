// SPDX-License-Identifier: MIT
// Compares causal attention of Midscope's kernels with LibTorch's scaled_dot_product_attention, at
// the heads of the embedded model. Midscope rotates queries and keys within the call; LibTorch does
// less: it receives rotated queries and keys, with the keys already repeated for the query heads
// that share them. Usage: attention_bench [float32|bfloat16 [MOST_QUERIES [LEAST_QUERIES]]]; prints
// a table of median milliseconds and their ratio.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/timing.h"
#include "core/compute/aten_executor.h"
#include "core/compute/process_start.h"
#include "kernels/attention.h"
#include "kernels/instruction_set.h"

namespace {

using midscope::kernels::Dtype;

constexpr int64_t kHeads = 9;
constexpr int64_t kKeyValueHeads = 3;
constexpr int64_t kDim = 64;
constexpr double kScale = 0.125;

// `queries` rows at the end of `keys` rows.
struct Size {
  int64_t queries;
  int64_t keys;
};
constexpr Size kSizes[] = {
    {1, 1},     {1, 512},     {1, 2048},    {1, 8192},    {1, 32768},    {2, 2},       {4, 4},
    {5, 5},     {8, 8},       {16, 16},     {24, 24},     {32, 32},      {48, 48},     {64, 64},
    {96, 96},   {128, 128},   {142, 142},   {256, 256},   {512, 512},    {1024, 1024}, {16, 2048},
    {64, 2048}, {2048, 2048}, {4096, 4096}, {8192, 8192}, {32768, 32768}};

class Case {
 public:
  Case(Size size, at::ScalarType type)
      : size_(size),
        dtype_(type == at::kFloat ? Dtype::kFloat32 : Dtype::kBFloat16),
        q_(at::randn({size.queries, kHeads, kDim}).to(type)),
        k_(at::randn({size.keys, kKeyValueHeads, kDim}).to(type)),
        v_(at::randn({size.keys, kKeyValueHeads, kDim}).to(type)),
        out_(at::empty_like(q_)),
        aten_q_(HeadsFirst(q_)),
        aten_k_(HeadsFirst(k_).repeat_interleave(kHeads / kKeyValueHeads, 1)),
        aten_v_(HeadsFirst(v_).repeat_interleave(kHeads / kKeyValueHeads, 1)) {
    std::vector<double> frequencies;
    frequencies.reserve(kDim / 2);
    for (int i = 0; i < kDim / 2; ++i) frequencies.push_back(std::pow(1e5, -2.0 * i / kDim));
    cos_.resize(static_cast<size_t>(size.keys * kDim / 2));
    sin_.resize(cos_.size());
    midscope::kernels::FillRotary(frequencies, 1.0, 0, size.keys, 1.0, cos_.data(), sin_.data());
    mask_ = at::full({size.queries, size.keys}, -std::numeric_limits<float>::infinity())
                .triu(size.keys - size.queries + 1)
                .to(type);
    tables_.assign(kHeads, {cos_.data(), sin_.data(), kDim / 2});
  }

  void Ours() {
    const midscope::kernels::AttentionShape shape{
        size_.queries, size_.keys, size_.keys - size_.queries, kHeads, kKeyValueHeads, kDim};
    midscope::kernels::Attention(shape, View(q_, kHeads), View(k_, kKeyValueHeads),
                                 View(v_, kKeyValueHeads), {tables_, tables_, scales_},
                                 {out_.data_ptr(), dtype_, kHeads * kDim, kDim}, executor_);
  }
  void Aten() {
    // LibTorch's causal limit lets the first query see only the first key, so it is used only for
    // equal lengths.
    const bool square = size_.queries == size_.keys;
    at::scaled_dot_product_attention(aten_q_, aten_k_, aten_v_,
                                     square || size_.queries == 1 ? std::nullopt : mask_, 0.0,
                                     square && size_.queries > 1, kScale);
  }

 private:
  static at::Tensor HeadsFirst(const at::Tensor& x) {
    return x.transpose(0, 1).contiguous().unsqueeze(0);
  }
  midscope::kernels::ConstHeads View(const at::Tensor& x, int64_t heads) const {
    return {x.const_data_ptr(), dtype_, heads * kDim, kDim};
  }

  Size size_;
  Dtype dtype_;
  at::Tensor q_, k_, v_, out_;           // [row, head, element]
  at::Tensor aten_q_, aten_k_, aten_v_;  // [1, head, row, element]
  std::optional<at::Tensor> mask_;       // [query, key], added to logits
  std::vector<float> cos_, sin_;         // [row, pair]
  std::vector<midscope::kernels::RotaryView> tables_;
  std::vector<float> scales_ = std::vector<float>(kHeads, static_cast<float>(kScale));
  midscope::AtenExecutor executor_;
};

double Seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return midscope::SecondsSince(start);
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

void Compare(Size size, at::ScalarType type) {
  Case both(size, type);
  both.Ours();
  const double first = Seconds([&both] { both.Aten(); });
  const int rounds = std::clamp(static_cast<int>(2.0 / (first + 1e-9)), 3, 3001);
  std::vector<double> ours;
  std::vector<double> aten;
  for (int round = 0; round < rounds; ++round) {
    ours.push_back(Seconds([&both] { both.Ours(); }));
    aten.push_back(Seconds([&both] { both.Aten(); }));
  }
  const double our_median = Median(ours);
  const double aten_median = Median(aten);
  std::printf("%8lld%8lld%14.3f%14.3f%8.2f\n", static_cast<long long>(size.queries),
              static_cast<long long>(size.keys), our_median * 1e3, aten_median * 1e3,
              aten_median / our_median);
}

}  // namespace

int main(int argc, char** argv) {
  midscope::PrepareProcess(argv);
  const c10::InferenceMode inference;
  const bool bfloat16 = argc > 1 && std::string_view(argv[1]) == "bfloat16";
  std::printf("%s, %s\n%8s%8s%14s%14s%8s\n", midscope::kernels::InstructionSetName().c_str(),
              bfloat16 ? "bfloat16" : "float32", "queries", "keys", "midscope ms", "LibTorch ms",
              "ratio");
  const int64_t most = argc > 2 ? std::atoll(argv[2]) : std::numeric_limits<int64_t>::max();
  const int64_t least = argc > 3 ? std::atoll(argv[3]) : 0;
  for (const Size& size : kSizes) {
    if (size.queries >= least && size.queries <= most)
      Compare(size, bfloat16 ? at::kBFloat16 : at::kFloat);
  }
  return 0;
}
