// SPDX-License-Identifier: MIT
// Contract: each function equals its formula in double within float32 rounding, or one rounding to
// bfloat16; intermediate sums (residual + update) are rounded to the dtype first, and their norm is
// that of the rounded sum to the last bit; any width is accepted; results are equal to the last bit
// for any number of threads; only outputs are written.
#include "kernels/normalise.h"

#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

constexpr int64_t kWidths[] = {1, 3, 15, 16, 17, 24, 31, 33, 64, 65, 576};
constexpr Dtype kNormDtypes[] = {Dtype::kFloat32, Dtype::kBFloat16};
constexpr int64_t kNormRows = 5;
constexpr float kEpsilon = 1e-5f;

// Relative to the result; both allow for a few intermediate float32 roundings.
double Tolerance(Dtype dtype, double value) {
  return std::abs(value) * (dtype == Dtype::kFloat32 ? 2e-6 : 0x1.01p-8) + 1e-6;
}

float* Floats(Guarded& guarded) { return static_cast<float*>(guarded.data()); }

void ExpectNormalised(const Guarded& x, const Guarded& weight, const Guarded& out,
                      const Guarded& inverse, int64_t width, Dtype dtype) {
  for (int64_t row = 0; row < kNormRows; ++row) {
    double squares = 0;
    for (int64_t i = 0; i < width; ++i) squares += std::pow(x.At(row * width + i), 2.0);
    const double want = 1 / std::sqrt(squares / static_cast<double>(width) + kEpsilon);
    ASSERT_NEAR(inverse.At(row), want, want * 2e-6) << "width " << width;
    for (int64_t i = 0; i < width; ++i) {
      const double value = x.At(row * width + i) * want * weight.At(i);
      ASSERT_NEAR(out.At(row * width + i), value, Tolerance(dtype, value)) << "width " << width;
    }
  }
  EXPECT_TRUE(x.Intact() && out.Intact() && inverse.Intact());
}

void CheckNormEqualsItsFormula() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kNormDtypes) {
      Guarded x = Random(kNormRows * width, dtype, 1);
      const Guarded before = x;
      Guarded weight = Random(width, Dtype::kFloat32, 2);
      Guarded out(kNormRows * width, dtype);
      Guarded inverse(kNormRows, Dtype::kFloat32);
      RmsNorm(x.data(), Floats(weight), kEpsilon, kNormRows, width, dtype, out.data(),
              Floats(inverse), ThreadExecutor(2));
      EXPECT_TRUE(x == before);
      ExpectNormalised(x, weight, out, inverse, width, dtype);
      Guarded again(kNormRows * width, dtype);
      RmsNorm(x.data(), Floats(weight), kEpsilon, kNormRows, width, dtype, again.data(), nullptr,
              SerialExecutor());
      EXPECT_TRUE(again == out);
    }
  }
}

TEST(RmsNorm, EqualsItsFormula) { OnEveryTarget(CheckNormEqualsItsFormula); }

void CheckNormalisesTheRoundedSum() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kNormDtypes) {
      Guarded residual = Random(kNormRows * width, dtype, 1);
      Guarded update = Random(kNormRows * width, dtype, 3);
      Guarded sum(kNormRows * width, dtype);
      for (int64_t i = 0; i < kNormRows * width; ++i) sum.Set(i, residual.At(i) + update.At(i));
      Guarded weight = Random(width, Dtype::kFloat32, 2);
      Guarded out(kNormRows * width, dtype);
      Guarded inverse(kNormRows, Dtype::kFloat32);
      AddRmsNorm(residual.data(), update.data(), Floats(weight), kEpsilon, kNormRows, width, dtype,
                 out.data(), Floats(inverse), ThreadExecutor(2));
      EXPECT_TRUE(residual == sum) << "width " << width;
      ExpectNormalised(sum, weight, out, inverse, width, dtype);
      Guarded again(kNormRows * width, dtype), inverse_again(kNormRows, Dtype::kFloat32);
      RmsNorm(sum.data(), Floats(weight), kEpsilon, kNormRows, width, dtype, again.data(),
              Floats(inverse_again), SerialExecutor());
      EXPECT_TRUE(again == out) << "width " << width;
      EXPECT_TRUE(inverse_again == inverse) << "width " << width;
    }
  }
}

TEST(AddRmsNorm, NormalisesTheRoundedSum) { OnEveryTarget(CheckNormalisesTheRoundedSum); }

void CheckIsTheRoundedSum() {
  for (const int64_t count : {1, 15, 16, 17, 33, 16385, 50000}) {
    for (const Dtype dtype : kNormDtypes) {
      Guarded residual = Random(count, dtype, 1);
      Guarded update = Random(count, dtype, 3);
      Guarded sum(count, dtype);
      for (int64_t i = 0; i < count; ++i) sum.Set(i, residual.At(i) + update.At(i));
      Add(residual.data(), update.data(), count, dtype, ThreadExecutor(3));
      EXPECT_TRUE(residual == sum) << "count " << count;
    }
  }
}

