// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels of rows, run on the CPU block by block, against the CPU's kernels.
//
// Contract: norms, activations and updates within float32 rounding, or one rounding to bfloat16 or
// float16; merged parts likewise; attention weights of logits within 5e-6; values within float32
// rounding of longer sums; the same bits in any order of threads between two barriers; nothing
// written but the output.
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/merge_parts.h"
#include "kernels/cuda/move_rows.h"
#include "kernels/cuda/normalise.h"
#include "tests/kernels/support/attention_case.h"

namespace midscope::kernels::cuda {
namespace {

constexpr int64_t kRows = 3;
constexpr float kEpsilon = 1e-5f;

template <class T>
constexpr double kRounding = std::is_same_v<T, float>      ? 1e-5
                             : std::is_same_v<T, BFloat16> ? 4e-2
                                                           : 5e-3;

template <class T>
T* Data(Guarded& guarded) {
  return static_cast<T*>(guarded.data());
}

template <class T>
void CheckNorms(bool centred, bool update) {
  for (const int64_t width : {8, 24, 576, 2056, 4104}) {
    const int64_t count = kRows * width;
    Guarded x = Random(count, kDtypeOf<T>, 1);
    Guarded more = Random(count, kDtypeOf<T>, 2);
    Guarded weight = Random(width, Dtype::kFloat32, 3);
    Guarded bias = Random(width, Dtype::kFloat32, 4);
    Guarded expected(count, Dtype::kFloat32);
    Guarded mean(kRows, Dtype::kFloat32), scale(kRows, Dtype::kFloat32);
    Guarded residual = x;
    for (int64_t i = 0; update && i < count; ++i) residual.Set(i, x.At(i) + more.At(i));
    Guarded wide = Widened(residual, count);
    if (centred) {
      LayerNorm(wide.data(), Data<float>(weight), Data<float>(bias), kEpsilon, kRows, width,
                Dtype::kFloat32, expected.data(), Data<float>(mean), Data<float>(scale),
                SerialExecutor());
    } else {
      RmsNorm(wide.data(), Data<float>(weight), kEpsilon, kRows, width, Dtype::kFloat32,
              expected.data(), Data<float>(scale), SerialExecutor());
    }
    std::vector<Guarded> results;
    for (const bool backwards : {false, true}) {
      Guarded stream = x, out(count, kDtypeOf<T>);
      Guarded got_mean = mean, got_scale(kRows, Dtype::kFloat32);
      NormaliseArguments<T> arguments;
      arguments.x = Data<T>(stream);
      if (update) arguments.update = Data<T>(more);
      arguments.weight = Data<float>(weight);
      if (centred) arguments.bias = Data<float>(bias);
      arguments.out = Data<T>(out);
      arguments.mean = Data<float>(got_mean);
      arguments.scale = Data<float>(got_scale);
      arguments.rows = kRows;
      arguments.width = width;
      arguments.epsilon = kEpsilon;
      arguments.centred = centred;
      RunOnHost(NormaliseGrid(arguments), backwards,
                [&](HostMachine& machine) { NormaliseBlock(machine, arguments); });
      EXPECT_LE(MaxDifference(out, expected, count), kRounding<T>) << width;
      EXPECT_LE(MaxDifference(got_scale, scale, kRows), 1e-5) << width;
      EXPECT_LE(MaxDifference(got_mean, mean, kRows), 1e-5) << width;
      EXPECT_TRUE(stream == residual) << width;
      EXPECT_TRUE(out.Intact() && stream.Intact());
      results.push_back(out);
    }
    EXPECT_TRUE(results[0] == results[1]) << width << " depends on the order of threads";
  }
}

TEST(CudaRows, NormsAreThoseOfTheCpu) {
  for (const bool centred : {false, true}) {
    for (const bool update : {false, true}) {
      CheckNorms<float>(centred, update);
      CheckNorms<BFloat16>(centred, update);
      CheckNorms<Float16>(centred, update);
    }
  }
}

template <class T>
void CheckActivations(ActivationKind kind) {
  // A narrow result of up to 40 is rounded, what it is held against is not.
  constexpr double kTolerance = (std::is_same_v<T, float> ? 1 : 4) * kRounding<T>;
  for (const int64_t width : {8, 104, 2056}) {
    Guarded x = Random(2 * kRows * width, kDtypeOf<T>, 1);
    Guarded wide = Widened(x, 2 * kRows * width);
    Guarded expected(kRows * width, Dtype::kFloat32), out(kRows * width, kDtypeOf<T>);
    GatedActivation(kind, wide.data(), kRows, width, Dtype::kFloat32, expected.data(),
                    SerialExecutor());
    ActivateArguments<T> arguments;
    arguments.gate = Data<T>(x);
    arguments.up = Data<T>(x) + width;
    arguments.out = Data<T>(out);
    arguments.x_stride = 2 * width;
    arguments.out_stride = width;
    arguments.rows = kRows;
    arguments.width = width;
    arguments.kind = kind;
    RunOnHost(ActivateGrid(arguments), false,
              [&](HostMachine& machine) { ActivateBlock(machine, arguments); });
    EXPECT_LE(MaxDifference(out, expected, kRows * width), kTolerance) << width;
    EXPECT_TRUE(out.Intact());

    Activate(kind, wide.data(), kRows * width, Dtype::kFloat32, expected.data(), SerialExecutor());
    arguments.up = nullptr;
    arguments.out = Data<T>(x);  // in place
    arguments.x_stride = width;
    RunOnHost(ActivateGrid(arguments), false,
              [&](HostMachine& machine) { ActivateBlock(machine, arguments); });
    EXPECT_LE(MaxDifference(x, expected, kRows * width), kTolerance) << width;
  }
}

TEST(CudaRows, ActivationsAreThoseOfTheCpu) {
  for (const ActivationKind kind :
       {ActivationKind::kSilu, ActivationKind::kGelu, ActivationKind::kGeluTanh,
        ActivationKind::kRelu, ActivationKind::kSquaredRelu}) {
    CheckActivations<float>(kind);
    CheckActivations<BFloat16>(kind);
    CheckActivations<Float16>(kind);
  }
}

template <class T>
void CheckRankOneUpdate() {
  const int64_t width = 2056;
  const int64_t stride = width + 16;
  Guarded x = Random(kRows * stride, kDtypeOf<T>, 1);
  Guarded amount = Random(kRows, Dtype::kFloat32, 2);
  Guarded direction = Random(width, Dtype::kFloat32, 3);
  Guarded wide = Widened(x, kRows * stride);
  Guarded expected(kRows * width, Dtype::kFloat32), out(kRows * width, kDtypeOf<T>);
  kernels::RankOneUpdate(wide.data(), stride, Data<float>(amount), Data<float>(direction), kRows,
                         width, Dtype::kFloat32, expected.data(), width, SerialExecutor());
  RankOneArguments<T> arguments;
  arguments.x = Data<T>(x);
  arguments.amount = Data<float>(amount);
  arguments.direction = Data<float>(direction);
  arguments.out = Data<T>(out);
  arguments.x_stride = stride;
  arguments.out_stride = width;
  arguments.rows = kRows;
  arguments.width = width;
  RunOnHost(RankOneGrid(arguments), false,
            [&](HostMachine& machine) { RankOneBlock(machine, arguments); });
  EXPECT_LE(MaxDifference(out, expected, kRows * width), kRounding<T>);
  EXPECT_TRUE(out.Intact());
}

TEST(CudaRows, RankOneUpdatesAreThoseOfTheCpu) {
  CheckRankOneUpdate<float>();
  CheckRankOneUpdate<BFloat16>();
  CheckRankOneUpdate<Float16>();
}

// Two parts of 5 heads of 24, of which the second begins with the first's row 2.
template <class T>
void CheckMergedParts() {
  constexpr int64_t kHeads = 5, kDim = 24, kFirst = 2, kWidth = kHeads * kDim;
  constexpr int64_t kAll = kFirst + kRows;
  Guarded near = Random(kAll * kWidth, kDtypeOf<T>, 1);
  Guarded far = Random(kRows * kWidth, kDtypeOf<T>, 2);
  Guarded near_sums = Random(kHeads * kAll, Dtype::kFloat32, 3);
  Guarded far_sums = Random(kHeads * kRows, Dtype::kFloat32, 4);
  far_sums.Set(0, 200);  // all of the first weight, none of the second
  far_sums.Set(kRows, -200);
  Guarded expected = Widened(near, kAll * kWidth);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t i = 0; i < kWidth; ++i) {
      const double a = std::exp(double{near_sums.At(i / kDim * kAll + kFirst + row)});
      const double b = std::exp(double{far_sums.At(i / kDim * kRows + row)});
      const int64_t at = (kFirst + row) * kWidth + i;
      const double sum = a * near.At(at) + b * far.At(row * kWidth + i);
      expected.Set(at, static_cast<float>(sum / (a + b)));
    }
  }
  MergePartsArguments<T> arguments;
  arguments.near = Data<T>(near) + kFirst * kWidth;
  arguments.far = Data<T>(far);
  arguments.near_sums = Data<float>(near_sums) + kFirst;
  arguments.far_sums = Data<float>(far_sums);
  arguments.near_stride = arguments.far_stride = kWidth;
  arguments.near_sums_stride = kAll;
  arguments.far_sums_stride = kRows;
  arguments.rows = kRows;
  arguments.heads = kHeads;
  arguments.head_dim = kDim;
  RunOnHost(MergePartsGrid(arguments), false,
            [&](HostMachine& machine) { MergePartsBlock(machine, arguments); });
  EXPECT_LE(MaxDifference(near, expected, kAll * kWidth), kRounding<T>);
  EXPECT_TRUE(near.Intact());
}

