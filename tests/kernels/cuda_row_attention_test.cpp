// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels of few query rows, run on the CPU block by block, against the
// CPU's kernels.
//
// Contract: attention weights of logits within 5e-6; values, and attention without weights, within
// float32 rounding of longer sums; the same bits in any order of threads between two barriers;
// nothing written but the output.
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/move_rows.h"
#include "kernels/cuda/row_attention.h"
#include "tests/kernels/support/attention_case.h"
#include "tests/kernels/support/host_machine.h"

namespace midscope::kernels::cuda {
namespace {

Table TableOf(const RotaryView& view) { return {view.cos, view.sin, static_cast<int>(view.pairs)}; }

std::vector<CaseShape> RowCases() {
  std::vector<CaseShape> shapes;
  for (const int64_t first : {0, 7, 255, 256, 600}) {
    for (const int64_t dim : {8, 80, 128, 256}) {
      // Groups of one, two and three heads, of which a block of threads has four.
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

// Weights [query_rows, heads, key_rows] of logits [heads, query_rows, keys].
Guarded Softmaxed(const AttentionShape& shape, const Guarded& logits, int64_t keys) {
  Guarded weights(shape.query_rows * shape.heads * shape.key_rows, Dtype::kFloat32);
  for (int64_t row = 0; row < shape.query_rows; ++row) {
    for (int64_t head = 0; head < shape.heads; ++head) {
      const int64_t from = (head * shape.query_rows + row) * keys;
      const int64_t to = (row * shape.heads + head) * shape.key_rows;
      const int64_t seen = shape.first_query + row + 1;
      double largest = -INFINITY, sum = 0;
      for (int64_t key = 0; key < seen; ++key)
        largest = std::max(largest, double{logits.At(from + key)});
      for (int64_t key = 0; key < seen; ++key) sum += std::exp(logits.At(from + key) - largest);
      for (int64_t key = 0; key < shape.key_rows; ++key) {
        const double weight = key < seen ? std::exp(logits.At(from + key) - largest) / sum : 0;
        weights.Set(to + key, static_cast<float>(weight));
      }
    }
  }
  return weights;
}

// A few query rows on the CPU, and what the kernels are told of them.
template <class T>
struct RowsOfAttention {
  RowsOfAttention(const CaseShape& shape_of_case, bool update)
      : c(shape_of_case),
        inputs(c),
        wide(WideCase(c, inputs)),
        amount(Random(inputs.shape.key_rows, Dtype::kFloat32, 5)),
        direction(Random(c.key_value_heads * c.head_dim, Dtype::kFloat32, 6)),
        heads(static_cast<size_t>(c.heads)) {
    const int64_t key_width = c.key_value_heads * c.head_dim;
    for (int64_t i = 0; update && i < shape().key_rows * key_width; ++i) {
      const int64_t at = i / key_width * wide.width + c.heads * c.head_dim + i % key_width;
      wide.fused.Set(at,
                     wide.fused.At(at) - amount.At(i / key_width) * direction.At(i % key_width));
    }
    const HeadPositions positions = inputs.Positions();
    for (size_t h = 0; h < heads.size(); ++h) {
      heads[h].q = TableOf(positions.q[h]);
      heads[h].k = TableOf(positions.k[h]);
      if (c.near > 0) heads[h].far_q = TableOf(positions.far.q[h]);
      if (c.near > 0) heads[h].far_k = TableOf(positions.far.k[h]);
      heads[h].scale = positions.scale[h];
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
  AttentionCase wide;  // the same numbers in float32, with the update
  Guarded amount;
  Guarded direction;
  std::vector<AttentionHead> heads;
  RowLogitsArguments<T> arguments;
};

template <class T>
void CheckLogitsAndValues(CaseShape c, bool update) {
  c.dtype = kDtypeOf<T>;
  RowsOfAttention<T> rows(c, update);
  const AttentionShape& shape = rows.shape();
  RowLogitsArguments<T> of_logits = rows.arguments;
  Guarded logits(shape.heads * shape.query_rows * of_logits.keys, Dtype::kFloat32);
  of_logits.logits = Data<float>(logits);
  RunOnHost(RowLogitsGrid(of_logits), false, [&](HostMachine& machine) {
    if (update) return RowLogitsBlock<T, true, HostMachine>(machine, of_logits).Run();
    RowLogitsBlock<T, false, HostMachine>(machine, of_logits).Run();
  });
  EXPECT_TRUE(logits.Intact()) << Describe(c);
  Guarded expected = rows.ExpectedWeights();
  EXPECT_LE(MaxDifference(Softmaxed(shape, logits, of_logits.keys), expected, rows.weight_count()),
            5e-6)
      << Describe(c);

  RowValuesArguments<T> of_values;
  of_values.weights = Data<float>(expected);
  of_values.v = static_cast<const T*>(rows.inputs.V().data);
  of_values.row_stride = shape.heads * shape.key_rows;
  of_values.head_stride = shape.key_rows;
  of_values.v_stride = rows.inputs.width;
  of_values.query_rows = shape.query_rows;
  of_values.keys = of_logits.keys;
  of_values.heads = shape.heads;
  of_values.key_value_heads = shape.key_value_heads;
  of_values.head_dim = static_cast<int>(shape.head_dim);
  const int64_t count = rows.inputs.OutCount();
  Guarded sums(PartsOf(of_values) * count, Dtype::kFloat32);
  of_values.sums = Data<float>(sums);
  RunOnHost(RowValuesGrid(of_values), true,
            [&](HostMachine& machine) { RowValuesBlock(machine, of_values); });
  EXPECT_TRUE(sums.Intact()) << Describe(c);
  Guarded z(count, Dtype::kFloat32);
  AddPartsArguments<float> of_parts;
  of_parts.sums = Data<float>(sums);
  of_parts.out = Data<float>(z);
  of_parts.parts = PartsOf(of_values);
  of_parts.rows = shape.query_rows;
  of_parts.width = of_parts.out_stride = shape.heads * shape.head_dim;
  RunOnHost(AddPartsGrid(of_parts), false,
            [&](HostMachine& machine) { AddPartsBlock(machine, of_parts); });
  EXPECT_TRUE(z.Intact()) << Describe(c);
  EXPECT_LE(MaxDifference(z, rows.ExpectedZ(expected), count), 5e-6) << Describe(c);
}

TEST(CudaRowAttention, LogitsAndValuesAreThoseOfTheCpu) {
  for (const CaseShape& c : RowCases()) {
    for (const bool update : {false, true}) {
      CheckLogitsAndValues<float>(c, update);
      CheckLogitsAndValues<BFloat16>(c, update);
      CheckLogitsAndValues<Float16>(c, update);
    }
  }
}

// z [rows, heads * head_dim] of parts of the keys from first_key on.
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
  arguments.keys_of_part = keys_of_part;
  const int64_t parts = PartsOf(arguments), count = rows.inputs.OutCount();
  Guarded sums(parts * count, Dtype::kFloat32);
  std::vector<PartShare> shares(
      static_cast<size_t>(parts * rows.shape().query_rows * rows.shape().heads));
  arguments.sums = Data<float>(sums);
  arguments.shares = shares.data();
  RunOnHost(RowAttentionGrid(arguments), backwards, [&](HostMachine& machine) {
    if (arguments.rows.amount) {
      return RowAttentionBlock<T, true, HostMachine>(machine, arguments).Run();
    }
    RowAttentionBlock<T, false, HostMachine>(machine, arguments).Run();
  });
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
  RunOnHost(MergeRowPartsGrid(merge), backwards,
            [&](HostMachine& machine) { MergeRowPartsBlock(machine, merge); });
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
    EXPECT_TRUE(z == RunRowAttention(rows, first_key, keys, true)) << Describe(c);
    EXPECT_LE(MaxDifference(z, expected, rows.inputs.OutCount()), 1e-5) << Describe(c);
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
      // A window that ends within a part, and one that leaves whole parts unseen.
      for (const int64_t window : {0, 100, 2}) {
        c.window = window;
        if (c.near > 0 && window > 0) continue;
        CheckRowAttention<float>(c, update);
        if (window > 0) continue;  // hides keys of any dtype alike
        CheckRowAttention<BFloat16>(c, update);
        CheckRowAttention<Float16>(c, update);
      }
    }
  }
}

}  // namespace
}  // namespace midscope::kernels::cuda
