// SPDX-License-Identifier: MIT
// Contract: WholeNumberProduct is the product of the weights that Dequantise gives with x rounded
// to 8 or 16 bits in blocks of 32, within float32 rounding of the sum over blocks, for every
// supported format. It is exact within a block, also at the limits of the range. Results are equal
// to the last bit for any number of threads and for a row whichever other rows are in the call. It
// writes only y.
#include "kernels/quantised/whole_number_product.h"

#include <gtest/gtest.h>

#include <hwy/targets.h>
#include <atomic>
#include <cmath>
#include <functional>

#include "tests/kernels/support/random_blocks.h"
#include "tests/kernels/support/thread_executor.h"

namespace midscope::kernels {
namespace {

void WithBothBits(const std::function<void(RoundedBits)>& test) {
  for (const RoundedBits bits : {RoundedBits::k8, RoundedBits::k16}) {
    SCOPED_TRACE(bits == RoundedBits::k8 ? "8 bits" : "16 bits");
    test(bits);
  }
}

// As OnEveryTarget, plus AVX-512 with VNNI (HWY_AVX3_DL), for which other kernels are not compiled.
void OnTargets(const std::function<void(RoundedBits)>& test) {
#if HWY_ARCH_X86
  for (const int64_t target :
       std::initializer_list<int64_t>{HWY_SSE4, HWY_AVX2, HWY_AVX3, HWY_AVX3_DL}) {
    hwy::SetSupportedTargetsForTest(0);
    if ((hwy::SupportedTargets() & target) == 0) continue;
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    WithBothBits(test);
  }
  hwy::SetSupportedTargetsForTest(0);
#else
  WithBothBits(test);
#endif
}

std::vector<BlockFormat> Formats() {
  std::vector<BlockFormat> formats;
  for (const BlockFormat& format : BlockFormats()) {
    if (HasWholeNumberProduct(format.type)) formats.push_back(format);
  }
  return formats;
}

// The largest rounded number.
float EndOf(RoundedBits bits) { return bits == RoundedBits::k8 ? 127.0f : 32767.0f; }

// The elements of x after the product's rounding.
std::vector<double> Rounded(const Guarded& x, int64_t count, RoundedBits bits) {
  const float ends = EndOf(bits);
  std::vector<double> rounded(static_cast<size_t>(count));
  for (int64_t first = 0; first < count; first += kRoundedBlock) {
    float most = 0;
    for (int64_t i = first; i < first + kRoundedBlock; ++i)
      most = std::max(most, std::abs(static_cast<float>(x.At(i))));
    const float inverse = most > 0 ? ends / most : 0.0f;
    for (int64_t i = first; i < first + kRoundedBlock; ++i) {
      const auto whole = std::nearbyint(static_cast<float>(x.At(i)) * inverse);
      rounded[static_cast<size_t>(i)] = static_cast<double>(whole) * (most / ends);
    }
  }
  return rounded;
}

// Checks the product with x for a result in y_dtype.
void ExpectProduct(const RandomMatrix& weight, Guarded x, int64_t rows, Dtype y_dtype,
                   RoundedBits bits) {
  const int64_t inputs = weight.matrix.columns, outputs = weight.matrix.rows;
  const std::vector<double> rounded = Rounded(x, rows * inputs, bits);
  Guarded y(rows * outputs, y_dtype);
  const RoundedInput input(x.data(), y_dtype, rows, inputs, bits, SerialExecutor());
  ASSERT_TRUE(
      WholeNumberProduct(weight.matrix, input, y.data(), y_dtype, outputs, SerialExecutor()));
  EXPECT_TRUE(y.Intact());
  // The last few of many rows, which are in separate tiles.
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

TEST(WholeNumberProduct, HasTheFormatsOfWholeNumbers) {
  std::vector<std::string> names;
  for (const BlockFormat& format : Formats()) names.emplace_back(format.name);
  EXPECT_EQ(names, (std::vector<std::string>{"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "IQ4_NL",
                                             "Q4_K", "Q5_K", "Q6_K"}));
}

void CheckEqualsTheProduct(RoundedBits bits) {
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
                      Dtype::kFloat32, bits);
        ExpectProduct(weight, RandomNumbers(rows * inputs, Dtype::kBFloat16, 3), rows,
                      Dtype::kBFloat16, bits);
      }
    }
  }
}

TEST(WholeNumberProduct, EqualsTheProduct) { OnTargets(CheckEqualsTheProduct); }

