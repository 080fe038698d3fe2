// SPDX-License-Identifier: MIT
// Contract: Int8Product is the product of the weights that Dequantise gives with x rounded to 8
// bits in blocks of 32, within float32 rounding of the sum over blocks, for every format that it
// has; exact within a block, at the ends of the range too; equal to the last bit for any number of
// threads and for a row whichever others come along; writes nothing but y.
#include "kernels/int8_product.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <atomic>
#include <cmath>

#include "tests/kernels/support/random_blocks.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

// As OnEveryTarget, and AVX-512 with VNNI (HWY_AVX3_DL), which other kernels are not compiled for.
template <class Test>
void OnTargets(const Test& test) {
#if HWY_ARCH_X86
  for (const int64_t target :
       std::initializer_list<int64_t>{HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
#else
  test();
#endif
}

std::vector<BlockFormat> Formats() {
  std::vector<BlockFormat> formats;
  for (const BlockFormat& format : BlockFormats()) {
    if (HasInt8Product(format.type)) formats.push_back(format);
  }
  return formats;
}

// x as the product rounds it.
std::vector<double> Rounded(const Guarded& x, int64_t count) {
  std::vector<double> rounded(static_cast<size_t>(count));
  for (int64_t first = 0; first < count; first += kInt8Block) {
    float most = 0;
    for (int64_t i = first; i < first + kInt8Block; ++i)
      most = std::max(most, std::abs(static_cast<float>(x.At(i))));
    const float inverse = most > 0 ? 127.0f / most : 0.0f;
    for (int64_t i = first; i < first + kInt8Block; ++i) {
      const auto whole = std::nearbyint(static_cast<float>(x.At(i)) * inverse);
      rounded[static_cast<size_t>(i)] = static_cast<double>(whole) * (most / 127.0f);
    }
  }
  return rounded;
}

// x of y_dtype.
void ExpectProduct(const RandomMatrix& weight, Guarded x, int64_t rows, Dtype y_dtype) {
  const int64_t inputs = weight.matrix.columns, outputs = weight.matrix.rows;
  const std::vector<double> rounded = Rounded(x, rows * inputs);
  Guarded y(rows * outputs, y_dtype);
  const Int8Input input(x.data(), y_dtype, rows, inputs, SerialExecutor());
  ASSERT_TRUE(Int8Product(weight.matrix, input, y.data(), y_dtype, outputs, SerialExecutor()));
  EXPECT_TRUE(y.Intact());
  // Of many rows the last few, which are in tiles of their own.
  for (int64_t row = std::max<int64_t>(0, rows - 9); row < rows; ++row) {
    for (int64_t o = 0; o < outputs; ++o) {
      double want = 0, size = 0;
      for (int64_t i = 0; i < inputs; ++i) {
        const double term =
            static_cast<double>(weight.values[static_cast<size_t>(o * inputs + i)]) *
            rounded[static_cast<size_t>(row * inputs + i)];
        want += term;
        size += std::abs(term);
      }
      const double rounding = y_dtype == Dtype::kFloat32 ? 0 : std::abs(want) / 256;
      ASSERT_NEAR(y.At(row * outputs + o), want, 2e-6 * size + rounding)
          << "row " << row << " output " << o;
    }
  }
}

TEST(Int8Product, HasTheFormatsOfWholeNumbers) {
  std::vector<std::string> names;
  for (const BlockFormat& format : Formats()) names.emplace_back(format.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL",
                                             "Q4_K", "Q5_K", "Q6_K"}));
}

void CheckEqualsTheProduct() {
  for (const BlockFormat& format : Formats()) {
    SCOPED_TRACE(format.name);
    for (const int64_t inputs : {32, 64, 1536, 2048}) {
      if (inputs % format.elements != 0) continue;
      for (const auto& [rows, outputs] : std::vector<std::pair<int64_t, int64_t>>{
               {1, 576}, {2, 15}, {7, 100}, {33, 1}, {512, 15}}) {
        if (rows == 512 && inputs > 64 && format.elements < 256) continue;
        const RandomMatrix weight(format, outputs, inputs, rows % 2 == 0);
        SCOPED_TRACE(::testing::Message() << rows << " rows, " << inputs << " inputs");
        ExpectProduct(weight, RandomNumbers(rows * inputs, Dtype::kFloat32, 2), rows,
                      Dtype::kFloat32);
        ExpectProduct(weight, RandomNumbers(rows * inputs, Dtype::kBFloat16, 3), rows,
                      Dtype::kBFloat16);
      }
    }
  }
}

TEST(Int8Product, EqualsTheProduct) { OnTargets(CheckEqualsTheProduct); }

