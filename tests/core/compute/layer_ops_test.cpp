// SPDX-License-Identifier: MIT
// LibTorch's operations compared with the kernels', one by one, and that each runs on its device.
//
// Contract: float32 within 2e-6 of the largest value (attention, whose sums are longer: 5e-6);
// bfloat16 within two roundings, 1/64. Attention in blocks of any size equals attention in one
// block. LibTorch's `meta` device has shapes but no memory, so a tensor left in host memory causes
// an error there: every operation and a complete forward pass of every tiny model run on it.

#include "core/compute/layer_ops.h"

#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <numeric>

#include "core/compute/aten_executor.h"
#include "core/compute/aten_ops.h"
#include "core/compute/highway_ops.h"
#include "core/decoder/forward_pass.h"
#include "core/decoder/show_rows.h"
#include "core/model/model_source.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/filled_table.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

constexpr double kTolerance = 2e-6;  // of the largest
constexpr double kAttentionTolerance = 5e-6;
constexpr double kRounded = 1.0 / 64;

const AtenExecutor& Threads() {
  static const AtenExecutor executor;
  return executor;
}

double Largest(const at::Tensor& x) { return x.to(at::kDouble).abs().max().item<double>(); }

void ExpectClose(const at::Tensor& actual, const at::Tensor& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  EXPECT_LE(Largest(actual.to(at::kDouble) - expected.to(at::kDouble)),
            tolerance * Largest(expected))
      << what;
}

// Values around 1, the same every time, in rows separated by `gap` elements.
at::Tensor Values(int64_t rows, int64_t width, at::ScalarType type, int64_t gap = 0) {
  const at::Tensor all = at::arange(rows * (width + gap), at::kFloat).mul_(0.731f).sin_().mul_(3);
  return all.to(type).view({rows, width + gap}).narrow(1, 0, width);
}

std::vector<float> Vector(int64_t size, float step) {
  std::vector<float> values(static_cast<size_t>(size));
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = 1.0f + 0.5f * std::sin(step * static_cast<float>(i));
  return values;
}

class EachDtype : public ::testing::TestWithParam<kernels::Dtype> {
 protected:
  c10::InferenceMode inference_;
  at::ScalarType type_ = TorchType(GetParam());
  HighwayOps kernels_{GetParam(), Threads()};
  AtenOps aten_{at::Device(at::kCPU)};
  double tolerance_ = GetParam() == kernels::Dtype::kFloat32 ? kTolerance : kRounded;
};

TEST_P(EachDtype, NormsAgree) {
  constexpr int64_t kRows = 5;
  for (const auto& [kind, width] :
       std::vector<std::pair<NormKind, int64_t>>{{NormKind::kRms, 24},
                                                 {NormKind::kRms, 37},
                                                 {NormKind::kLayer, 24},
                                                 {NormKind::kLayer, 37}}) {
    Norm norm{Vector(width, 0.3f), {}};
    if (kind == NormKind::kLayer) norm.bias = Vector(width, 0.7f);
    std::vector<at::Tensor> outs, means, scales, sums, after;
    std::vector<NormKeeps> of_sums;
    for (const LayerOps* ops :
         {static_cast<const LayerOps*>(&kernels_), static_cast<const LayerOps*>(&aten_)}) {
      const at::Tensor x = Values(kRows, width, type_);
      outs.push_back(at::empty_like(x));
      means.push_back(at::zeros({kRows}, at::kFloat));
      scales.push_back(at::zeros({kRows}, at::kFloat));
      const at::Tensor kept = at::empty_like(x);
      ops->Normalise(kind, x, norm, 1e-5f, outs.back(), {means.back(), scales.back(), kept});
      EXPECT_TRUE(at::equal(kept, x));
      sums.push_back(x.clone());
      after.push_back(at::empty_like(x));
      of_sums.push_back(
          {at::zeros({kRows}, at::kFloat), at::zeros({kRows}, at::kFloat), at::empty_like(x)});
      ops->AddNormalise(kind, sums.back(), Values(kRows + 1, width, type_).narrow(0, 1, kRows),
                        norm, 1e-5f, after.back(), of_sums.back());
      EXPECT_TRUE(at::equal(of_sums.back().input, sums.back()));
      // As for a norm of the sum.
      const NormKeeps apart = {at::zeros({kRows}, at::kFloat), at::zeros({kRows}, at::kFloat), {}};
      const at::Tensor out = at::empty_like(x);
      ops->Normalise(kind, sums.back(), norm, 1e-5f, out, apart);
      EXPECT_TRUE(at::equal(out, after.back()));
      EXPECT_TRUE(at::equal(apart.mean, of_sums.back().mean));
      EXPECT_TRUE(at::equal(apart.scale, of_sums.back().scale));
    }
    ExpectClose(outs[1], outs[0], tolerance_, "out");
    ExpectClose(scales[1], scales[0], kTolerance, "scale");
    EXPECT_LE(Largest(means[1] - means[0]), kTolerance);
    EXPECT_EQ(Largest(means[1]) > 0, kind == NormKind::kLayer);
    ExpectClose(sums[1], sums[0], 0, "sum");
    ExpectClose(after[1], after[0], tolerance_, "norm of the sum");
  }
}

