// SPDX-License-Identifier: MIT
// Contract: each function equals its formula in double within float32 rounding, or one rounding to
// bfloat16; in-between sums (residual + update) are rounded to the dtype first; any width; equal to
// the last bit for any number of threads; writes nothing but its outputs.
#include "kernels/normalise.h"

#include "tests/kernels/attention_case.h"
#include "tests/kernels/every_target.h"
#include "tests/kernels/thread_executor.h"

namespace midscope::kernels {
namespace {

constexpr int64_t kWidths[] = {1, 3, 15, 16, 17, 31, 33, 64, 65, 576};
constexpr Dtype kDtypes[] = {Dtype::kFloat32, Dtype::kBFloat16};
constexpr int64_t kRows = 5;
constexpr float kEpsilon = 1e-5f;

// Relative to the result; both allow for a few float32 roundings on the way.
double Tolerance(Dtype dtype, double value) {
  return std::abs(value) * (dtype == Dtype::kFloat32 ? 2e-6 : 0x1.01p-8) + 1e-6;
}

Guarded Random(int64_t count, Dtype dtype, unsigned seed, float spread = 1.0f) {
  Guarded numbers(count, dtype);
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0.0f, spread);
  for (int64_t i = 0; i < count; ++i) numbers.Set(i, normal(random));
  return numbers;
}

float* Floats(Guarded& guarded) { return static_cast<float*>(guarded.data()); }

void ExpectNormalised(const Guarded& x, const Guarded& weight, const Guarded& out,
                      const Guarded& inverse, int64_t width, Dtype dtype) {
  for (int64_t row = 0; row < kRows; ++row) {
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

void CheckEqualsItsFormula() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kDtypes) {
      Guarded x = Random(kRows * width, dtype, 1);
      const Guarded before = x;
      Guarded weight = Random(width, Dtype::kFloat32, 2);
      Guarded out(kRows * width, dtype);
      Guarded inverse(kRows, Dtype::kFloat32);
      RmsNorm(x.data(), Floats(weight), kEpsilon, kRows, width, dtype, out.data(), Floats(inverse),
              ThreadExecutor(2));
      EXPECT_TRUE(x == before);
      ExpectNormalised(x, weight, out, inverse, width, dtype);
      Guarded again(kRows * width, dtype);
      RmsNorm(x.data(), Floats(weight), kEpsilon, kRows, width, dtype, again.data(), nullptr,
              SerialExecutor());
      EXPECT_TRUE(again == out);
    }
  }
}

TEST(RmsNorm, EqualsItsFormula) { OnEveryTarget(CheckEqualsItsFormula); }

void CheckNormalisesTheRoundedSum() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kDtypes) {
      Guarded residual = Random(kRows * width, dtype, 1);
      Guarded update = Random(kRows * width, dtype, 3);
      Guarded sum(kRows * width, dtype);
      for (int64_t i = 0; i < kRows * width; ++i) sum.Set(i, residual.At(i) + update.At(i));
      Guarded weight = Random(width, Dtype::kFloat32, 2);
      Guarded out(kRows * width, dtype);
      Guarded inverse(kRows, Dtype::kFloat32);
      AddRmsNorm(residual.data(), update.data(), Floats(weight), kEpsilon, kRows, width, dtype,
                 out.data(), Floats(inverse), ThreadExecutor(2));
      EXPECT_TRUE(residual == sum) << "width " << width;
      ExpectNormalised(sum, weight, out, inverse, width, dtype);
    }
  }
}

TEST(AddRmsNorm, NormalisesTheRoundedSum) { OnEveryTarget(CheckNormalisesTheRoundedSum); }

void CheckIsTheRoundedSum() {
  for (const int64_t count : {1, 15, 16, 17, 33, 16385, 50000}) {
    for (const Dtype dtype : kDtypes) {
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

void CheckSwiGlu() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kDtypes) {
      Guarded gate_up = Random(kRows * 2 * width, dtype, 1, 4.0f);
      gate_up.Set(0, -1000.0f);  // e^1000 must not become infinity / infinity
      gate_up.Set(2 * width, 1000.0f);
      gate_up.Set(4 * width, 0.0f);
      Guarded out(kRows * width, dtype);
      SwiGlu(gate_up.data(), kRows, width, dtype, out.data(), ThreadExecutor(2));
      for (int64_t i = 0; i < kRows * width; ++i) {
        const int64_t at = i / width * 2 * width + i % width;
        const double gate = gate_up.At(at);
        const double want = gate / (1 + std::exp(-gate)) * gate_up.At(at + width);
        ASSERT_NEAR(out.At(i), want, Tolerance(dtype, want)) << "width " << width << " at " << i;
      }
      EXPECT_TRUE(out.Intact());
    }
  }
}

TEST(SwiGlu, EqualsItsFormula) { OnEveryTarget(CheckSwiGlu); }

void CheckEqualsItsFormulaInPlaceAndStrided() {
  for (const int64_t width : kWidths) {
    for (const Dtype dtype : kDtypes) {
      const int64_t x_stride = width + 7, out_stride = width + 2;
      Guarded x = Random(kRows * x_stride, dtype, 1);
      Guarded amount = Random(kRows, Dtype::kFloat32, 2);
      Guarded direction = Random(width, Dtype::kFloat32, 3);
      Guarded out = Random(kRows * out_stride, dtype, 4);
      const Guarded before = out;
      RankOneUpdate(x.data(), x_stride, Floats(amount), Floats(direction), kRows, width, dtype,
                    out.data(), out_stride, ThreadExecutor(2));
      for (int64_t row = 0; row < kRows; ++row) {
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
      RankOneUpdate(x.data(), x_stride, Floats(amount), Floats(direction), kRows, width, dtype,
                    x.data(), x_stride, SerialExecutor());
      for (int64_t row = 0; row < kRows; ++row) {
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
