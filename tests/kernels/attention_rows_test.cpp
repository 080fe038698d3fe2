// SPDX-License-Identifier: MIT
// Contract: AttentionWeights and WeightedValues equal the definition with float32 accuracy for
// every dtype of q, k and v; rows sum to 1 (except with factors) and are exactly 0 beyond the
// causal limit, before the window and at hidden keys; results are equal to the last bit for any
// number of threads; rotating q and k by shifted positions changes results only by rounding.
#include <algorithm>
#include <numeric>

#include "kernels/attention.h"
#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/attention_reference.h"
#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

constexpr double kWeightTolerance = 1e-6;  // for weights, which are at most 1
constexpr double kValueTolerance = 5e-6;   // for weighted sums of values of about 1, in float32
constexpr double kNarrowTolerance = 1e-2;  // as above, rounded to bfloat16: 2^-9 of values up to 4

std::vector<CaseShape> RowCases() {
  std::vector<CaseShape> shapes;
  for (const int64_t first : {0, 1, 2, 14, 15, 16, 30, 62, 63, 64, 126, 254, 255, 256, 600}) {
    shapes.push_back({.query_rows = 1, .first_query = first, .heads = 9, .key_value_heads = 3});
    shapes.push_back({.query_rows = 3,
                      .first_query = first,
                      .extra_keys = 5,
                      .heads = 6,
                      .key_value_heads = 2,
                      .tables_per_head = true});
  }
  for (const int64_t dim : {36, 80, 128}) {
    shapes.push_back({.query_rows = 2,
                      .first_query = 40,
                      .heads = 4,
                      .key_value_heads = 4,
                      .head_dim = dim,
                      .pairs = 9});
  }
  shapes.push_back({.query_rows = 2,
                    .first_query = 40,
                    .heads = 4,
                    .key_value_heads = 2,
                    .head_dim = 33,
                    .rotated = false});
  for (const CaseShape& c : ShapedCases({1, 3}, {0, 7, 64, 300, 700})) shapes.push_back(c);
  for (const CaseShape& c : EditedCases({1, 3})) shapes.push_back(c);
  for (const CaseShape& c : FarCases({1, 3}, {7, 300})) shapes.push_back(c);
  return shapes;
}

void CheckEqualTheDefinition() {
  for (CaseShape c : RowCases()) {
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
      c.dtype = dtype;
      AttentionCase inputs(c);
      const int64_t count = c.query_rows * c.heads * inputs.shape.key_rows;
      std::vector<double> expected(static_cast<size_t>(count));
      Guarded expected_out(inputs.OutCount(), Dtype::kFloat32);
      AttentionReference(inputs.shape, inputs.Q(), inputs.K(), inputs.V(), inputs.Positions(),
                         inputs.Out(expected_out, Dtype::kFloat32), expected.data());
      Guarded weights(count, Dtype::kFloat32);
      AttentionWeights(inputs.shape, inputs.Q(), inputs.K(), inputs.Positions(),
                       static_cast<float*>(weights.data()), ThreadExecutor(2));
      for (int64_t i = 0; i < count; ++i) {
        const double want = expected[static_cast<size_t>(i)];
        ASSERT_NEAR(weights.At(i), want, Gain(c) * kWeightTolerance) << Describe(c) << " at " << i;
        const int64_t key = i % inputs.shape.key_rows;
        const int64_t head = i / inputs.shape.key_rows % c.heads;
        const int64_t query = c.first_query + i / (c.heads * inputs.shape.key_rows);
        const bool hidden = key > query || (c.window > 0 && key <= query - c.window) ||
                            std::any_of(c.hidden.begin(), c.hidden.end(), [&](const auto& keys) {
                              return keys.begin <= key && key < keys.end && HoldsFor(keys, head);
                            });
        ASSERT_TRUE(!hidden || weights.At(i) == 0.0f) << Describe(c) << " at " << i;
      }
      EXPECT_TRUE(weights.Intact()) << Describe(c);
      Guarded out(inputs.OutCount(), dtype);
      WeightedValues(inputs.shape, static_cast<float*>(weights.data()), inputs.V(),
                     inputs.Out(out, dtype), ThreadExecutor(2));
      EXPECT_LE(MaxDifference(out, expected_out, inputs.OutCount()),
                Gain(c) * (dtype == Dtype::kFloat32 ? kValueTolerance : kNarrowTolerance))
          << Describe(c);
      EXPECT_TRUE(out.Intact()) << Describe(c);
    }
  }
}

TEST(AttentionRows, EqualTheDefinition) { OnEveryTarget(CheckEqualTheDefinition); }

TEST(AttentionRows, SumToOne) {
  AttentionCase inputs({.query_rows = 1, .first_query = 2000, .heads = 9, .key_value_heads = 3});
  const int64_t keys = inputs.shape.key_rows;
  std::vector<float> weights(static_cast<size_t>(9 * keys));
  AttentionWeights(inputs.shape, inputs.Q(), inputs.K(), inputs.Positions(), weights.data(),
                   SerialExecutor());
  for (int64_t head = 0; head < 9; ++head) {
    const auto begin = weights.begin() + head * keys;
    EXPECT_NEAR(std::accumulate(begin, begin + keys, 0.0), 1.0, 2e-6) << "head " << head;
  }
}