TEST_P(EachDtype, PiecesOfABlockAgree) {
  const auto both = [&](const std::string& what, const auto& run) {
    ExpectClose(run(static_cast<const LayerOps&>(aten_)),
                run(static_cast<const LayerOps&>(kernels_)), tolerance_, what);
  };
  const std::vector<float> head_norm = Vector(12, 0.9f);
  const std::vector<float> own_norms = Vector(36, 0.9f);
  for (const HeadNorm& norm : {HeadNorm{NormKind::kRms, 3, head_norm, 1e-6f},
                               HeadNorm{NormKind::kRms, 1, own_norms, 1e-6f},
                               HeadNorm{NormKind::kRms, 3, own_norms, 1e-6f},
                               HeadNorm{NormKind::kLayer, 3, head_norm, 1e-6f},
                               HeadNorm{NormKind::kLayer, 3, own_norms, 1e-6f}}) {
    both("heads", [&](const LayerOps& ops) {
      at::Tensor out = Values(3, 36, type_, 5).clone();
      ops.NormaliseHeads(Values(3, 36, type_, 7), norm, out);
      return out;
    });
  }
  const std::vector<float> bias = Vector(21, 0.2f);
  both("bias", [&](const LayerOps& ops) {
    at::Tensor x = Values(4, 21, type_, 3).clone();
    ops.AddBias(x, bias);
    return x;
  });
  both("add", [&](const LayerOps& ops) {
    at::Tensor x = Values(4, 21, type_);
    ops.Add(x, Values(4, 21, type_).flip(0));
    return x;
  });
  for (const Activation activation :
       {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh}) {
    for (const bool gated : {false, true}) {
      both("activation", [&](const LayerOps& ops) {
        const at::Tensor x = Values(3, gated ? 38 : 19, type_);
        at::Tensor out = gated ? at::empty({3, 19}, x.options()) : x;
        ops.Activate(activation, gated, x, out);
        return out;
      });
    }
  }
  both("rank one", [&](const LayerOps& ops) {
    at::Tensor out = at::empty({5, 11}, Values(1, 1, type_).options());
    ops.RankOneUpdate(Values(5, 11, type_, 9), Values(1, 5, at::kFloat)[0],
                      Values(1, 11, at::kFloat)[0], out);
    return out;
  });
}

struct Case {
  std::string name;
  kernels::AttentionShape shape;
  int ratios = 1;  // tables among the heads; 0: not rotated
  bool alibi = false;
  bool split_keys = false;  // heads of a group see keys by tables of their own
};

std::vector<Case> Cases() {
  return {{"plain", {7, 9, 2, 4, 2, 10}, 1},
          {"one_row", {1, 9, 8, 4, 4, 8}, 1},
          {"unrotated", {6, 6, 0, 3, 1, 6}, 0},
          {"by_head", {9, 9, 0, 6, 2, 8}, 3},
          {"by_head_and_key", {9, 9, 0, 6, 2, 8}, 3, false, true},
          {"window", {13, 13, 0, 4, 2, 8, 5}, 1},
          {"window_of_one_row", {1, 13, 12, 4, 2, 8, 5}, 2},
          {"soft_cap", {8, 8, 0, 2, 2, 8, 0, 1.5f}, 1},
          {"alibi", {11, 14, 3, 5, 5, 6}, 0, true},
          {"alibi_window", {11, 14, 3, 5, 5, 6, 4}, 0, true}};
}