// All bytes of a block equal and all of x at one end of the range, then the same with alternating
// signs.
void CheckEndsOfTheRange(RoundedBits bits) {
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
      const float end = EndOf(bits);
      for (int64_t i = 0; i < 256; ++i) {
        x.Set(i, -end);
        x.Set(256 + i, end);
        x.Set(512 + i, i % 2 == 0 ? 127.0f : -end);
        x.Set(768 + i, i / 32 % 2 == 0 ? 0.0f : 1.0f);  // blocks of zeros
      }
      ExpectProduct(weight, x, 4, Dtype::kFloat32, bits);
    }
  }
}

TEST(WholeNumberProduct, IsExactAtTheEndsOfTheRange) { OnTargets(CheckEndsOfTheRange); }

void CheckZerosAndNotFinite(RoundedBits bits) {
  for (const BlockFormat& format : Formats()) {
    const RandomMatrix weight(format, 5, 256, false);
    Guarded x(int64_t{3} * 256, Dtype::kFloat32), y(int64_t{3} * 5, Dtype::kFloat32);
    for (int64_t i = 0; i < int64_t{3} * 256; ++i) x.Set(i, i < 256 ? 0.0f : 1.0f);
    x.Set(256 + 40, NAN);
    x.Set(512 + 255, INFINITY);
    const RoundedInput input(x.data(), Dtype::kFloat32, 3, 256, bits, SerialExecutor());
    ASSERT_TRUE(
        WholeNumberProduct(weight.matrix, input, y.data(), Dtype::kFloat32, 5, SerialExecutor()));
    for (int64_t o = 0; o < 5; ++o) {
      EXPECT_EQ(y.At(o), 0.0f) << format.name;
      EXPECT_TRUE(std::isnan(y.At(5 + o))) << format.name;
      EXPECT_TRUE(std::isnan(y.At(10 + o))) << format.name;
    }
  }
}

TEST(WholeNumberProduct, HasZerosAndShowsWhatIsNotFinite) { OnTargets(CheckZerosAndNotFinite); }

void CheckThreadsAndRowsOfBits(RoundedBits bits) {
  constexpr int64_t kRows = 33, kOutputs = 100, kInputs = 256;
  for (const BlockFormat& format : Formats()) {
    const RandomMatrix weight(format, kOutputs, kInputs, true);
    Guarded x = RandomNumbers(kRows * kInputs, Dtype::kFloat32, 5);
    Guarded serial(kRows * kOutputs, Dtype::kFloat32);
    const RoundedInput all(x.data(), Dtype::kFloat32, kRows, kInputs, bits, SerialExecutor());
    WholeNumberProduct(weight.matrix, all, serial.data(), Dtype::kFloat32, kOutputs,
                       SerialExecutor());
    for (const int threads : {2, 3}) {
      Guarded y(kRows * kOutputs, Dtype::kFloat32);
      const ThreadExecutor executor(threads);
      const RoundedInput input(x.data(), Dtype::kFloat32, kRows, kInputs, bits, executor);
      WholeNumberProduct(weight.matrix, input, y.data(), Dtype::kFloat32, kOutputs, executor);
      EXPECT_EQ(MaxDifference(serial, y, kRows * kOutputs), 0) << format.name;
    }
    Guarded one(kOutputs, Dtype::kFloat32);
    for (int64_t row = 0; row < kRows; ++row) {
      const RoundedInput input(static_cast<float*>(x.data()) + row * kInputs, Dtype::kFloat32, 1,
                               kInputs, bits, SerialExecutor());
      WholeNumberProduct(weight.matrix, input, one.data(), Dtype::kFloat32, kOutputs,
                         SerialExecutor());
      for (int64_t o = 0; o < kOutputs; ++o)
        ASSERT_EQ(one.At(o), serial.At(row * kOutputs + o)) << format.name << " row " << row;
    }
  }
}

TEST(WholeNumberProduct, IsBitEqualForAnyNumberOfThreadsAndRows) {
  OnTargets(CheckThreadsAndRowsOfBits);
}

TEST(WholeNumberProduct, StopsWhenCancelled) {
  const RandomMatrix weight(*FindBlockFormat(static_cast<uint32_t>(BlockType::kQ4_0)), 5, 64,
                            false);
  Guarded x = RandomNumbers(64, Dtype::kFloat32, 6), y(5, Dtype::kFloat32);
  const std::atomic<bool> cancelled = true;
  const RoundedInput input(x.data(), Dtype::kFloat32, 1, 64, RoundedBits::k8, SerialExecutor());
  EXPECT_FALSE(WholeNumberProduct(weight.matrix, input, y.data(), Dtype::kFloat32, 5,
                                  SerialExecutor(), &cancelled));
}

}  // namespace
}  // namespace midscope::kernels
