// SPDX-License-Identifier: MIT
// A block's operations on a GPU compared with LibTorch's in float32 on the same inputs (AtenOps,
// which layer_ops_test.cpp compares with the CPU's kernels). Contract: attention of many bfloat16
// or float16 rows within 1/100 of the largest value, because rotated queries, keys and weights are
// rounded; weights of few rows within 5e-6; norms, activations and updates within 1e-5, or one
// rounding to bfloat16 or float16. The cases cover LibTorch's flash attention, cuDNN attention and
// Midscope's kernel. Also runs without a GPU (tests/core/cuda_host).
#include "core/compute/cuda/cuda_ops.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <cmath>
#include <deque>

#include "core/compute/rotary_cache.h"
#include "tests/core/support/filled_table.h"
#include "tests/core/support/tested_gpu.h"

namespace midscope {
namespace {

constexpr double kLargest = 2;  // of queries, keys and values
// Rounded queries and keys move logits of up to 30 by some hundredths.
constexpr double kGpuTolerance = kLargest / 100;

struct GpuCase {
  const char* name;
  kernels::AttentionShape shape;
  bool split_keys = false;  // every head a position of its own, those of a group too
  int64_t near = 0;
  bool alibi = false;
  bool temperature = false;
  bool edits = false;  // hidden keys and factors, of some heads and of all
  bool sinks = false;
};

// query rows, key rows, first query, heads, KV heads, size of a head, window, soft cap
const std::vector<GpuCase>& GpuCases() {
  static const std::vector<GpuCase> cases = {
      {"flash", {130, 130, 0, 6, 2, 64}},
      {"flash_later_rows", {70, 200, 130, 4, 4, 128}},
      {"flash_window", {300, 300, 0, 4, 2, 96, 70}},
      {"flash_large_heads", {65, 65, 0, 2, 1, 256}},
      {"cudnn", {4100, 4100, 0, 4, 2, 128}},
      {"flash_member_by_member", {333, 333, 0, 8, 2, 64}, true},
      {"flash_member_by_member_later_rows", {200, 330, 130, 4, 1, 128}, true},
      {"flash_member_by_member_window", {300, 300, 0, 6, 2, 80, 70}, true},
      {"cudnn_member_by_member", {4100, 4100, 0, 4, 2, 128}, true},
      {"own_soft_cap_window", {150, 450, 300, 4, 2, 128, 70, 1.5f}},
      {"own_soft_cap_large_heads", {150, 150, 0, 4, 2, 256, 0, 1.5f}},
      {"own_alibi", {150, 150, 0, 4, 2, 64}, false, 0, true},
      {"own_far_alibi", {150, 150, 0, 4, 2, 96}, true, 47, true},
      {"own_temperature", {150, 150, 0, 4, 2, 64}, true, 0, false, true},
      {"flash_far", {200, 200, 0, 4, 2, 64}, false, 47},
      {"flash_far_member_by_member_later_rows", {260, 400, 140, 4, 2, 64}, true, 47},
      {"flash_far_few_far_rows", {200, 200, 0, 2, 2, 128}, false, 198},
      {"flash_far_window", {300, 300, 0, 4, 2, 64, 90}, false, 47},
      {"flash_no_far_in_window", {300, 300, 0, 4, 2, 64, 40}, false, 47},
      {"flash_no_far_rows", {70, 70, 0, 4, 2, 64}, false, 70},
      {"own_far_temperature", {260, 400, 140, 4, 2, 64}, true, 47, false, true},
      {"own_far_soft_cap_128", {200, 200, 0, 2, 2, 128, 0, 1.5f}, false, 128},
      {"own_edits_later_rows", {150, 450, 300, 4, 2, 128}, false, 0, false, false, true},
      {"own_sinks_window", {150, 150, 0, 4, 2, 64, 70}, true, 0, false, true, false, true},
      {"own_far_edits_sinks", {200, 400, 200, 4, 2, 64}, true, 47, false, false, true, true},
      {"few_rows", {4, 100, 96, 4, 2, 64}, true},
      {"flash_far_80", {60, 60, 0, 4, 2, 80}, true, 30},
      {"other_sizes", {60, 60, 0, 4, 2, 80, 0, 1.5f}, true, 30}};
  return cases;
}

RotaryTables GpuTablesOf(const GpuCase& c, RotaryCache& cache) {
  RotaryTables tables;
  std::vector<double> frequencies(static_cast<size_t>(c.shape.head_dim / 2));
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] = std::pow(0.7, static_cast<double>(i));
  const auto view = [&](double ratio) {
    tables.owned.push_back(
        test::FilledTable(cache, {frequencies, 1.0, ratio, {}}, c.shape.key_rows));
    return tables.owned.back()->View();
  };
  for (int64_t head = 0; head < c.shape.heads; ++head) {
    const double ratio = c.split_keys ? 1.2 + 0.1 * static_cast<double>(head) : 1.0;
    tables.q.push_back(view(ratio));
    tables.k.push_back(view(ratio));
    tables.scale.push_back(1.0f / std::sqrt(static_cast<float>(c.shape.head_dim)));
    if (c.alibi) tables.alibi_slopes.push_back(0.1f * static_cast<float>(head));
    if (c.sinks) tables.sinks.push_back(4.0f - 3.0f * static_cast<float>(head));
    if (c.temperature) tables.edits.temperature.push_back(0.5f + 0.3f * static_cast<float>(head));
    if (c.near > 0) {
      tables.far_q.push_back(view(2 * ratio));
      tables.far_k.push_back(view(2 * ratio));
    }
  }
  if (c.edits) {
    static const std::vector<uint8_t> first_alone = {1, 0, 0, 0};
    tables.edits.hidden = {{2, 30}, {60, 200, first_alone}};
    tables.edits.factors = {
        {31, 50, 2, true}, {45, 150, 0.5f, false}, {40, 70, 3, false, first_alone}};
  }
  tables.window = c.shape.window;
  tables.softcap = c.shape.softcap;
  tables.near = c.near;
  return tables;
}

// The GPU's operations and LibTorch's beside them; skips where there is no GPU.
class CudaOpsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::TestedGpu()) GTEST_SKIP() << "no GPU here";
  }

  at::Tensor Values(int64_t rows, int64_t width, at::ScalarType type, float step = 0.731f) const {
    return at::arange(rows * width, at::kFloat)
        .mul_(step)
        .sin_()
        .mul_(kLargest)
        .view({rows, width})
        .to(gpu_, type);
  }

  at::Tensor Queries(const GpuCase& c, at::ScalarType type) const {
    return Values(c.shape.query_rows, c.shape.heads * c.shape.head_dim, type);
  }
  at::Tensor Keys(const GpuCase& c, at::ScalarType type, float step) const {
    return Values(c.shape.key_rows + 2, c.shape.key_value_heads * c.shape.head_dim, type, step);
  }

  static double Difference(const at::Tensor& a, const at::Tensor& b) {
    return (a.to(at::kFloat) - b.to(at::kFloat)).abs().max().item<double>();
  }

  c10::InferenceMode inference_;
  at::Device gpu_ = test::TestedGpu().value_or(at::Device(at::kCUDA, 0));
  CudaOps cuda_{gpu_};
  AtenOps aten_{gpu_};
};

