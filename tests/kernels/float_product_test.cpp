// SPDX-License-Identifier: MIT
// Contract: FloatProduct is the product of x with the weights that Dequantise gives, within float32
// rounding of the sum and one rounding to y's dtype, for every type, both dtypes of x and y,
// unusual sizes, and rows of weights in any order. Results are equal to the last bit for any number
// of threads, for a row whichever other rows are in the call, and for panels. It writes only y and
// the panels.
#include "kernels/quantised/float_product.h"

#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/random_blocks.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

struct Dtypes {
  Dtype x = Dtype::kFloat32;
  Dtype y = Dtype::kFloat32;
};

int64_t OutputsOf(const BlockMatrix& matrix) { return matrix.rows; }
int64_t OutputsOf(const FloatPanels& panels) { return panels.outputs; }

// y with `gap` untouched elements after each row, computed by blocks or by panels of `inputs`
// columns.
template <class Matrix>
Guarded Product(const Matrix& matrix, int64_t inputs, Guarded& x, int64_t rows, int64_t gap,
                const Dtypes& dtypes, const Executor& executor) {
  const int64_t stride = OutputsOf(matrix) + gap;
  Guarded y(rows * stride, dtypes.y);
  for (int64_t i = 0; i < rows * stride; ++i) y.Set(i, 77.0f);
  const FloatInput input(x.data(), dtypes.x, rows, inputs, executor);
  EXPECT_TRUE(FloatProduct(matrix, input, y.data(), dtypes.y, stride, executor));
  EXPECT_TRUE(y.Intact());
  return y;
}

Guarded Product(const RandomMatrix& weight, Guarded& x, int64_t rows, int64_t gap,
                const Dtypes& dtypes, const Executor& executor) {
  return Product(weight.matrix, weight.matrix.columns, x, rows, gap, dtypes, executor);
}

// The matrix with expanded weights.
struct Expanded {
  Expanded(const BlockMatrix& matrix, const Executor& executor) {
    constexpr int64_t kBehind = 16;
    constexpr float kUntouched = 77.0f;
    const int64_t size = FloatPanelSize(matrix.rows, matrix.columns);
    auto* numbers =
        static_cast<float*>(memory.Get(static_cast<size_t>(size + kBehind) * sizeof(float)));
    std::fill_n(numbers + size, kBehind, kUntouched);
    FillFloatPanels(matrix, numbers, executor);
    for (int64_t i = 0; i < kBehind; ++i) EXPECT_EQ(numbers[size + i], kUntouched);
    panels = {numbers, matrix.rows, matrix.columns};
  }
  Scratch memory;
  FloatPanels panels;
};

void ExpectProduct(const RandomMatrix& weight, const Guarded& x, const Guarded& y, int64_t rows,
                   int64_t gap, Dtype y_dtype) {
  const int64_t inputs = weight.matrix.columns;
  const int64_t stride = weight.matrix.rows + gap;
  const double rounding = y_dtype == Dtype::kFloat32 ? 0.0 : 1.0 / 256;
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t o = 0; o < stride; ++o) {
      if (o >= weight.matrix.rows) {
        ASSERT_EQ(y.At(r * stride + o), 77.0f) << "beside row " << r;
        continue;
      }
      double want = 0, size = 0;
      for (int64_t i = 0; i < inputs; ++i) {
        const double w = weight.values[static_cast<size_t>(o * inputs + i)];
        want += w * x.At(r * inputs + i);
        size += std::abs(w * x.At(r * inputs + i));
      }
      ASSERT_NEAR(y.At(r * stride + o), want, 1e-5 * size + std::abs(want) * rounding)
          << "row " << r << " output " << o;
    }
  }
}

void CheckProducts() {
  for (const BlockFormat& format : BlockFormats()) {
    SCOPED_TRACE(format.name);
    const std::vector<int64_t> sizes = format.elements == 1
                                           ? std::vector<int64_t>{1, 33, 256}
                                           : std::vector<int64_t>{format.elements, 512};
    for (const int64_t inputs : sizes) {
      for (const int64_t rows : {1, 5, 6, 12, 13, 61}) {
        const int64_t outputs = rows == 13 ? 133 : 5;
        const Dtypes dtypes{rows % 2 == 0 ? Dtype::kFloat32 : Dtype::kBFloat16,
                            rows < 12 ? Dtype::kFloat32 : Dtype::kBFloat16};
        const RandomMatrix weight(format, outputs, inputs, rows % 2 == 0);
        Guarded x = RandomNumbers(rows * inputs, dtypes.x, 2);
        const Guarded y = Product(weight, x, rows, 3, dtypes, ThreadExecutor(2));
        ExpectProduct(weight, x, y, rows, 3, dtypes.y);
        const Expanded expanded(weight.matrix, ThreadExecutor(3));
        EXPECT_TRUE(Product(expanded.panels, inputs, x, rows, 3, dtypes, ThreadExecutor(2)) == y)
            << rows << " rows, " << inputs;
      }
    }
  }
}

TEST(FloatProduct, EqualsTheProduct) { OnEveryTarget(CheckProducts); }

// Uses more inputs than one pass multiplies, so that sums are carried over, and more rows than one
// pass processes with a part of the weights.
void CheckManyInputsAndRows() {
  const int64_t rows = 16 * 12 + 1;
  for (const int64_t inputs : {384, 416, 4096 + 96}) {
    const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ8_0)), 19, inputs,
                              true);
    Guarded x = RandomNumbers(rows * inputs, Dtype::kFloat32, 4);
    const Guarded y = Product(weight, x, rows, 0, {}, SerialExecutor());
    ExpectProduct(weight, x, y, rows, 0, Dtype::kFloat32);
    const Expanded expanded(weight.matrix, SerialExecutor());
    EXPECT_TRUE(Product(expanded.panels, inputs, x, rows, 0, {}, SerialExecutor()) == y) << inputs;
  }
}

TEST(FloatProduct, TakesManyInputsAndRows) { OnEveryTarget(CheckManyInputsAndRows); }

void CheckThreadsAndRows() {
  const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ4_K)), 133, 512,
                            true);
  const int64_t rows = 70;
  Guarded x = RandomNumbers(rows * 512, Dtype::kFloat32, 3);
  const Guarded serial = Product(weight, x, rows, 0, {}, SerialExecutor());
  for (const int threads : {1, 2, 3}) {
    EXPECT_TRUE(Product(weight, x, rows, 0, {}, ThreadExecutor(threads)) == serial) << threads;
  }
  for (const int64_t few : {1, 20}) {
    const Guarded y = Product(weight, x, few, 0, {}, SerialExecutor());
    for (int64_t i = 0; i < few * 133; ++i) ASSERT_EQ(y.At(i), serial.At(i)) << few << " rows";
  }
}

TEST(FloatProduct, IsBitEqualForAnyNumberOfThreadsAndRows) { OnEveryTarget(CheckThreadsAndRows); }

TEST(FloatProduct, StopsWhenCancelled) {
  const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ4_0)), 64, 64,
                            false);
  Guarded x = RandomNumbers(int64_t{20} * 64, Dtype::kFloat32, 3);
  Guarded y(int64_t{20} * 64, Dtype::kFloat32);
  const std::atomic<bool> cancel{true};
  const FloatInput input(x.data(), Dtype::kFloat32, 20, 64, SerialExecutor());
  EXPECT_FALSE(
      FloatProduct(weight.matrix, input, y.data(), Dtype::kFloat32, 64, SerialExecutor(), &cancel));
}

}  // namespace
}  // namespace midscope::kernels