RotaryTables TablesOf(const Case& c, RotaryCache& cache) {
  RotaryTables tables;
  const int64_t group = c.shape.heads / c.shape.key_value_heads;
  const auto pairs = static_cast<size_t>(c.shape.head_dim / 2 - 1);  // one pair passes through
  std::vector<double> frequencies(pairs);
  for (size_t i = 0; i < pairs; ++i) frequencies[i] = std::pow(0.3, static_cast<double>(i));
  for (int ratio = 0; ratio < c.ratios; ++ratio) {
    tables.owned.push_back(
        test::FilledTable(cache, {frequencies, 1.1, 1.0 + 0.4 * ratio, {}}, c.shape.key_rows));
  }
  const auto view = [&](int64_t head) {
    return c.ratios == 0 ? kernels::RotaryView()
                         : tables.owned[static_cast<size_t>(head % c.ratios)]->View();
  };
  for (int64_t head = 0; head < c.shape.heads; ++head) {
    tables.q.push_back(view(head));
    tables.k.push_back(view(c.split_keys ? head : head / group));
    tables.scale.push_back(c.split_keys ? 0.2f + 0.01f * static_cast<float>(head) : 0.3f);
    if (c.alibi) tables.alibi_slopes.push_back(0.1f * static_cast<float>(head));
  }
  tables.window = c.shape.window;
  tables.softcap = c.shape.softcap;
  return tables;
}

// q, k, v of a case; k and v have more rows than are read.
struct AttentionInputs {
  AttentionInputs(const Case& c, at::ScalarType type)
      : q(Values(c.shape.query_rows, c.shape.heads * c.shape.head_dim, type, 5)),
        k(Values(c.shape.key_rows + 2, c.shape.key_value_heads * c.shape.head_dim, type).flip(0)),
        v(Values(c.shape.key_rows + 2, c.shape.key_value_heads * c.shape.head_dim, type)),
        z(at::zeros({c.shape.query_rows, c.shape.heads * c.shape.head_dim}, type)) {}
  at::Tensor q, k, v, z;
};

TEST_P(EachDtype, AttentionAgrees) {
  const double tolerance = GetParam() == kernels::Dtype::kFloat32 ? kAttentionTolerance : kRounded;
  const AtenOps small(at::Device(at::kCPU), {1, 2, 1});  // a block each two rows or one key head
  for (const Case& c : Cases()) {
    RotaryCache cache;
    const RotaryTables tables = TablesOf(c, cache);
    const AttentionInputs a(c, type_), b(c, type_), blocks(c, type_);
    ASSERT_TRUE(kernels_.Attention(c.shape, a.q, a.k, a.v, tables, a.z, nullptr));
    ASSERT_TRUE(aten_.Attention(c.shape, b.q, b.k, b.v, tables, b.z, nullptr));
    ASSERT_TRUE(small.Attention(c.shape, blocks.q, blocks.k, blocks.v, tables, blocks.z, nullptr));
    ExpectClose(b.z, a.z, tolerance, c.name);
    ExpectClose(blocks.z, b.z, tolerance, c.name);

    const at::Tensor weights = aten_.AttentionWeights(c.shape, b.q, b.k, {}, tables);
    const at::Tensor expected = kernels_.AttentionWeights(c.shape, a.q, a.k, {}, tables);
    ExpectClose(weights, expected, kAttentionTolerance, c.name);
    EXPECT_TRUE(at::equal(weights == 0, expected == 0)) << c.name;
    // Values that a hook writes to keys that no row sees are ignored on both sides.
    const at::Tensor written =
        expected.masked_fill((expected == 0).all(0, true).all(1, true), 7.0f);
    kernels_.WeightedValues(c.shape, written, a.v, a.z);
    aten_.WeightedValues(c.shape, written, b.v, b.z);
    ExpectClose(b.z, a.z, GetParam() == kernels::Dtype::kFloat32 ? kAttentionTolerance : kRounded,
                c.name);
  }
}