class CudaOpsOfManyRowsTest : public CudaOpsTest,
                              public testing::WithParamInterface<at::ScalarType> {};

TEST_P(CudaOpsOfManyRowsTest, AttentionAgrees) {
  for (const GpuCase& c : GpuCases()) {
    RotaryCache cache;
    const RotaryTables tables = GpuTablesOf(c, cache);
    const at::Tensor q = Queries(c, GetParam());
    const at::Tensor k = Keys(c, GetParam(), 0.377f);
    const at::Tensor v = Keys(c, GetParam(), 0.933f);
    const at::Tensor z = at::full_like(q, std::nan(""));
    const at::Tensor expected = at::empty(q.sizes(), q.options().dtype(at::kFloat));
    ASSERT_TRUE(cuda_.Attention(c.shape, q, k, v, tables, z, nullptr)) << c.name;
    ASSERT_TRUE(aten_.Attention(c.shape, q.to(at::kFloat), k.to(at::kFloat), v.to(at::kFloat),
                                tables, expected, nullptr));
    EXPECT_LE(Difference(z, expected), kGpuTolerance) << c.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Narrow, CudaOpsOfManyRowsTest, testing::Values(at::kBFloat16, at::kHalf),
                         [](const auto& test) {
                           return test.param == at::kHalf ? "float16" : "bfloat16";
                         });

// With keys that a what-if has changed or not, with edits of the attention or not.
class CudaOpsOfFewRowsTest : public CudaOpsTest,
                             public testing::WithParamInterface<std::tuple<bool, bool>> {
 protected:
  void ExpectSame(const GpuCase& c, const RotaryTables& tables, at::ScalarType type, bool changes) {
    const at::Tensor q = Queries(c, type);
    const at::Tensor k = Keys(c, type, 0.377f);
    const at::Tensor v = Keys(c, type, 0.933f);
    KeyUpdate update;
    at::Tensor changed = k.to(at::kFloat);
    if (changes) {
      const auto floats = changed.options();
      update = {at::arange(k.size(0), floats).mul_(0.37).cos_(),
                at::arange(k.size(1), floats).mul_(0.61).sin_()};
      changed = changed.addr(update.amount, update.direction, 1, -1);
    }
    const at::Tensor weights = cuda_.AttentionWeights(c.shape, q, k, update, tables);
    const at::Tensor expected =
        aten_.AttentionWeights(c.shape, q.to(at::kFloat), changed, {}, tables);
    ASSERT_EQ(weights.sizes(), expected.sizes()) << c.name;
    EXPECT_LE(Difference(weights, expected), 5e-6) << c.name;
    EXPECT_TRUE(at::equal(weights == 0, expected == 0)) << c.name;
    const at::Tensor z = at::full_like(q, std::nan(""));
    const at::Tensor expected_z = at::empty_like(q);
    const double tolerance = type == at::kFloat ? 1e-5 : kGpuTolerance;
    cuda_.WeightedValues(c.shape, weights, v, z);
    aten_.WeightedValues(c.shape, weights, v, expected_z);
    EXPECT_LE(Difference(z, expected_z), tolerance) << c.name;
    const at::Tensor fused = at::full_like(q, std::nan(""));
    cuda_.RowAttention(c.shape, q, k, update, v, tables, {}, fused);
    EXPECT_LE(Difference(fused, expected_z), tolerance) << c.name;
    const at::Tensor again = at::full_like(q, std::nan(""));
    cuda_.RowAttention(c.shape, q, k, update, v, tables, weights, again);
    EXPECT_TRUE(at::equal(fused, again)) << c.name << " depends on what is captured";
  }
};

TEST_P(CudaOpsOfFewRowsTest, WeightsAndValuesAgree) {
  const auto [changes, edits] = GetParam();
  for (GpuCase c : GpuCases()) {
    c.shape.first_query = c.shape.key_rows - 3;
    c.shape.query_rows = 3;
    RotaryCache cache;
    RotaryTables tables = GpuTablesOf(c, cache);
    if (edits) {
      static const std::vector<uint8_t> first_alone = {1, 0, 0, 0, 0, 0, 0, 0};
      tables.edits.hidden = {{2, 30}, {0, 40, first_alone}};
      tables.edits.factors = {{31, 50, 2, true}, {45, 55, 0.5f, false}};
    }
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf})
      ExpectSame(c, tables, type, changes);
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, CudaOpsOfFewRowsTest,
                         testing::Combine(testing::Bool(), testing::Bool()), [](const auto& test) {
                           return std::string(std::get<0>(test.param) ? "changed" : "plain") +
                                  (std::get<1>(test.param) ? "_edited" : "");
                         });