TEST(CudaRows, PartsOfTheKeysMerge) {
  CheckMergedParts<float>();
  CheckMergedParts<BFloat16>();
  CheckMergedParts<Float16>();
}

TEST(CudaRows, RowsSplitInHalves) {
  constexpr int64_t kWidth = 24, kStride = 64, kFirstStride = 32;
  Guarded from = Random(kRows * kStride, Dtype::kFloat32, 1);
  Guarded first(kRows * kFirstStride, Dtype::kFloat32), second(kRows * kWidth, Dtype::kFloat32);
  constexpr int64_t kOfWord = 4;
  SplitRowsArguments arguments;
  arguments.from = static_cast<const Words*>(from.data());
  arguments.first = static_cast<Words*>(first.data());
  arguments.second = static_cast<Words*>(second.data());
  arguments.from_stride = kStride / kOfWord;
  arguments.first_stride = kFirstStride / kOfWord;
  arguments.second_stride = kWidth / kOfWord;
  arguments.rows = kRows;
  arguments.words = kWidth / kOfWord;
  RunOnHost(SplitRowsGrid(arguments), false,
            [&](HostMachine& machine) { SplitRowsBlock(machine, arguments); });
  for (int64_t i = 0; i < kRows * kWidth; ++i) {
    const int64_t at = i / kWidth * kStride + i % kWidth;
    EXPECT_EQ(first.At(i / kWidth * kFirstStride + i % kWidth), from.At(at));
    EXPECT_EQ(second.At(i), from.At(at + kWidth));
  }
  EXPECT_TRUE(first.Intact() && second.Intact());
}

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