TEST_P(EachDtype, WeightsOfChangedKeysAreThoseOfKeysChangedBefore) {
  for (const Case& c : Cases()) {
    RotaryCache cache;
    const RotaryTables tables = TablesOf(c, cache);
    const AttentionInputs in(c, type_);
    const KeyUpdate update{at::arange(in.k.size(0), at::kFloat).mul_(0.37).cos_(),
                           at::arange(in.k.size(1), at::kFloat).mul_(0.61).sin_()};
    const at::Tensor before = in.k.clone();
    at::Tensor changed = at::empty_like(in.k);
    kernels_.RankOneUpdate(in.k, update.amount, update.direction, changed);
    ASSERT_FALSE(at::equal(changed, in.k));
    for (const LayerOps* ops : std::initializer_list<const LayerOps*>{&kernels_, &aten_}) {
      ExpectClose(ops->AttentionWeights(c.shape, in.q, in.k, update, tables),
                  ops->AttentionWeights(c.shape, in.q, changed, {}, tables), kAttentionTolerance,
                  c.name);
      EXPECT_TRUE(at::equal(in.k, before)) << c.name;
    }
  }
}

// Integers, so that ties between heads are exact; among the weights some at the threshold itself.
TEST_P(EachDtype, CountsOfAttendedKeysAgree) {
  for (const int64_t keys : {1, 2, 7, 40, 4099}) {
    for (const double alpha : {0.5, 3.0}) {
      at::Tensor weights = Values(9, keys, at::kFloat).abs().softmax(1).view({1, 9, keys});
      for (const auto rule : {kernels::ThresholdRule::kAtLeast, kernels::ThresholdRule::kGreater}) {
        const kernels::AwarenessThreshold threshold{rule, alpha};
        weights[0][3][keys / 2] = threshold.Weight(keys);
        EXPECT_EQ(aten_.CountAttendedKeys(weights, threshold),
                  kernels_.CountAttendedKeys(weights, threshold))
            << keys;
      }
    }
  }
}

TEST_P(EachDtype, ProductsKeepFloatSumsWhereAsked) {
  const at::Tensor x = Values(3, 50, type_);
  const at::Tensor weight = Values(29, 50, type_).flip(1);
  const at::Tensor exact = at::mm(x.to(at::kDouble), weight.to(at::kDouble).t());
  const at::Tensor floats = at::empty({3, 29}, at::kFloat);
  MultiplyByAten(x, weight, floats);
  ExpectClose(floats, exact, kTolerance, "float32");
  const at::Tensor same = at::empty({3, 29}, type_);
  MultiplyByAten(x, weight, same);
  ExpectClose(same, exact, tolerance_, "own dtype");
}

INSTANTIATE_TEST_SUITE_P(Dtypes, EachDtype,
                         ::testing::Values(kernels::Dtype::kFloat32, kernels::Dtype::kBFloat16),
                         [](const auto& test) {
                           return test.param == kernels::Dtype::kFloat32 ? "float32" : "bfloat16";
                         });

// As where a model was loaded again to the addresses of another one.
TEST(AtenOps, OtherValuesAtTheAddressOfACopyAreRefused) {
  const AtenOps aten{at::Device(at::kCPU)};
  std::vector<float> bias = {1, 2, 3};
  const at::Tensor x = at::zeros({1, 3});
  aten.AddBias(x, bias);
  aten.AddBias(x, bias);
  EXPECT_EQ(x[0][2].item<float>(), 6);
  bias[2] = 4;
  EXPECT_THROW(aten.AddBias(x, bias), std::logic_error);
}

TEST(AtenOps, StopsBetweenBlocks) {
  const c10::InferenceMode inference;
  const Case c = Cases().front();
  RotaryCache cache;
  const AttentionInputs in(c, at::kFloat);
  const std::atomic<bool> cancel{true};
  EXPECT_FALSE(AtenOps(at::Device(at::kCPU))
                   .Attention(c.shape, in.q, in.k, in.v, TablesOf(c, cache), in.z, &cancel));
}