TEST_F(CudaOpsTest, CountsOfAttendedKeysAgree) {
  const at::Tensor weights = at::arange(9 * 4099, at::kFloat).sin_().view({1, 9, 4099}).softmax(2);
  for (const auto rule : {kernels::ThresholdRule::kAtLeast, kernels::ThresholdRule::kGreater}) {
    const kernels::AwarenessThreshold threshold{rule, 1.5};
    EXPECT_EQ(cuda_.CountAttendedKeys(weights.to(cuda_.device()), threshold),
              aten_.CountAttendedKeys(weights, threshold));
  }
}

TEST_F(CudaOpsTest, LikeliestTokensAgree) {
  for (const int64_t vocabulary : {7, 4096, 49152, 151936}) {
    // Many are equal.
    const at::Tensor logits =
        at::arange(3 * vocabulary, at::kFloat).mul_(0.377).sin_().mul_(50).round_().view({3, -1});
    for (const int64_t k : {1, 5, 32, 40}) {
      if (k > vocabulary) continue;
      const auto on_gpu = cuda_.TopTokens(logits.to(cuda_.device()), k);
      const auto on_host = aten_.TopTokens(logits, k);
      ASSERT_EQ(on_gpu.size(), on_host.size());
      for (size_t i = 0; i < on_gpu.size(); ++i) {
        EXPECT_EQ(on_gpu[i].id, on_host[i].id) << vocabulary << " " << k << " " << i;
        EXPECT_EQ(on_gpu[i].logit, on_host[i].logit) << vocabulary << " " << k << " " << i;
      }
    }
  }
}

