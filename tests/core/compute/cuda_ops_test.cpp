// SPDX-License-Identifier: MIT
// Attention on a GPU. Contract: bfloat16 within two roundings, 1/64 of the largest value, of
// LibTorch's float32 operations on the same inputs (AtenOps, which layer_ops_test.cpp holds against
// the CPU's kernels). Cases choose the way: LibTorch's flash or cuDNN attention, or the own kernel.
#include "core/compute/cuda_ops.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "core/compute/placement.h"
#include "core/compute/rotary_cache.h"

namespace midscope {
namespace {

struct Case {
  const char* name;
  kernels::AttentionShape shape;
  bool split_keys = false;  // every head a position of its own, those of a group too
  int64_t near = 0;
  bool alibi = false;
  bool temperature = false;
};

// query rows, key rows, first query, heads, KV heads, size of a head, window, soft cap
const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"flash", {130, 130, 0, 6, 2, 64}},
      {"flash_later_rows", {70, 200, 130, 4, 4, 128}},
      {"flash_window", {300, 300, 0, 4, 2, 96, 70}},
      {"flash_large_heads", {65, 65, 0, 2, 1, 256}},
      {"cudnn", {4100, 4100, 0, 4, 2, 128}},
      {"own", {333, 333, 0, 8, 2, 64}, true},
      {"own_128", {200, 330, 130, 4, 1, 128}, true},
      {"own_soft_cap_window", {150, 450, 300, 4, 2, 128, 70, 1.5f}},
      {"own_alibi", {150, 150, 0, 4, 2, 64}, false, 0, true},
      {"own_temperature", {150, 150, 0, 4, 2, 64}, true, 0, false, true},
      {"own_far", {260, 400, 140, 4, 2, 64}, true, 47},
      {"own_far_128", {200, 200, 0, 2, 2, 128}, false, 128},
      {"few_rows", {4, 100, 96, 4, 2, 64}, true},
      {"other_sizes", {60, 60, 0, 4, 2, 80}, true}};
  return cases;
}

RotaryTables TablesOf(const Case& c, RotaryCache& cache) {
  RotaryTables tables;
  std::vector<double> frequencies(static_cast<size_t>(c.shape.head_dim / 2));
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = std::pow(0.7, static_cast<double>(i));
  const auto view = [&](double ratio) {
    tables.owned.push_back(cache.Get(frequencies, 1.0, ratio, c.shape.key_rows));
    return tables.owned.back()->View();
  };
  for (int64_t head = 0; head < c.shape.heads; ++head) {
    const double ratio = c.split_keys ? 1.2 + 0.1 * static_cast<double>(head) : 1.0;
    tables.q.push_back(view(ratio));
    tables.k.push_back(view(ratio));
    tables.scale.push_back(1.0f / std::sqrt(static_cast<float>(c.shape.head_dim)));
    if (c.alibi) tables.alibi_slopes.push_back(0.1f * static_cast<float>(head));
    if (c.temperature) tables.edits.temperature.push_back(0.5f + 0.3f * static_cast<float>(head));
    if (c.near > 0) {
      tables.far_q.push_back(view(2 * ratio));
      tables.far_k.push_back(view(2 * ratio));
    }
  }
  tables.window = c.shape.window;
  tables.softcap = c.shape.softcap;
  tables.near = c.near;
  return tables;
}

TEST(CudaOps, AttentionAgreesWithFloat32) {
  if (AvailableDevices().back().kind != DeviceKind::kCuda) GTEST_SKIP() << "no GPU here";
  const c10::InferenceMode inference;
  const at::Device gpu(at::kCUDA, 0);
  const CudaOps cuda(gpu);
  const AtenOps aten(gpu);
  const auto values = [&](int64_t rows, int64_t width, float step) {
    return at::arange(rows * width, at::kFloat)
        .mul_(step)
        .sin_()
        .mul_(2)
        .view({rows, width})
        .to(gpu, at::kBFloat16);
  };
  for (const Case& c : Cases()) {
    RotaryCache cache;
    const RotaryTables tables = TablesOf(c, cache);
    const int64_t width = c.shape.heads * c.shape.head_dim;
    const int64_t key_width = c.shape.key_value_heads * c.shape.head_dim;
    const at::Tensor q = values(c.shape.query_rows, width, 0.731f);
    const at::Tensor k = values(c.shape.key_rows + 2, key_width, 0.377f);
    const at::Tensor v = values(c.shape.key_rows + 2, key_width, 0.933f);
    const at::Tensor z = at::full_like(q, std::nan(""));
    const at::Tensor expected = at::empty(q.sizes(), q.options().dtype(at::kFloat));
    ASSERT_TRUE(cuda.Attention(c.shape, q, k, v, tables, z, nullptr)) << c.name;
    ASSERT_TRUE(aten.Attention(c.shape, q.to(at::kFloat), k.to(at::kFloat), v.to(at::kFloat),
                               tables, expected, nullptr));
    const auto largest = expected.abs().max().item<double>();
    EXPECT_LE((z.to(at::kFloat) - expected).abs().max().item<double>(), largest / 64) << c.name;
  }
}

}  // namespace
}  // namespace midscope