TEST(Add, IsTheRoundedSum) { OnEveryTarget(CheckIsTheRoundedSum); }

// The mean is large compared with the deviations, so that a difference of squares would cancel.
void ExpectLayerNormalised(const Guarded& x, const Guarded& weight, const Guarded* bias,
                           const Guarded& out, const Guarded& means, const Guarded& inverses,
                           int64_t width, Dtype dtype) {
  for (int64_t row = 0; row < kNormRows; ++row) {
    double mean = 0, squares = 0;
    for (int64_t i = 0; i < width; ++i) mean += x.At(row * width + i) / static_cast<double>(width);
    for (int64_t i = 0; i < width; ++i) squares += std::pow(x.At(row * width + i) - mean, 2.0);
    const double inverse = 1 / std::sqrt(squares / static_cast<double>(width) + kEpsilon);
    ASSERT_NEAR(means.At(row), mean, 2e-5) << "width " << width;
    ASSERT_NEAR(inverses.At(row), inverse, inverse * 1e-5) << "width " << width;
    for (int64_t i = 0; i < width; ++i) {
      const double scaled = (x.At(row * width + i) - mean) * inverse * weight.At(i);
      const double value = scaled + (bias ? bias->At(i) : 0.0f);
      // With short vectors, a mean of 20 is a sum of 144 terms in sequence, with an error of 2e-5,
      // which `inverse` scales.
      const double slack = 2e-5 * std::abs(weight.At(i)) * std::max(1.0, inverse);
      ASSERT_NEAR(out.At(row * width + i), value, Tolerance(dtype, value) + slack)
          << "width " << width;
    }
  }
  EXPECT_TRUE(x.Intact() && out.Intact() && means.Intact() && inverses.Intact());
}

void CheckLayerNorm() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kNormDtypes) {
      Guarded x = Random(kNormRows * width, dtype, 1);
      for (int64_t i = 0; i < kNormRows * width; ++i) x.Set(i, x.At(i) + 20.0f);
      Guarded update = Random(kNormRows * width, dtype, 3);
      Guarded sum(kNormRows * width, dtype);
      for (int64_t i = 0; i < kNormRows * width; ++i) sum.Set(i, x.At(i) + update.At(i));
      const Guarded before = x;
      Guarded weight = Random(width, Dtype::kFloat32, 2), bias = Random(width, Dtype::kFloat32, 4);
      Guarded out(kNormRows * width, dtype), mean(kNormRows, Dtype::kFloat32), inverse = mean;
      LayerNorm(x.data(), Floats(weight), Floats(bias), kEpsilon, kNormRows, width, dtype,
                out.data(), Floats(mean), Floats(inverse), ThreadExecutor(2));
      EXPECT_TRUE(x == before);
      ExpectLayerNormalised(x, weight, &bias, out, mean, inverse, width, dtype);
      AddLayerNorm(x.data(), update.data(), Floats(weight), nullptr, kEpsilon, kNormRows, width,
                   dtype, out.data(), Floats(mean), Floats(inverse), ThreadExecutor(2));
      EXPECT_TRUE(x == sum) << "width " << width;
      ExpectLayerNormalised(sum, weight, nullptr, out, mean, inverse, width, dtype);
      Guarded again(kNormRows * width, dtype);
      LayerNorm(sum.data(), Floats(weight), nullptr, kEpsilon, kNormRows, width, dtype,
                again.data(), nullptr, nullptr, SerialExecutor());
      EXPECT_TRUE(again == out);
    }
  }
}

TEST(LayerNorm, EqualsItsFormula) { OnEveryTarget(CheckLayerNorm); }

// Normalises heads of q within fused rows of q, k and v; the elements between them are unchanged.
void CheckNormalisesStridedHeads(Dtype dtype, Dtype out_dtype, int64_t head_dim) {
  const int64_t heads = 3, stride = head_dim + 2, row_stride = heads * stride + 5;
  Guarded x = Random(kNormRows * row_stride, dtype, 1);
  Guarded weight = Random(head_dim, Dtype::kFloat32, 2);
  Guarded out = Random(kNormRows * row_stride, out_dtype, 3);
  const Guarded before = out;
  RmsNormHeads({x.data(), dtype, row_stride, stride}, Floats(weight), kEpsilon, kNormRows, heads,
               head_dim, {out.data(), out_dtype, row_stride, stride}, ThreadExecutor(2));
  for (int64_t at = 0; at < kNormRows * row_stride; ++at) {
    const int64_t within = at % row_stride, i = within % stride;
    if (within >= heads * stride || i >= head_dim) {
      ASSERT_EQ(out.At(at), before.At(at)) << "between heads";
      continue;
    }
    double squares = 0;
    for (int64_t j = 0; j < head_dim; ++j) squares += std::pow(x.At(at - i + j), 2.0);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(head_dim) + kEpsilon);
    const double want = x.At(at) * scale * weight.At(i);
    ASSERT_NEAR(out.At(at), want, Tolerance(out_dtype, want)) << "head_dim " << head_dim;
  }
  EXPECT_TRUE(out.Intact());
  if (dtype != out_dtype) return;
  RmsNormHeads({x.data(), dtype, row_stride, stride}, Floats(weight), kEpsilon, kNormRows, heads,
               head_dim, {x.data(), dtype, row_stride, stride}, SerialExecutor());
  for (int64_t at = 0; at < kNormRows * row_stride; ++at) {
    const int64_t within = at % row_stride;
    if (within >= heads * stride || within % stride >= head_dim) continue;
    ASSERT_EQ(x.At(at), out.At(at)) << "in place";
  }
}