template <class T>
void CheckRowsOfAttention(CaseShape c, bool update) {
  c.dtype = kDtypeOf<T>;
  AttentionCase inputs(c);
  AttentionCase wide = WideCase(c, inputs);
  const int64_t key_width = c.key_value_heads * c.head_dim;
  Guarded amount = Random(inputs.shape.key_rows, Dtype::kFloat32, 5);
  Guarded direction = Random(key_width, Dtype::kFloat32, 6);
  for (int64_t i = 0; update && i < inputs.shape.key_rows * key_width; ++i) {
    const int64_t at = i / key_width * wide.width + c.heads * c.head_dim + i % key_width;
    wide.fused.Set(at, wide.fused.At(at) - amount.At(i / key_width) * direction.At(i % key_width));
  }
  const AttentionShape& shape = inputs.shape;
  const HeadPositions positions = inputs.Positions();
  std::vector<AttentionHead> heads(static_cast<size_t>(shape.heads));
  for (size_t h = 0; h < heads.size(); ++h) {
    heads[h].q = TableOf(positions.q[h]);
    heads[h].k = TableOf(positions.k[h]);
    if (c.near > 0) heads[h].far_q = TableOf(positions.far.q[h]);
    if (c.near > 0) heads[h].far_k = TableOf(positions.far.k[h]);
    heads[h].scale = positions.scale[h];
  }
  const int64_t keys = shape.first_query + shape.query_rows;
  Guarded logits(shape.heads * shape.query_rows * keys, Dtype::kFloat32);
  RowLogitsArguments<T> of_logits;
  of_logits.q = static_cast<const T*>(inputs.Q().data);
  of_logits.k = static_cast<const T*>(inputs.K().data);
  of_logits.logits = Data<float>(logits);
  of_logits.q_stride = of_logits.k_stride = inputs.width;
  of_logits.query_rows = shape.query_rows;
  of_logits.first_query = shape.first_query;
  of_logits.keys = keys;
  of_logits.heads = shape.heads;
  of_logits.key_value_heads = shape.key_value_heads;
  of_logits.near = c.near;
  of_logits.head_dim = static_cast<int>(shape.head_dim);
  of_logits.tables = heads.data();
  if (update) of_logits.amount = Data<float>(amount);
  if (update) of_logits.direction = Data<float>(direction);
  RunOnHost(RowLogitsGrid(of_logits), false, [&](HostMachine& machine) {
    if (update) return RowLogitsBlock<T, true, HostMachine>(machine, of_logits).Run();
    RowLogitsBlock<T, false, HostMachine>(machine, of_logits).Run();
  });
  EXPECT_TRUE(logits.Intact()) << Describe(c);
  const int64_t count = shape.query_rows * shape.heads * shape.key_rows;
  Guarded expected(count, Dtype::kFloat32);
  AttentionWeights(shape, wide.Q(), wide.K(), positions, Data<float>(expected), SerialExecutor());
  EXPECT_LE(MaxDifference(Softmaxed(shape, logits, keys), expected, count), 5e-6) << Describe(c);

  RowValuesArguments<T> of_values;
  of_values.weights = Data<float>(expected);
  of_values.v = static_cast<const T*>(inputs.V().data);
  of_values.row_stride = shape.heads * shape.key_rows;
  of_values.head_stride = shape.key_rows;
  of_values.v_stride = inputs.width;
  of_values.query_rows = shape.query_rows;
  of_values.keys = keys;
  of_values.heads = shape.heads;
  of_values.key_value_heads = shape.key_value_heads;
  of_values.head_dim = static_cast<int>(shape.head_dim);
  Guarded sums(PartsOf(of_values) * inputs.OutCount(), Dtype::kFloat32);
  of_values.sums = Data<float>(sums);
  RunOnHost(RowValuesGrid(of_values), true,
            [&](HostMachine& machine) { RowValuesBlock(machine, of_values); });
  EXPECT_TRUE(sums.Intact()) << Describe(c);
  Guarded z(inputs.OutCount(), Dtype::kFloat32);
  AddPartsArguments<float> of_parts;
  of_parts.sums = Data<float>(sums);
  of_parts.out = Data<float>(z);
  of_parts.parts = PartsOf(of_values);
  of_parts.rows = shape.query_rows;
  of_parts.width = of_parts.out_stride = shape.heads * shape.head_dim;
  RunOnHost(AddPartsGrid(of_parts), false,
            [&](HostMachine& machine) { AddPartsBlock(machine, of_parts); });
  EXPECT_TRUE(z.Intact()) << Describe(c);
  Guarded expected_z(inputs.OutCount(), Dtype::kFloat32);
  WeightedValues(shape, Data<float>(expected), wide.V(), inputs.Out(expected_z, Dtype::kFloat32),
                 SerialExecutor());
  EXPECT_LE(MaxDifference(z, expected_z, inputs.OutCount()), 5e-6) << Describe(c);
}

TEST(CudaRows, LogitsAndValuesAreThoseOfTheCpu) {
  for (const CaseShape& c : RowCases()) {
    for (const bool update : {false, true}) {
      CheckRowsOfAttention<float>(c, update);
      CheckRowsOfAttention<BFloat16>(c, update);
      CheckRowsOfAttention<Float16>(c, update);
    }
  }
}

}  // namespace
}  // namespace midscope::kernels::cuda
