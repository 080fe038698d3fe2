// SPDX-License-Identifier: MIT
// Contract: QuantisedMatrixVector is the product with the weights that Dequantise gives, for every
// type, within float32 rounding of the sum (weights are exact, and x is not rounded), with rows in
// any order and of any alignment. Results are equal to the last bit for any number of threads, and
// for a row whichever other rows are in the call. It writes only y.
#include "kernels/quantised/quantised_matrix_vector.h"

#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/random_blocks.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

void ExpectProducts(const RandomMatrix& c, const Guarded& x, const Guarded& y, int64_t rows,
                    Dtype y_dtype) {
  const int64_t inputs = c.matrix.columns, outputs = c.matrix.rows;
  for (int64_t i = 0; i < rows * outputs; ++i) {
    double want = 0, size = 0;
    for (int64_t j = 0; j < inputs; ++j) {
      const double weight = c.values[static_cast<size_t>(i % outputs * inputs + j)];
      want += weight * x.At(i / outputs * inputs + j);
      size += std::abs(weight * x.At(i / outputs * inputs + j));
    }
    const double rounding = y_dtype == Dtype::kFloat32 ? 0 : std::abs(want) / 256;
    ASSERT_NEAR(y.At(i), want, 1e-6 * size + rounding) << "at " << i;
  }
  EXPECT_TRUE(y.Intact());
}

void CheckEqualsTheDotProducts() {
  for (const BlockFormat& format : BlockFormats()) {
    SCOPED_TRACE(format.name);
    // For formats of single elements, sizes with a remainder after the parts of 32, and sizes below
    // one part.
    const std::vector<int64_t> sizes = format.elements == 1
                                           ? std::vector<int64_t>{1, 31, 32, 33, 100, 2049}
                                           : std::vector<int64_t>{format.elements, 1280};
    for (const int64_t inputs : sizes) {
      for (int64_t rows = 1; rows <= kMatrixVectorRows; ++rows) {
        const int64_t outputs = rows == 3 ? 67 : 5;
        const RandomMatrix c(format, outputs, inputs, rows % 2 == 0);
        for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
          Guarded x = RandomNumbers(rows * inputs, dtype, 2);
          for (const Dtype y_dtype : {dtype, Dtype::kFloat32}) {
            Guarded y(rows * outputs, y_dtype);
            QuantisedMatrixVector(c.matrix, x.data(), rows, dtype, y.data(), y_dtype,
                                  ThreadExecutor(2));
            ExpectProducts(c, x, y, rows, y_dtype);
          }
        }
      }
    }
  }
}

TEST(QuantisedMatrixVector, EqualsTheProduct) { OnEveryTarget(CheckEqualsTheDotProducts); }

// An x with a single 1 selects one weight, which must equal Dequantise's to the last bit.
void CheckWeightsAreThoseOfDequantise() {
  for (const BlockFormat& format : BlockFormats()) {
    const int64_t inputs = 256, outputs = 3;
    const RandomMatrix c(format, outputs, inputs, false);
    for (int64_t picked = 0; picked < inputs; ++picked) {
      std::vector<float> x(static_cast<size_t>(inputs)), y(static_cast<size_t>(outputs));
      x[static_cast<size_t>(picked)] = 1.0f;
      QuantisedMatrixVector(c.matrix, x.data(), 1, Dtype::kFloat32, y.data(), Dtype::kFloat32,
                            SerialExecutor());
      for (int64_t o = 0; o < outputs; ++o) {
        ASSERT_EQ(y[static_cast<size_t>(o)], c.values[static_cast<size_t>(o * inputs + picked)])
            << format.name << " element " << picked;
      }
    }
  }
}

TEST(QuantisedMatrixVector, WeightsAreThoseOfDequantise) {
  OnEveryTarget(CheckWeightsAreThoseOfDequantise);
}

// binary16 has separate vector code; tests every bit pattern, including NaN and infinity.
void CheckTakesEveryHalf() {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const std::vector<float> x(32, 1.0f);
  std::vector<uint16_t> rows(halves.size() * 32);
  for (size_t i = 0; i < halves.size(); ++i) rows[i * 32 + i % 32] = halves[i];
  std::vector<float> y(halves.size());
  QuantisedMatrixVector({BlockType::kF16, rows.data(), 64, {}, 65536, 32}, x.data(), 1,
                        Dtype::kFloat32, y.data(), Dtype::kFloat32, SerialExecutor());
  for (size_t i = 0; i < halves.size(); ++i) {
    float want = 0;
    Dequantise(BlockType::kF16, &halves[i], 1, &want);
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(y[i])) << i;
    } else {
      ASSERT_EQ(y[i], want) << i;
    }
  }
}

TEST(QuantisedMatrixVector, TakesEveryHalf) { OnEveryTarget(CheckTakesEveryHalf); }

TEST(QuantisedMatrixVector, IsBitEqualForAnyNumberOfThreadsAndRows) {
  for (const BlockFormat& format : BlockFormats()) {
    const int64_t inputs = 512, outputs = 133, rows = 7;
    const RandomMatrix c(format, outputs, inputs, true);
    Guarded x = RandomNumbers(rows * inputs, Dtype::kFloat32, 3);
    Guarded serial(rows * outputs, Dtype::kFloat32);
    QuantisedMatrixVector(c.matrix, x.data(), rows, Dtype::kFloat32, serial.data(), Dtype::kFloat32,
                          SerialExecutor());
    for (const int threads : {1, 2, 3}) {
      Guarded y(rows * outputs, Dtype::kFloat32);
      QuantisedMatrixVector(c.matrix, x.data(), rows, Dtype::kFloat32, y.data(), Dtype::kFloat32,
                            ThreadExecutor(threads));
      EXPECT_TRUE(y == serial) << format.name << " " << threads << " threads";
    }
    for (int64_t row = 0; row < rows; ++row) {
      Guarded y(outputs, Dtype::kFloat32);
      QuantisedMatrixVector(c.matrix, static_cast<float*>(x.data()) + row * inputs, 1,
                            Dtype::kFloat32, y.data(), Dtype::kFloat32, SerialExecutor());
      for (int64_t o = 0; o < outputs; ++o) {
        ASSERT_EQ(y.At(o), serial.At(row * outputs + o)) << format.name << " row " << row;
      }
    }
  }
}

}  // namespace
}  // namespace midscope::kernels
