// SPDX-License-Identifier: MIT
// Contract: MatrixVector equals the sums in double within float32 rounding of inputs * 2^-24 (plus
// one rounding to bfloat16); small integers give exact results; results are equal to the last bit
// for any number of threads; it writes only y.
#include "kernels/matrix_vector.h"

#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

// For sums of up to 1,537 products of normally distributed numbers, each about 40; the shortest
// vectors have the longest chains of additions.
constexpr double kSumTolerance = 5e-4;

struct Size {
  int64_t inputs;
  int64_t outputs;
};
constexpr Size kSizes[] = {{1, 1},   {3, 5},  {15, 63},  {16, 64},
                           {17, 65}, {31, 2}, {64, 130}, {576, 67}};

Guarded WholeNumbers(int64_t count, Dtype dtype, unsigned seed) {
  Guarded numbers(count, dtype);
  std::mt19937 random(seed);
  for (int64_t i = 0; i < count; ++i) numbers.Set(i, static_cast<float>(random() % 5) - 2.0f);
  return numbers;
}

double Sum(const Guarded& weight, const Guarded& x, int64_t row, int64_t output, int64_t inputs) {
  double sum = 0;
  for (int64_t i = 0; i < inputs; ++i) {
    sum += static_cast<double>(weight.At(output * inputs + i)) * x.At(row * inputs + i);
  }
  return sum;
}

void CheckIsExactForSmallWholeNumbers() {
  for (const auto& [inputs, outputs] : kSizes) {
    for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
      for (int64_t rows = 1; rows <= kMatrixVectorRows; ++rows) {
        Guarded weight = WholeNumbers(inputs * outputs, dtype, 1);
        Guarded x = WholeNumbers(rows * inputs, dtype, 2);
        for (const Dtype y_dtype : {dtype, Dtype::kFloat32}) {
          Guarded y(rows * outputs, y_dtype);
          MatrixVector(weight.data(), x.data(), rows, inputs, outputs, dtype, y.data(), y_dtype,
                       ThreadExecutor(2));
          for (int64_t i = 0; i < rows * outputs; ++i) {
            ASSERT_EQ(y.At(i), Sum(weight, x, i / outputs, i % outputs, inputs))
                << inputs << "x" << outputs << " rows " << rows << " at " << i;
          }
          EXPECT_TRUE(y.Intact());
        }
      }
    }
  }
}

TEST(MatrixVector, IsExactForSmallWholeNumbers) { OnEveryTarget(CheckIsExactForSmallWholeNumbers); }

void CheckIsCloseForRealNumbers() {
  const int64_t inputs = 1537, outputs = 70, rows = 3;
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    Guarded weight = Random(inputs * outputs, dtype, 3);
    Guarded x = Random(rows * inputs, dtype, 4);
    Guarded y(rows * outputs, dtype);
    MatrixVector(weight.data(), x.data(), rows, inputs, outputs, dtype, y.data(), dtype,
                 SerialExecutor());
    for (int64_t i = 0; i < rows * outputs; ++i) {
      const double want = Sum(weight, x, i / outputs, i % outputs, inputs);
      const double rounding = dtype == Dtype::kFloat32 ? 0 : std::abs(want) / 256;
      ASSERT_NEAR(y.At(i), want, kSumTolerance + rounding);
    }
  }
}

TEST(MatrixVector, IsCloseForRealNumbers) { OnEveryTarget(CheckIsCloseForRealNumbers); }

TEST(MatrixVector, FloatLogitsOfBFloat16WeightsAreNotRounded) {
  const int64_t inputs = 576, outputs = 50;
  Guarded weight = Random(inputs * outputs, Dtype::kBFloat16, 7);
  Guarded x = Random(inputs, Dtype::kBFloat16, 8);
  Guarded y(outputs, Dtype::kFloat32);
  MatrixVector(weight.data(), x.data(), 1, inputs, outputs, Dtype::kBFloat16, y.data(),
               Dtype::kFloat32, SerialExecutor());
  for (int64_t i = 0; i < outputs; ++i) {
    ASSERT_NEAR(y.At(i), Sum(weight, x, 0, i, inputs), kSumTolerance);
  }
}

TEST(MatrixVector, IsBitEqualForAnyNumberOfThreads) {
  const int64_t inputs = 577, outputs = 333, rows = 5;
  Guarded weight = Random(inputs * outputs, Dtype::kFloat32, 5);
  Guarded x = Random(rows * inputs, Dtype::kFloat32, 6);
  Guarded serial(rows * outputs, Dtype::kFloat32);
  MatrixVector(weight.data(), x.data(), rows, inputs, outputs, Dtype::kFloat32, serial.data(),
               Dtype::kFloat32, SerialExecutor());
  for (const int threads : {1, 2, 3}) {
    Guarded y(rows * outputs, Dtype::kFloat32);
    MatrixVector(weight.data(), x.data(), rows, inputs, outputs, Dtype::kFloat32, y.data(),
                 Dtype::kFloat32, ThreadExecutor(threads));
    EXPECT_TRUE(y == serial) << threads << " threads";
  }
}

}  // namespace
}  // namespace midscope::kernels
