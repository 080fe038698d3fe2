// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels for few query rows, run on the CPU block by block, compared with
// the CPU's kernels.
//
// Contract: attention weights are within 5e-6, also with soft cap, ALiBi, temperatures, sinks,
// hidden keys and factors; values, and attention without weights, are within float32 rounding of
// longer sums; keys over a threshold are counted exactly; the bits do not depend on the order of
// threads between two barriers; only the output is written, and results of earlier work are read
// only after it was waited for.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/move_rows.h"
#include "kernels/cuda/row_attention.h"
#include "kernels/cuda/row_softmax.h"
#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/cuda_heads.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope::kernels::cuda {
namespace {

std::vector<CaseShape> RowCases() {
  std::vector<CaseShape> shapes;
  for (const int64_t first : {0, 7, 255, 256, 600}) {
    for (const int64_t dim : {8, 80, 128, 256}) {
      // Groups of one, two and three heads; a block of threads processes four.
      CaseShape c{.query_rows = 3, .first_query = first, .heads = 6, .key_value_heads = 2};
      if (dim == 80) c.key_value_heads = 6;
      if (dim == 128) c.heads = 4;
      c.head_dim = dim;
      c.pairs = dim / 2 / 8 * 8;
      c.rotated = c.pairs > 0;
      c.tables_per_head = dim != 80;
      c.near = dim == 128 ? 70 : 0;
      shapes.push_back(c);
    }
  }
  return shapes;
}

// Soft caps, ALiBi, temperatures, sinks, hidden keys and factors, alone and in combination.
std::vector<CaseShape> EditedRowCases() {
  std::vector<CaseShape> shapes = EditedCases({3});
  const std::vector<CaseShape> far = FarCases({3}, {200});
  shapes.insert(shapes.end(), far.begin(), far.end());
  for (CaseShape& c : shapes) {
    c.head_dim = 24;
    c.pairs = 8;
    c.query_weight = false;
  }
  return shapes;
}

bool IsEdited(const CaseShape& c) {
  return c.softcap > 0 || c.alibi || c.temperature || c.sinks || !c.hidden.empty() ||
         !c.factors.empty();
}

// A few query rows with reference results from the CPU, and the kernels' arguments for them.
template <class T>
struct RowsOfAttention {
  RowsOfAttention(const CaseShape& shape_of_case, bool update)
      : c(shape_of_case),
        inputs(c),
        wide(WideCase(c, inputs)),
        amount(Random(inputs.shape.key_rows, Dtype::kFloat32, 5)),
        direction(Random(c.key_value_heads * c.head_dim, Dtype::kFloat32, 6)),
        heads(HeadsOf(inputs, &edits)) {
    const int64_t key_width = c.key_value_heads * c.head_dim;
    for (int64_t i = 0; update && i < shape().key_rows * key_width; ++i) {
      const int64_t at = i / key_width * wide.width + c.heads * c.head_dim + i % key_width;
      wide.fused.Set(at,
                     wide.fused.At(at) - amount.At(i / key_width) * direction.At(i % key_width));
    }
    arguments.q = static_cast<const T*>(inputs.Q().data);
    arguments.k = static_cast<const T*>(inputs.K().data);
    arguments.q_stride = arguments.k_stride = inputs.width;
    arguments.query_rows = shape().query_rows;
    arguments.first_query = shape().first_query;
    arguments.keys = shape().first_query + shape().query_rows;
    arguments.heads = shape().heads;
    arguments.key_value_heads = shape().key_value_heads;
    arguments.near = c.near;
    arguments.head_dim = static_cast<int>(shape().head_dim);
    arguments.tables = heads.data();
    if (update) arguments.amount = Data<float>(amount);
    if (update) arguments.direction = Data<float>(direction);
  }

  const AttentionShape& shape() const { return inputs.shape; }
  int64_t weight_count() const { return shape().query_rows * shape().heads * shape().key_rows; }
  Guarded ExpectedWeights() {
    Guarded weights(weight_count(), Dtype::kFloat32);
    AttentionWeights(shape(), wide.Q(), wide.K(), inputs.Positions(), Data<float>(weights),
                     SerialExecutor());
    return weights;
  }
  Guarded ExpectedZ(Guarded& weights) {
    Guarded z(inputs.OutCount(), Dtype::kFloat32);
    WeightedValues(shape(), Data<float>(weights), wide.V(), inputs.Out(z, Dtype::kFloat32),
                   SerialExecutor());
    return z;
  }