TEST(RmsNormHeads, NormalisesEachHeadInPlaceAndStrided) {
  OnEveryTarget([] {
    for (const int64_t head_dim : kWidths) {
      for (const Dtype dtype : kNormDtypes) {
        for (const Dtype out_dtype : kNormDtypes)
          CheckNormalisesStridedHeads(dtype, out_dtype, head_dim);
      }
    }
  });
}

void CheckAddsTheBias() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kNormDtypes) {
      const int64_t stride = width + 3;
      Guarded x = Random(kNormRows * stride, dtype, 1);
      Guarded bias = Random(width, Dtype::kFloat32, 2);
      Guarded expected = x;
      for (int64_t at = 0; at < kNormRows * stride; ++at) {
        if (at % stride < width) expected.Set(at, x.At(at) + bias.At(at % stride));
      }
      AddBias(x.data(), stride, Floats(bias), kNormRows, width, dtype, ThreadExecutor(2));
      EXPECT_TRUE(x == expected) << "width " << width;
    }
  }
}

TEST(AddBias, IsTheRoundedSumOfEachRow) { OnEveryTarget(CheckAddsTheBias); }

void CheckEqualsItsFormulaInPlaceAndStrided() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kNormDtypes) {
      const int64_t x_stride = width + 7, out_stride = width + 2;
      Guarded x = Random(kNormRows * x_stride, dtype, 1);
      Guarded amount = Random(kNormRows, Dtype::kFloat32, 2);
      Guarded direction = Random(width, Dtype::kFloat32, 3);
      Guarded out = Random(kNormRows * out_stride, dtype, 4);
      const Guarded before = out;
      RankOneUpdate(x.data(), x_stride, Floats(amount), Floats(direction), kNormRows, width, dtype,
                    out.data(), out_stride, ThreadExecutor(2));
      for (int64_t row = 0; row < kNormRows; ++row) {
        for (int64_t i = 0; i < out_stride; ++i) {
          const int64_t at = row * out_stride + i;
          if (i >= width) {
            ASSERT_EQ(out.At(at), before.At(at)) << "between rows";
            continue;
          }
          const double want =
              x.At(row * x_stride + i) - static_cast<double>(amount.At(row)) * direction.At(i);
          ASSERT_NEAR(out.At(at), want, Tolerance(dtype, want)) << "width " << width;
        }
      }
      EXPECT_TRUE(out.Intact());
      RankOneUpdate(x.data(), x_stride, Floats(amount), Floats(direction), kNormRows, width, dtype,
                    x.data(), x_stride, SerialExecutor());
      for (int64_t row = 0; row < kNormRows; ++row) {
        for (int64_t i = 0; i < width; ++i) {
          ASSERT_EQ(x.At(row * x_stride + i), out.At(row * out_stride + i)) << "in place";
        }
      }
    }
  }
}

TEST(RankOneUpdate, EqualsItsFormulaInPlaceAndStrided) {
  OnEveryTarget(CheckEqualsItsFormulaInPlaceAndStrided);
}

TEST(RmsNorm, IsBitEqualForAnyNumberOfThreads) {
  const int64_t rows = 301, width = 129;
  Guarded x = Random(rows * width, Dtype::kFloat32, 1);
  Guarded weight = Random(width, Dtype::kFloat32, 2);
  Guarded serial(rows * width, Dtype::kFloat32);
  RmsNorm(x.data(), Floats(weight), kEpsilon, rows, width, Dtype::kFloat32, serial.data(), nullptr,
          SerialExecutor());
  for (const int threads : {1, 2, 3}) {
    Guarded out(rows * width, Dtype::kFloat32);
    RmsNorm(x.data(), Floats(weight), kEpsilon, rows, width, Dtype::kFloat32, out.data(), nullptr,
            ThreadExecutor(threads));
    EXPECT_TRUE(out == serial);
  }
}

}  // namespace
}  // namespace midscope::kernels