// Tables are known by address: a new one must not be taken for an old one that is gone.
TEST(AtenOps, TablesThatCameLaterAreNotMistaken) {
  const c10::InferenceMode inference;
  const HighwayOps kernels(kernels::Dtype::kFloat32, Threads());
  const AtenOps aten{at::Device(at::kCPU)};
  const Case c = Cases().front();
  for (int round = 0; round < 20; ++round) {
    RotaryCache cache;
    RotaryTables tables;
    tables.owned.push_back(
        test::FilledTable(cache, {{1.0, 0.1 * round, 0.3}, 1.0, 1.0, {}}, c.shape.key_rows));
    tables.q.assign(4, tables.owned[0]->View());
    tables.k = tables.q;
    tables.scale.assign(4, 0.3f);
    const AttentionInputs in(c, at::kFloat);
    ExpectClose(aten.AttentionWeights(c.shape, in.q, in.k, {}, tables),
                kernels.AttentionWeights(c.shape, in.q, in.k, {}, tables), kAttentionTolerance,
                std::to_string(round));
  }
}

TEST(AtenOps, AttentionStaysOnItsDevice) {
  const c10::InferenceMode inference;
  const AtenOps meta(at::Device(at::kMeta), {1, 2, 1});
  for (const Case& c : Cases()) {
    RotaryCache cache;
    const RotaryTables tables = TablesOf(c, cache);
    const AttentionInputs host(c, at::kBFloat16);
    const auto there = [](const at::Tensor& x) { return x.to(at::Device(at::kMeta)); };
    const at::Tensor z = there(host.z);
    EXPECT_NO_THROW(
        meta.Attention(c.shape, there(host.q), there(host.k), there(host.v), tables, z, nullptr))
        << c.name;
    at::Tensor weights;
    EXPECT_NO_THROW(weights =
                        meta.AttentionWeights(c.shape, there(host.q), there(host.k), {}, tables))
        << c.name;
    EXPECT_TRUE(weights.is_meta());
    EXPECT_NO_THROW(meta.WeightedValues(c.shape, weights, there(host.v), z)) << c.name;
  }
}

// A sequence on a trace of the given devices, from active_first on.
// Runs no layer below `first_layer`, and above it rows from first_row on.
SequencePass MakeSequence(const RunRequest& request, const ModelConfig& config, Trace* trace,
                          int64_t first_layer, int64_t first_row) {
  SequencePass sequence;
  sequence.request = &request;
  sequence.rows = static_cast<int64_t>(request.ids.size());
  sequence.prompt_tokens = sequence.rows;
  sequence.first_row.assign(static_cast<size_t>(config.layers), first_row);
  std::fill_n(sequence.first_row.begin(), first_layer, sequence.rows);
  sequence.changed_row = sequence.first_row;
  sequence.trace = trace;
  sequence.plans = CompilePlans(request.intervention, config, sequence.rows, sequence.rows);
  sequence.frozen_plans = sequence.plans;
  sequence.hooks = std::make_unique<HookTable>(
      request.hooks, config.layers, SequenceInfo{0, sequence.rows, sequence.prompt_tokens});
  return sequence;
}

TEST(AtenOps, AForwardPassStaysOnItsDevice) {
  const c10::InferenceMode inference;
  std::vector<int32_t> ids(23);
  std::iota(ids.begin(), ids.end(), 0);
  const JobContext job;
  for (const std::string& model : test::TinyModelNames()) {
    const auto source = OpenModel(test::TinyModelPath(model));
    const ModelConfig& config = source->config();
    const LayerDevices devices(std::make_unique<AtenOps>(at::Device(at::kMeta)), config.layers);
    Weights weights = LoadWeights(*source, {.dtype = kernels::Dtype::kBFloat16}, Threads(), job);
    PlaceWeights(devices, Threads(), &weights);
    RotaryCache rotary;
    const auto trace = AllocateTrace(config, kernels::Dtype::kBFloat16, 23, /*residual=*/true,
                                     /*first_layer=*/0, devices.Devices());
    RunRequest request;
    request.ids = ids;
    request.intervention = ParseIntervention("channel([3,5], factor=[-1,0])");
    // All rows, then the last one alone from layer 1 on.
    for (const int64_t first_layer : {0, 1}) {
      ForwardPass pass({config, weights, devices, kernels::Dtype::kBFloat16, rotary, Threads()},
                       job);
      std::vector<SequencePass> sequences;
      sequences.push_back(
          MakeSequence(request, config, trace.get(), first_layer, first_layer == 0 ? 0 : 22));
      EXPECT_NO_THROW(pass.Run(sequences)) << model;
      EXPECT_TRUE(pass.residual().is_meta()) << model;
    }
  }
}

}  // namespace
}  // namespace midscope
