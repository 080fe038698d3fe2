// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels for rows, run on the CPU block by block, compared with the CPU's
// kernels.
//
// Contract: norms, activations and updates are within float32 rounding, or one rounding to bfloat16
// or float16; so are merged parts; attention weights of logits are within 5e-6; values, and
// attention without weights, are within float32 rounding of longer sums; the bits do not depend on
// the order of threads between two barriers; only the output is written.
#include <gtest/gtest.h>

#include "kernels/cuda/launch.h"
#include "kernels/cuda/move_rows.h"
#include "kernels/cuda/normalise.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/launch_on_host.h"

namespace midscope::kernels::cuda {
namespace {

constexpr int64_t kBlockRows = 3;
constexpr float kEpsilon = 1e-5f;

template <class T>
constexpr double kRounding = std::is_same_v<T, float>      ? 1e-5
                             : std::is_same_v<T, BFloat16> ? 4e-2
                                                           : 5e-3;

template <class T>
void CheckNorms(bool centred, bool update) {
  for (const int64_t width : {8, 24, 576, 2056, 4104}) {
    const int64_t count = kBlockRows * width;
    Guarded x = Random(count, kDtypeOf<T>, 1);
    Guarded more = Random(count, kDtypeOf<T>, 2);
    Guarded weight = Random(width, Dtype::kFloat32, 3);
    Guarded bias = Random(width, Dtype::kFloat32, 4);
    Guarded expected(count, Dtype::kFloat32);
    Guarded mean(kBlockRows, Dtype::kFloat32), scale(kBlockRows, Dtype::kFloat32);
    Guarded residual = x;
    for (int64_t i = 0; update && i < count; ++i) residual.Set(i, x.At(i) + more.At(i));
    Guarded wide = Widened(residual, count);
    if (centred) {
      LayerNorm(wide.data(), Data<float>(weight), Data<float>(bias), kEpsilon, kBlockRows, width,
                Dtype::kFloat32, expected.data(), Data<float>(mean), Data<float>(scale),
                SerialExecutor());
    } else {
      RmsNorm(wide.data(), Data<float>(weight), kEpsilon, kBlockRows, width, Dtype::kFloat32,
              expected.data(), Data<float>(scale), SerialExecutor());
    }
    std::vector<Guarded> results;
    for (const bool backwards : {false, true}) {
      Guarded stream = x, added = more, out(count, kDtypeOf<T>), kept(count, kDtypeOf<T>);
      Guarded got_mean = mean, got_scale(kBlockRows, Dtype::kFloat32);
      NormaliseArguments<T> arguments;
      arguments.x = Data<T>(stream);
      if (update) arguments.update = Data<T>(added);
      arguments.weight = Data<float>(weight);
      if (centred) arguments.bias = Data<float>(bias);
      arguments.out = Data<T>(out);
      arguments.mean = Data<float>(got_mean);
      arguments.scale = Data<float>(got_scale);
      if (backwards) arguments.kept = Data<T>(kept);
      arguments.rows = kBlockRows;
      arguments.width = width;
      arguments.epsilon = kEpsilon;
      arguments.centred = centred;
      // Earlier work writes the rows and updates.
      const auto earlier = [make = TakenAway(stream), make_more = TakenAway(added)] {
        make();
        make_more();
      };
      test::InOrder(
          backwards, [&] { Normalise(arguments); }, earlier);
      EXPECT_LE(MaxDifference(out, expected, count), kRounding<T>) << width;
      EXPECT_LE(MaxDifference(got_scale, scale, kBlockRows), 1e-5) << width;
      if (centred) {
        EXPECT_LE(MaxDifference(got_mean, mean, kBlockRows), 1e-5) << width;
      } else {
        EXPECT_TRUE(got_mean == mean) << width << " wrote a mean";
      }
      EXPECT_TRUE(stream == residual) << width;
      EXPECT_TRUE(!backwards || kept == residual) << width;
      EXPECT_TRUE(out.Intact() && stream.Intact() && kept.Intact());
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

// Checks one column of the norm's output, computed from the norm's statistics.
template <class T>
void CheckColumnsOfNorms(bool centred) {
  constexpr int64_t kMany = 300, kWidth = 24;
  Guarded x = Random(kMany * kWidth, kDtypeOf<T>, 1);
  Guarded weight = Random(kWidth, Dtype::kFloat32, 2), bias = Random(kWidth, Dtype::kFloat32, 3);
  Guarded mean(kMany, Dtype::kFloat32), scale(kMany, Dtype::kFloat32);
  Guarded normalised(kMany * kWidth, kDtypeOf<T>);
  NormaliseArguments<T> norm;
  norm.x = Data<T>(x);
  norm.weight = Data<float>(weight);
  if (centred) norm.bias = Data<float>(bias);
  norm.out = Data<T>(normalised);
  if (centred) norm.mean = Data<float>(mean);
  norm.scale = Data<float>(scale);
  norm.rows = kMany;
  norm.width = kWidth;
  norm.epsilon = kEpsilon;
  norm.centred = centred;
  Normalise(norm);
  for (int64_t i = 0; i < kWidth; ++i) {
    Guarded out(kMany, Dtype::kFloat32);
    NormalisedColumnArguments<T> column;
    column.column = norm.x + i;
    column.mean = norm.mean;
    column.scale = norm.scale;
    column.out = Data<float>(out);
    column.stride = kWidth;
    column.rows = kMany;
    column.weight = weight.At(i);
    if (centred) column.bias = bias.At(i);
    // The factor is passed as a value, or as a pointer to the GPU's memory.
    float factor = 0.75f;
    if (i % 2 == 0) column.factor = factor;
    if (i % 2 == 1) column.factor_on_gpu = &factor;
    NormalisedColumn(column);
    for (int64_t row = 0; row < kMany; ++row) {
      ASSERT_EQ(out.At(row), 0.75f * normalised.At(row * kWidth + i)) << row << ", " << i;
    }
    EXPECT_TRUE(out.Intact());
  }
}

TEST(CudaRows, ColumnsOfNormsAreThoseOfTheNorm) {
  for (const bool centred : {false, true}) {
    CheckColumnsOfNorms<float>(centred);
    CheckColumnsOfNorms<BFloat16>(centred);
    CheckColumnsOfNorms<Float16>(centred);
  }
}

template <class T>
void CheckActivations(ActivationKind kind) {
  // A bfloat16 or float16 result of up to 40 is rounded; the expected value is not.
  constexpr double kTolerance = (std::is_same_v<T, float> ? 1 : 4) * kRounding<T>;
  for (const int64_t width : {8, 104, 2056}) {
    Guarded x = Random(2 * kBlockRows * width, kDtypeOf<T>, 1);
    Guarded wide = Widened(x, 2 * kBlockRows * width);
    Guarded expected(kBlockRows * width, Dtype::kFloat32), out(kBlockRows * width, kDtypeOf<T>);
    GatedActivation(kind, wide.data(), kBlockRows, width, Dtype::kFloat32, expected.data(),
                    SerialExecutor());
    ActivateArguments<T> arguments;
    arguments.gate = Data<T>(x);
    arguments.up = Data<T>(x) + width;
    arguments.out = Data<T>(out);
    arguments.x_stride = 2 * width;
    arguments.out_stride = width;
    arguments.rows = kBlockRows;
    arguments.width = width;
    arguments.kind = kind;
    Activate(arguments);
    EXPECT_LE(MaxDifference(out, expected, kBlockRows * width), kTolerance) << width;
    EXPECT_TRUE(out.Intact());

    Activate(kind, wide.data(), kBlockRows * width, Dtype::kFloat32, expected.data(),
             SerialExecutor());
    arguments.up = nullptr;
    arguments.out = Data<T>(x);  // in place
    arguments.x_stride = width;
    Activate(arguments);
    EXPECT_LE(MaxDifference(x, expected, kBlockRows * width), kTolerance) << width;
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
  Guarded x = Random(kBlockRows * stride, kDtypeOf<T>, 1);
  Guarded amount = Random(kBlockRows, Dtype::kFloat32, 2);
  Guarded direction = Random(width, Dtype::kFloat32, 3);
  Guarded wide = Widened(x, kBlockRows * stride);
  Guarded expected(kBlockRows * width, Dtype::kFloat32), out(kBlockRows * width, kDtypeOf<T>);
  kernels::RankOneUpdate(wide.data(), stride, Data<float>(amount), Data<float>(direction),
                         kBlockRows, width, Dtype::kFloat32, expected.data(), width,
                         SerialExecutor());
  RankOneArguments<T> arguments;
  arguments.x = Data<T>(x);
  arguments.amount = Data<float>(amount);
  arguments.direction = Data<float>(direction);
  arguments.out = Data<T>(out);
  arguments.x_stride = stride;
  arguments.out_stride = width;
  arguments.rows = kBlockRows;
  arguments.width = width;
  RankOneUpdate(arguments);
  EXPECT_LE(MaxDifference(out, expected, kBlockRows * width), kRounding<T>);
  EXPECT_TRUE(out.Intact());
}

TEST(CudaRows, RankOneUpdatesAreThoseOfTheCpu) {
  CheckRankOneUpdate<float>();
  CheckRankOneUpdate<BFloat16>();
  CheckRankOneUpdate<Float16>();
}

// Two parts of 5 heads of 24; the second begins at row 2 of the first.
template <class T>
void CheckMergedParts() {
  constexpr int64_t kHeads = 5, kDim = 24, kFirst = 2, kWidth = kHeads * kDim;
  constexpr int64_t kAll = kFirst + kBlockRows;
  Guarded near = Random(kAll * kWidth, kDtypeOf<T>, 1);
  Guarded far = Random(kBlockRows * kWidth, kDtypeOf<T>, 2);
  Guarded near_sums = Random(kHeads * kAll, Dtype::kFloat32, 3);
  Guarded far_sums = Random(kHeads * kBlockRows, Dtype::kFloat32, 4);
  far_sums.Set(0, 200);  // the weight of the first part is 1, that of the second 0
  far_sums.Set(kBlockRows, -200);
  Guarded expected = Widened(near, kAll * kWidth);
  for (int64_t row = 0; row < kBlockRows; ++row) {
    for (int64_t i = 0; i < kWidth; ++i) {
      const double a = std::exp(double{near_sums.At(i / kDim * kAll + kFirst + row)});
      const double b = std::exp(double{far_sums.At(i / kDim * kBlockRows + row)});
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
  arguments.far_sums_stride = kBlockRows;
  arguments.rows = kBlockRows;
  arguments.heads = kHeads;
  arguments.head_dim = kDim;
  MergeParts(arguments);
  EXPECT_LE(MaxDifference(near, expected, kAll * kWidth), kRounding<T>);
  EXPECT_TRUE(near.Intact());
}

TEST(CudaRows, PartsOfTheKeysMerge) {
  CheckMergedParts<BFloat16>();
  CheckMergedParts<Float16>();
}

TEST(CudaRows, RowsSplitInHalves) {
  constexpr int64_t kWidth = 24, kStride = 64, kFirstStride = 32;
  Guarded from = Random(kBlockRows * kStride, Dtype::kFloat32, 1);
  Guarded first(kBlockRows * kFirstStride, Dtype::kFloat32),
      second(kBlockRows * kWidth, Dtype::kFloat32);
  constexpr int64_t kOfWord = 4;
  SplitRowsArguments arguments;
  arguments.from = static_cast<const Words*>(from.data());
  arguments.first = static_cast<Words*>(first.data());
  arguments.second = static_cast<Words*>(second.data());
  arguments.from_stride = kStride / kOfWord;
  arguments.first_stride = kFirstStride / kOfWord;
  arguments.second_stride = kWidth / kOfWord;
  arguments.rows = kBlockRows;
  arguments.words = kWidth / kOfWord;
  SplitRows(arguments);
  for (int64_t i = 0; i < kBlockRows * kWidth; ++i) {
    const int64_t at = i / kWidth * kStride + i % kWidth;
    EXPECT_EQ(first.At(i / kWidth * kFirstStride + i % kWidth), from.At(at));
    EXPECT_EQ(second.At(i), from.At(at + kWidth));
  }
  EXPECT_TRUE(first.Intact() && second.Intact());
}

}  // namespace
}  // namespace midscope::kernels::cuda
