// SPDX-License-Identifier: MIT
// Contract: QuantisedProduct is the product of x with the weights that DequantiseRows gives in
// bfloat16, within float32 rounding of the sum and one rounding of the result, for every type,
// unusual sizes, and rows of weights in any order. Results are equal to the last bit for any number
// of threads, and for a row whichever other rows are in the call. It writes only y.
#include <gtest/gtest.h>

#include "kernels/quantised/quantised_product.h"

#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/random_blocks.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

// y with `gap` untouched elements after each row.
Guarded Product(const RandomMatrix& weight, Guarded& x, int64_t rows, int64_t gap,
                const Executor& executor) {
  const int64_t stride = weight.matrix.rows + gap;
  Guarded y(rows * stride, Dtype::kBFloat16);
  for (int64_t i = 0; i < rows * stride; ++i) y.Set(i, 77.0f);
  EXPECT_TRUE(QuantisedProduct(weight.matrix, static_cast<const BFloat16*>(x.data()), rows,
                               static_cast<BFloat16*>(y.data()), stride, executor));
  EXPECT_TRUE(y.Intact());
  return y;
}

void ExpectProduct(const RandomMatrix& weight, const Guarded& x, const Guarded& y, int64_t rows,
                   int64_t gap) {
  const int64_t inputs = weight.matrix.columns;
  const int64_t stride = weight.matrix.rows + gap;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < stride; ++o) {
      if (o >= weight.matrix.rows) {
        ASSERT_EQ(y.At(r * stride + o), 77.0f) << "beside row " << r;
        continue;
      }
      double want = 0, size = 0;
      for (int64_t i = 0; i < inputs; ++i) {
        const double w = ToFloat(ToBFloat16(weight.values[static_cast<size_t>(o * inputs + i)]));
        want += w * x.At(r * inputs + i);
        size += std::abs(w * x.At(r * inputs + i));
      }
      ASSERT_NEAR(y.At(r * stride + o), want, 1e-5 * size + std::abs(want) / 256)
          << "row " << r << " output " << o;
    }
  }
}

class QuantisedProductTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!HasQuantisedProduct()) GTEST_SKIP() << "this CPU has no AVX-512 BF16";
  }
};

TEST_F(QuantisedProductTest, EqualsTheProduct) {
  for (const BlockFormat& format : BlockFormats()) {
    SCOPED_TRACE(format.name);
    const std::vector<int64_t> sizes = format.elements == 1
                                           ? std::vector<int64_t>{1, 33, 256}
                                           : std::vector<int64_t>{format.elements, 512};
    for (const int64_t inputs : sizes) {
      for (const int64_t rows : {1, 16, 17, 48, 61}) {
        const int64_t outputs = rows == 17 ? 67 : 5;
        const RandomMatrix weight(format, outputs, inputs, rows % 2 == 0);
        Guarded x = RandomNumbers(rows * inputs, Dtype::kBFloat16, 2);
        ExpectProduct(weight, x, Product(weight, x, rows, 3, ThreadExecutor(2)), rows, 3);
      }
    }
  }
}

// Sums are carried over from one chunk of inputs to the next.
TEST_F(QuantisedProductTest, TakesManyInputs) {
  const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ8_0)), 19,
                            2 * 2048 + 96, true);
  Guarded x = RandomNumbers(50 * weight.matrix.columns, Dtype::kBFloat16, 4);
  ExpectProduct(weight, x, Product(weight, x, 50, 0, SerialExecutor()), 50, 0);
}

TEST_F(QuantisedProductTest, IsBitEqualForAnyNumberOfThreadsAndRows) {
  const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ4_K)), 133, 512,
                            true);
  const int64_t rows = 70;
  Guarded x = RandomNumbers(rows * 512, Dtype::kBFloat16, 3);
  const Guarded serial = Product(weight, x, rows, 0, SerialExecutor());
  for (const int threads : {1, 2, 3}) {
    EXPECT_TRUE(Product(weight, x, rows, 0, ThreadExecutor(threads)) == serial) << threads;
  }
  for (const int64_t few : {1, 20}) {
    const Guarded y = Product(weight, x, few, 0, SerialExecutor());
    for (int64_t i = 0; i < few * 133; ++i) ASSERT_EQ(y.At(i), serial.At(i)) << few << " rows";
  }
}

TEST_F(QuantisedProductTest, StopsWhenCancelled) {
  const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ4_0)), 64, 64,
                            false);
  Guarded x = RandomNumbers(int64_t{20} * 64, Dtype::kBFloat16, 3);
  Guarded y(int64_t{20} * 64, Dtype::kBFloat16);
  const std::atomic<bool> cancel{true};
  EXPECT_FALSE(QuantisedProduct(weight.matrix, static_cast<const BFloat16*>(x.data()), 20,
                                static_cast<BFloat16*>(y.data()), 64, SerialExecutor(), &cancel));
}

}  // namespace
}  // namespace midscope::kernels