TEST_F(CudaOpsTest, NormsAndActivationsAgree) {
  std::deque<Norm> norms;
  for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
    const double tolerance = type == at::kFloat ? 1e-5 : kLargest * kLargest / 128;
    for (const int64_t width : {8, 24, 576, 4096, 4100}) {
      for (const NormKind kind : {NormKind::kRms, NormKind::kLayer}) {
        Norm& norm = norms.emplace_back();  // found by their addresses
        for (int64_t i = 0; i < width; ++i)
          norm.weight.push_back(1 + 0.5f * std::sin(static_cast<float>(i)));
        if (kind == NormKind::kLayer) norm.bias = norm.weight;
        const at::Tensor x = Values(5, width, type).add_(1);
        const at::Tensor update = Values(5, width, type, 0.19f);
        const auto floats = x.options().dtype(at::kFloat);
        at::Tensor outs[2], means[2], scales[2], residuals[2], sums[2];
        const AtenOps* ops[2] = {&cuda_, &aten_};
        for (int i = 0; i < 2; ++i) {
          outs[i] = at::empty_like(x);
          sums[i] = at::empty_like(x);
          means[i] = at::zeros({5}, floats);
          scales[i] = at::zeros({5}, floats);
          residuals[i] = x.clone();
          ops[i]->Normalise(kind, x, norm, 1e-5f, outs[i], {means[i], scales[i], {}});
          const NormKeeps keeps{at::zeros({5}, floats), at::zeros({5}, floats), at::empty_like(x)};
          ops[i]->AddNormalise(kind, residuals[i], update, norm, 1e-5f, sums[i], keeps);
          EXPECT_TRUE(at::equal(keeps.input, residuals[i])) << width;
          const NormKeeps apart{at::zeros({5}, floats), at::zeros({5}, floats), {}};
          const at::Tensor of_sum = at::empty_like(x);
          ops[i]->Normalise(kind, residuals[i], norm, 1e-5f, of_sum, apart);
          EXPECT_TRUE(at::equal(of_sum, sums[i])) << width;
          EXPECT_TRUE(at::equal(apart.scale, keeps.scale)) << width;
        }
        EXPECT_LE(Difference(outs[0], outs[1]), tolerance) << width;
        EXPECT_LE(Difference(sums[0], sums[1]), tolerance) << width;
        EXPECT_LE(Difference(means[0], means[1]), 1e-5) << width;
        EXPECT_LE(Difference(scales[0], scales[1]), 1e-5) << width;
        EXPECT_TRUE(at::equal(residuals[0], residuals[1])) << width;
        for (const int64_t channel : {int64_t{0}, width - 1}) {
          const auto i = static_cast<size_t>(channel);
          const NormOfColumn of_channel{kind == NormKind::kLayer ? means[0] : at::Tensor(),
                                        scales[0], norm.weight[i],
                                        norm.bias.empty() ? 0 : norm.bias[i]};
          at::Tensor columns[2] = {at::empty({5}, floats), at::empty({5}, floats)};
          const ColumnFactor factor{0.5f, channel > 0 ? at::full({1}, 0.5f, floats) : at::Tensor()};
          for (size_t j = 0; j < 2; ++j)
            ops[j]->NormaliseColumn(x.select(1, channel), of_channel, factor, columns[j]);
          EXPECT_LE(Difference(columns[0], columns[1]), tolerance) << width;
          EXPECT_LE(Difference(columns[0], outs[0].select(1, channel) * 0.5), tolerance) << width;
        }
      }
      for (const Activation activation :
           {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
            Activation::kSquaredRelu}) {
        for (const bool gated : {false, true}) {
          const at::Tensor x = Values(5, gated ? 2 * width : width, type);
          const at::Tensor out = at::empty({5, width}, x.options());
          const at::Tensor expected = at::empty({5, width}, x.options());
          const at::Tensor amount = at::arange(5, out.options().dtype(at::kFloat));
          const at::Tensor direction = out.new_ones({width}, at::kFloat).mul_(0.3);
          at::Tensor updated[2] = {at::empty_like(out), at::empty_like(out)};
          cuda_.RankOneUpdate(x.narrow(1, 0, width), amount, direction, updated[0]);
          aten_.RankOneUpdate(x.narrow(1, 0, width), amount, direction, updated[1]);
          EXPECT_LE(Difference(updated[0], updated[1]), tolerance) << width;
          cuda_.Activate(activation, gated, x, out);
          aten_.Activate(activation, gated, x, expected);
          EXPECT_LE(Difference(out, expected), 2 * tolerance) << width;
        }
      }
    }
  }
}