TEST(AttentionRows, AreBitEqualForAnyNumberOfThreads) {
  AttentionCase inputs({.query_rows = 2,
                        .first_query = 700,
                        .heads = 6,
                        .key_value_heads = 2,
                        .tables_per_head = true,
                        .dtype = Dtype::kBFloat16});
  const int64_t count = int64_t{12} * inputs.shape.key_rows;
  Guarded serial(count, Dtype::kFloat32);
  Guarded serial_out(inputs.OutCount(), Dtype::kFloat32);
  AttentionWeights(inputs.shape, inputs.Q(), inputs.K(), inputs.Positions(),
                   static_cast<float*>(serial.data()), SerialExecutor());
  WeightedValues(inputs.shape, static_cast<float*>(serial.data()), inputs.V(),
                 inputs.Out(serial_out, Dtype::kFloat32), SerialExecutor());
  for (const int threads : {1, 2, 3}) {
    Guarded weights(count, Dtype::kFloat32);
    Guarded out(inputs.OutCount(), Dtype::kFloat32);
    AttentionWeights(inputs.shape, inputs.Q(), inputs.K(), inputs.Positions(),
                     static_cast<float*>(weights.data()), ThreadExecutor(threads));
    WeightedValues(inputs.shape, static_cast<float*>(weights.data()), inputs.V(),
                   inputs.Out(out, Dtype::kFloat32), ThreadExecutor(threads));
    EXPECT_TRUE(weights == serial) << threads << " threads";
    EXPECT_TRUE(out == serial_out) << threads << " threads";
  }
}

// Uses the distances of arXiv 2401.01325, figure 3, for groups of 2 keys and a window of 4: the
// weight of a key is e^cos(distance * angle) if queries and keys are all (1, 0) before rotation.
TEST(AttentionRows, SeeKeysAtTheDistancesOfSelfExtend) {
  const std::vector<std::vector<int64_t>> distances = {{0},
                                                       {1, 0},
                                                       {2, 1, 0},
                                                       {3, 2, 1, 0},
                                                       {4, 3, 2, 1, 0},
                                                       {4, 4, 3, 2, 1, 0},
                                                       {5, 5, 4, 3, 2, 1, 0},
                                                       {5, 5, 4, 4, 3, 2, 1, 0},
                                                       {6, 6, 5, 5, 4, 3, 2, 1, 0},
                                                       {6, 6, 5, 5, 4, 4, 3, 2, 1, 0}};
  const auto rows = static_cast<int64_t>(distances.size());
  CaseShape c{.query_rows = rows, .head_dim = 2, .near = 4, .group = 2};
  AttentionCase inputs(c);
  for (int64_t i = 0; i < rows * inputs.width; ++i) inputs.fused.Set(i, i % 2 == 0 ? 1.0f : 0.0f);
  // Tables of one pair at 0.4 radians per position distinguish distances up to 7.
  const std::vector<double> angle = {0.4};
  const auto fill = [&](const RotaryView& view, int64_t row, int64_t position) {
    FillRotary(angle, 1.0, position, 1, 1.0, const_cast<float*>(view.cos) + row,
               const_cast<float*>(view.sin) + row);
  };
  for (int64_t row = 0; row < rows; ++row) {
    fill(inputs.q_tables[0], row, row);
    fill(inputs.far_q_tables[0], row, row / 2 + 2);
    fill(inputs.far_k_tables[0], row, row / 2);
  }
  inputs.scales = {1.0f};
  std::vector<float> weights(static_cast<size_t>(rows * rows));
  AttentionWeights(inputs.shape, inputs.Q(), inputs.K(), inputs.Positions(), weights.data(),
                   SerialExecutor());
  for (size_t row = 0; row < distances.size(); ++row) {
    double sum = 0;
    for (const int64_t distance : distances[row]) sum += std::exp(std::cos(0.4 * distance));
    for (size_t key = 0; key <= row; ++key) {
      EXPECT_NEAR(weights[row * distances.size() + key],
                  std::exp(std::cos(0.4 * distances[row][key])) / sum, 1e-6)
          << "row " << row << " key " << key;
    }
  }
}

// Rotary embedding is relative, so equal distances from another origin give equal weights.
TEST(AttentionRows, DoNotDependOnTheOrigin) {
  AttentionCase inputs({.query_rows = 1, .first_query = 99, .heads = 2, .key_value_heads = 1});
  const int64_t keys = inputs.shape.key_rows;
  std::vector<double> frequencies;
  frequencies.reserve(32);
  for (int i = 0; i < 32; ++i) frequencies.push_back(std::pow(10000.0, -i / 32.0));
  std::vector<std::vector<float>> weights;
  for (const int64_t first : {0, 5000, 100000}) {
    std::vector<float> cosines(static_cast<size_t>(keys * 32));
    std::vector<float> sines(cosines.size());
    FillRotary(frequencies, 1.0, first, keys, 1.0, cosines.data(), sines.data());
    const std::vector<RotaryView> tables(2, {cosines.data(), sines.data(), 32});
    weights.emplace_back(static_cast<size_t>(2 * keys));
    AttentionWeights(inputs.shape, inputs.Q(), inputs.K(), {tables, tables, inputs.scales},
                     weights.back().data(), SerialExecutor());
  }
  for (size_t i = 0; i < weights[0].size(); ++i) {
    EXPECT_NEAR(weights[1][i], weights[0][i], 1e-6);
    EXPECT_NEAR(weights[2][i], weights[0][i], 1e-6);
  }
}

}  // namespace
}  // namespace midscope::kernels