  CaseShape c;
  AttentionCase inputs;
  AttentionCase wide;  // the same numbers in float32, including the update
  Guarded amount;
  Guarded direction;
  std::vector<std::vector<KeyEdit>> edits;
  std::vector<AttentionHead> heads;
  RowLogitsArguments<T> arguments;
};

// Computes weights from logits, for keys from the first one that a query sees.
template <class T>
Guarded RunRowWeights(RowsOfAttention<T>& rows, bool backwards) {
  const AttentionShape& shape = rows.shape();
  RowLogitsArguments<T> of_logits = rows.arguments;
  of_logits.first_key = FirstVisibleKey(shape, shape.first_query);
  of_logits.keys -= of_logits.first_key;
  Guarded logits(shape.heads * shape.query_rows * of_logits.keys, Dtype::kFloat32);
  of_logits.logits = Data<float>(logits);
  test::InOrder(backwards, [&] { RowLogits(of_logits); });
  EXPECT_TRUE(logits.Intact()) << Describe(rows.c);
  Guarded weights(rows.weight_count(), Dtype::kFloat32);
  RowSoftmaxArguments of_weights;
  of_weights.logits = of_logits.logits;
  of_weights.weights = Data<float>(weights);
  of_weights.query_rows = shape.query_rows;
  of_weights.first_query = shape.first_query;
  of_weights.first_key = of_logits.first_key;
  of_weights.keys = of_logits.keys;
  of_weights.key_rows = shape.key_rows;
  of_weights.heads = shape.heads;
  of_weights.window = shape.window;
  of_weights.softcap = shape.softcap;
  of_weights.tables = of_logits.tables;
  test::InOrder(backwards, [&] { RowSoftmax(of_weights); });
  EXPECT_TRUE(weights.Intact()) << Describe(rows.c);
  return weights;
}

template <class T>
void CheckRowWeights(CaseShape c, bool update) {
  c.dtype = kDtypeOf<T>;
  RowsOfAttention<T> rows(c, update);
  const Guarded weights = RunRowWeights(rows, false);
  EXPECT_TRUE(kReportsRaces || weights == RunRowWeights(rows, true)) << Describe(c);
  EXPECT_LE(MaxDifference(weights, rows.ExpectedWeights(), rows.weight_count()), 5e-6 * Gain(c))
      << Describe(c);
}

TEST(CudaRowAttention, WeightsAreThoseOfTheCpu) {
  for (const CaseShape& c : RowCases()) {
    for (const bool update : {false, true}) {
      CheckRowWeights<float>(c, update);
      CheckRowWeights<BFloat16>(c, update);
      CheckRowWeights<Float16>(c, update);
    }
  }
  for (const CaseShape& c : EditedRowCases()) CheckRowWeights<float>(c, c.softcap > 0);
}

// Computes z [rows, heads * head_dim] from the weights.
template <class T>
Guarded RunRowValues(RowsOfAttention<T>& rows, Guarded& weights, bool backwards) {
  const AttentionShape& shape = rows.shape();
  RowValuesArguments<T> of_values;
  of_values.weights = Data<float>(weights);
  of_values.v = static_cast<const T*>(rows.inputs.V().data);
  of_values.row_stride = shape.heads * shape.key_rows;
  of_values.head_stride = shape.key_rows;
  of_values.v_stride = rows.inputs.width;
  of_values.query_rows = shape.query_rows;
  of_values.keys = rows.arguments.keys;
  of_values.heads = shape.heads;
  of_values.key_value_heads = shape.key_value_heads;
  of_values.head_dim = static_cast<int>(shape.head_dim);
  const int64_t count = rows.inputs.OutCount();
  Guarded sums(PartsOf(of_values) * count, Dtype::kFloat32);
  of_values.sums = Data<float>(sums);
  test::InOrder(backwards, [&] { RowValues(of_values); });
  EXPECT_TRUE(sums.Intact()) << Describe(rows.c);
  Guarded z(count, Dtype::kFloat32);
  AddPartsArguments<float> of_parts;
  of_parts.sums = Data<float>(sums);
  of_parts.out = Data<float>(z);
  of_parts.parts = PartsOf(of_values);
  of_parts.rows = shape.query_rows;
  of_parts.width = of_parts.out_stride = shape.heads * shape.head_dim;
  test::InOrder(backwards, [&] { AddParts(of_parts); });
  EXPECT_TRUE(z.Intact()) << Describe(rows.c);
  return z;
}

template <class T>
void CheckRowValues(CaseShape c) {
  c.dtype = kDtypeOf<T>;
  RowsOfAttention<T> rows(c, false);
  Guarded weights = rows.ExpectedWeights();
  const Guarded z = RunRowValues(rows, weights, false);
  EXPECT_TRUE(kReportsRaces || z == RunRowValues(rows, weights, true)) << Describe(c);
  EXPECT_LE(MaxDifference(z, rows.ExpectedZ(weights), rows.inputs.OutCount()), 5e-6) << Describe(c);
}

TEST(CudaRowAttention, ValuesAreThoseOfTheCpu) {
  for (const CaseShape& c : RowCases()) {
    CheckRowValues<float>(c);
    CheckRowValues<BFloat16>(c);
    CheckRowValues<Float16>(c);
  }
}

// Many weights equal the threshold.
TEST(CudaRowAttention, KeysOverAThresholdAreCounted) {
  for (const int64_t keys : {1, 31, 512, 513, 3000}) {
    constexpr int64_t kHeads = 3;
    for (const ThresholdRule rule : {ThresholdRule::kAtLeast, ThresholdRule::kGreater}) {
      const AwarenessThreshold threshold{rule};
      std::mt19937 random(static_cast<unsigned>(keys));
      std::uniform_int_distribution<int> any(0, 2);
      std::vector<float> weights(static_cast<size_t>(kHeads * keys));
      for (float& weight : weights)
        weight = threshold.Weight(keys) * static_cast<float>(any(random));
      std::vector<int64_t> expected(kHeads);
      CountAttendedKeys(weights.data(), kHeads, keys, threshold, expected.data());
      for (const bool backwards : {false, true}) {
        std::vector<int32_t> counts(kHeads + 1, -7);
        const CountKeysArguments arguments{weights.data(), counts.data(),          kHeads,
                                           keys,           threshold.Weight(keys), rule};
        test::InOrder(backwards, [&] { CountKeys(arguments); });
        for (size_t head = 0; head < kHeads; ++head) EXPECT_EQ(counts[head], expected[head]);
        EXPECT_EQ(counts.back(), -7);
      }
    }
  }
}

// Computes z [rows, heads * head_dim] over parts of the keys from first_key on.
template <class T>
Guarded RunRowAttention(RowsOfAttention<T>& rows, int64_t first_key, int keys_of_part,
                        bool backwards) {
  RowAttentionArguments<T> arguments;
  arguments.rows = rows.arguments;
  arguments.rows.first_key = first_key;
  arguments.rows.keys -= first_key;
  arguments.v = static_cast<const T*>(rows.inputs.V().data);
  arguments.v_stride = rows.inputs.width;
  arguments.window = rows.shape().window;
  arguments.softcap = rows.shape().softcap;
  arguments.edited = IsEdited(rows.c);
  arguments.keys_of_part = keys_of_part;
  const int64_t parts = PartsOf(arguments), count = rows.inputs.OutCount();
  Guarded sums(parts * count, Dtype::kFloat32);
  std::vector<PartShare> shares(
      static_cast<size_t>(parts * rows.shape().query_rows * rows.shape().heads));
  arguments.sums = Data<float>(sums);
  arguments.shares = shares.data();
  // Earlier work writes the queries and the latest keys.
  const std::function<void()> earlier = TakenAway(rows.inputs.fused);
  test::InOrder(
      backwards, [&] { RowAttention(arguments); }, earlier);
  EXPECT_TRUE(sums.Intact()) << Describe(rows.c);
  Guarded z(count, Dtype::kFloat32);
  const MergeRowPartsArguments<float> merge{Data<float>(sums),
                                            shares.data(),
                                            Data<float>(z),
                                            rows.shape().heads * rows.shape().head_dim,
                                            parts,
                                            rows.shape().query_rows,
                                            rows.shape().heads,
                                            arguments.rows.head_dim};
  test::InOrder(backwards, [&] { MergeRowParts(merge); });
  EXPECT_TRUE(z.Intact()) << Describe(rows.c);
  return z;
}

template <class T>
void CheckRowAttention(CaseShape c, bool update) {
  c.dtype = kDtypeOf<T>;
  RowsOfAttention<T> rows(c, update);
  const int64_t first_key = FirstVisibleKey(rows.shape(), c.first_query);
  Guarded weights = rows.ExpectedWeights();
  const Guarded expected = rows.ExpectedZ(weights);
  for (const int keys : {kLeastKeysOfPart, kMostKeysOfPart}) {
    const Guarded z = RunRowAttention(rows, first_key, keys, false);
    EXPECT_TRUE(kReportsRaces || z == RunRowAttention(rows, first_key, keys, true)) << Describe(c);
    EXPECT_LE(MaxDifference(z, expected, rows.inputs.OutCount()), 1e-5 * Gain(c)) << Describe(c);
  }
}

TEST(CudaRowAttention, PartsGrowWithTheKeys) {
  EXPECT_EQ(KeysOfPart(1), 32);
  EXPECT_EQ(KeysOfPart(1024), 32);
  EXPECT_EQ(KeysOfPart(1025), 64);
  EXPECT_EQ(KeysOfPart(4096), 128);
  EXPECT_EQ(KeysOfPart(kMostKeysTogether), 128);
}

TEST(CudaRowAttention, AttentionWithoutWeightsIsThatOfTheCpu) {
  for (CaseShape c : RowCases()) {
    for (const bool update : {false, true}) {
      // A window that ends within a part, and one that hides complete parts.
      for (const int64_t window : {0, 100, 2}) {
        c.window = window;
        if (c.near > 0 && window > 0) continue;
        CheckRowAttention<float>(c, update);
        if (window > 0) continue;  // a window hides the same keys for every dtype
        CheckRowAttention<BFloat16>(c, update);
        CheckRowAttention<Float16>(c, update);
      }
    }
  }
  for (const CaseShape& c : EditedRowCases()) CheckRowAttention<float>(c, c.softcap > 0);
}

}  // namespace
}  // namespace midscope::kernels::cuda