// Every byte of a block the same, all of x at one end, and the same with signs in turns.
void CheckEndsOfTheRange() {
  for (const BlockFormat& format : Formats()) {
    SCOPED_TRACE(format.name);
    for (const int byte : {0x00, 0x7f, 0x80, 0x81, 0xff}) {
      RandomMatrix weight(format, 3, 256, false);
      for (char& each : weight.bytes) each = static_cast<char>(byte);
      for (int64_t row = 0; row < 3; ++row) {
        for (int64_t block = 0; block < 256 / format.elements; ++block) {
          RandomMatrix::Tame(
              format,
              weight.bytes.data() + 1 + row * weight.matrix.row_bytes + block * format.bytes, 0.0f,
              static_cast<uint16_t>(row));
        }
      }
      DequantiseRows(weight.matrix, Dtype::kFloat32, weight.values.data(), SerialExecutor());
      Guarded x(int64_t{4} * 256, Dtype::kFloat32);
      for (int64_t i = 0; i < 256; ++i) {
        x.Set(i, -127.0f);
        x.Set(256 + i, 127.0f);
        x.Set(512 + i, i % 2 == 0 ? 127.0f : -127.0f);
        x.Set(768 + i, i / 32 % 2 == 0 ? 0.0f : 1.0f);  // blocks of zeros
      }
      ExpectProduct(weight, x, 4, Dtype::kFloat32);
    }
  }
}

TEST(Int8Product, IsExactAtTheEndsOfTheRange) { OnTargets(CheckEndsOfTheRange); }

void CheckZerosAndNotFinite() {
  for (const BlockFormat& format : Formats()) {
    const RandomMatrix weight(format, 5, 256, false);
    Guarded x(int64_t{3} * 256, Dtype::kFloat32), y(int64_t{3} * 5, Dtype::kFloat32);
    for (int64_t i = 0; i < int64_t{3} * 256; ++i) x.Set(i, i < 256 ? 0.0f : 1.0f);
    x.Set(256 + 40, NAN);
    x.Set(512 + 255, INFINITY);
    const Int8Input input(x.data(), Dtype::kFloat32, 3, 256, SerialExecutor());
    ASSERT_TRUE(Int8Product(weight.matrix, input, y.data(), Dtype::kFloat32, 5, SerialExecutor()));
    for (int64_t o = 0; o < 5; ++o) {
      EXPECT_EQ(y.At(o), 0.0f) << format.name;
      EXPECT_TRUE(std::isnan(y.At(5 + o))) << format.name;
      EXPECT_TRUE(std::isnan(y.At(10 + o))) << format.name;
    }
  }
}

TEST(Int8Product, HasZerosAndShowsWhatIsNotFinite) { OnTargets(CheckZerosAndNotFinite); }

void CheckThreadsAndRows() {
  constexpr int64_t kRows = 33, kOutputs = 100, kInputs = 256;
  for (const BlockFormat& format : Formats()) {
    const RandomMatrix weight(format, kOutputs, kInputs, true);
    Guarded x = RandomNumbers(kRows * kInputs, Dtype::kFloat32, 5);
    Guarded serial(kRows * kOutputs, Dtype::kFloat32);
    const Int8Input all(x.data(), Dtype::kFloat32, kRows, kInputs, SerialExecutor());
    Int8Product(weight.matrix, all, serial.data(), Dtype::kFloat32, kOutputs, SerialExecutor());
    for (const int threads : {2, 3}) {
      Guarded y(kRows * kOutputs, Dtype::kFloat32);
      const ThreadExecutor executor(threads);
      const Int8Input input(x.data(), Dtype::kFloat32, kRows, kInputs, executor);
      Int8Product(weight.matrix, input, y.data(), Dtype::kFloat32, kOutputs, executor);
      EXPECT_EQ(MaxDifference(serial, y, kRows * kOutputs), 0) << format.name;
    }
    Guarded one(kOutputs, Dtype::kFloat32);
    for (int64_t row = 0; row < kRows; ++row) {
      const Int8Input input(static_cast<float*>(x.data()) + row * kInputs, Dtype::kFloat32, 1,
                            kInputs, SerialExecutor());
      Int8Product(weight.matrix, input, one.data(), Dtype::kFloat32, kOutputs, SerialExecutor());
      for (int64_t o = 0; o < kOutputs; ++o)
        ASSERT_EQ(one.At(o), serial.At(row * kOutputs + o)) << format.name << " row " << row;
    }
  }
}

TEST(Int8Product, IsBitEqualForAnyNumberOfThreadsAndRows) { OnTargets(CheckThreadsAndRows); }

TEST(Int8Product, StopsWhenCancelled) {
  const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ4_0)), 5, 64,
                            false);
  Guarded x = RandomNumbers(64, Dtype::kFloat32, 6), y(5, Dtype::kFloat32);
  const std::atomic<bool> cancelled = true;
  const Int8Input input(x.data(), Dtype::kFloat32, 1, 64, SerialExecutor());
  EXPECT_FALSE(Int8Product(weight.matrix, input, y.data(), Dtype::kFloat32, 5, SerialExecutor(),
                           &cancelled));
}

}  // namespace
}  // namespace midscope::kernels