TEST_F(CudaOpsTest, NormsOfHeadsAgree) {
  struct Heads {
    int64_t count;
    int64_t head_dim;
  };
  std::deque<std::vector<float>> weights;  // found by their addresses
  for (const Heads& heads : {Heads{3, 64}, {8, 128}, {1, 5120}, {3, 20}}) {
    const int64_t width = heads.count * heads.head_dim;
    for (const bool own : {false, true}) {
      std::vector<float>& weight = weights.emplace_back();
      for (int64_t i = 0; i < (own ? width : heads.head_dim); ++i)
        weight.push_back(1 + 0.5f * std::sin(static_cast<float>(i)));
      for (const NormKind kind : {NormKind::kRms, NormKind::kLayer}) {
        const HeadNorm norm{kind, heads.count, weight, 1e-5f};
        for (const at::ScalarType type : {at::kFloat, at::kBFloat16, at::kHalf}) {
          const double tolerance = type == at::kFloat ? 1e-5 : kLargest * kLargest / 128;
          // Between q and v, as in a row of a projection.
          const at::Tensor rows = Values(5, width + 128, type);
          const at::Tensor x = rows.narrow(1, 64, width);
          const at::Tensor out = at::full_like(rows, 7);
          const at::Tensor expected = at::full_like(rows, 7);
          cuda_.NormaliseHeads(x, norm, out.narrow(1, 64, width));
          aten_.NormaliseHeads(x, norm, expected.narrow(1, 64, width));
          EXPECT_LE(Difference(out, expected), tolerance) << width;
          cuda_.NormaliseHeads(x, norm, x);
          EXPECT_TRUE(at::equal(x, out.narrow(1, 64, width))) << width << " in place";
        }
      }
    }
  }
}

TEST_F(CudaOpsTest, AFewValuesAreCopiedOnce) {
  const at::Tensor first = cuda_.FewOnDevice({1, 2, 3});
  EXPECT_EQ(first.device(), cuda_.device());
  EXPECT_TRUE(cuda_.FewOnDevice({1, 2, 3}).is_same(first));
  const at::Tensor other = cuda_.FewOnDevice({1, 2, 4});
  EXPECT_EQ(other[2].item<float>(), 4);
}

}  // namespace
}  // namespace midscope
