// SPDX-License-Identifier: MIT
// The bodies of the CUDA kernels for GGUF's blocks, run on the CPU block by block
// (launch_on_host.h). On a GPU, tests/core/compute/gpu_weights_test.cpp compares them with the
// CPU's kernels.
//
// Contract: every format of the CPU is supported. Values equal those of DequantiseRows to the last
// bit, in float32, bfloat16 and float16. Products of a few rows are within float32 rounding of the
// exact sums, gated ones within that of the activation of the plain ones; a row's result is the
// same to the last bit whichever other rows are in the call. The order of threads between two
// barriers does not change any bit; only the output is written; every read is aligned as
// block_formats.h states (ReadNumber checks it).
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "kernels/cuda/block_formats.h"
#include "kernels/cuda/dequantise.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/quantised_matrix_vector.h"
#include "kernels/matrix_vector.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/launch_on_host.h"
#include "tests/kernels/support/random_blocks.h"

namespace midscope::kernels::cuda {
namespace {

// A matrix in the form that is copied to a GPU.
struct GpuMatrix {
  explicit GpuMatrix(const RandomMatrix& random)
      : type(random.matrix.type), rows(random.matrix.rows), columns(random.matrix.columns) {
    row_bytes = DeviceRowBytes(type, columns);
    words.resize(static_cast<size_t>(rows * row_bytes / 16), Words{~0u, ~0u, ~0u, ~0u});
    for (int64_t row = 0; row < rows; ++row) {
      ArrangeRow(type, columns, random.matrix.Row(row),
                 reinterpret_cast<std::byte*>(words.data()) + row * row_bytes);
    }
  }
  const uint8_t* data() const { return reinterpret_cast<const uint8_t*>(words.data()); }

  BlockType type;
  int64_t rows;
  int64_t columns;
  int64_t row_bytes = 0;
  std::vector<Words> words;
};

void RunDequantise(BlockType type, const DequantiseArguments& arguments, bool backwards) {
  test::InOrder(backwards, [&] { Dequantise(type, arguments); });
}

void RunProduct(BlockType type, const QuantisedMatrixVectorArguments& arguments, bool backwards,
                const std::function<void()>& earlier = {}) {
  test::InOrder(
      backwards, [&] { QuantisedMatrixVector(type, arguments); }, earlier);
}

// Numbers of columns that end within a warp, within a block of threads, and after several blocks.
std::vector<int64_t> ColumnsOf(const BlockFormat& format) {
  if (format.elements == 1) return {8, 264, 2056, 4104};
  return {format.elements, 768, 1280, 8448};
}

TEST(CudaBlocks, HaveEveryFormat) {
  for (const BlockFormat& format : BlockFormats()) {
    int visited = 0;
    VisitFormat(format.type, [&]<class Format>(Format) {
      ++visited;
      EXPECT_EQ(Format::kType, format.type) << format.name;
      EXPECT_EQ(Format::kBytes * format.elements, format.bytes * Format::kElements) << format.name;
      EXPECT_EQ(Format::kBundles * Format::kGroups * kChunk, Format::kElements) << format.name;
      EXPECT_GE(Format::kAligned, 4) << format.name << " is read less than 4 bytes at a time";
    });
    EXPECT_EQ(visited, 1) << format.name;
  }
}

TEST(CudaBlocks, ValuesAreThoseOfTheCpu) {
  for (const BlockFormat& format : BlockFormats()) {
    for (const int64_t columns : ColumnsOf(format)) {
      for (const int64_t rows : {1, 3}) {
        const RandomMatrix random(format, rows, columns, false);
        const GpuMatrix matrix(random);
        for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
          Guarded expected(rows * columns, dtype);
          DequantiseRows(random.matrix, dtype, expected.data(), SerialExecutor());
          for (const bool backwards : {false, true}) {
            Guarded out(rows * columns, dtype);
            RunDequantise(
                format.type,
                {matrix.data(), matrix.row_bytes, columns, 0, out.data(), dtype, rows, columns},
                backwards);
            ASSERT_TRUE(out == expected) << format.name << " " << rows << " x " << columns;
          }
        }
      }
    }
  }
}

// Reads one block of each row, as when a column of the matrix is read.
TEST(CudaBlocks, PartsOfRowsAreThoseOfTheCpu) {
  for (const BlockFormat& format : BlockFormats()) {
    const int64_t columns = 1024, rows = 5;
    const RandomMatrix random(format, rows, columns, false);
    const GpuMatrix matrix(random);
    const int64_t width = std::max<int64_t>(format.elements, kChunk);
    for (int64_t first = 0; first < columns; first += width) {
      Guarded out(rows * width, Dtype::kFloat32);
      RunDequantise(format.type,
                    {matrix.data(), matrix.row_bytes, columns, first, out.data(), Dtype::kFloat32,
                     rows, width},
                    false);
      for (int64_t i = 0; i < rows * width; ++i) {
        const int64_t at = i / width * columns + first + i % width;
        ASSERT_EQ(out.At(i), random.values[static_cast<size_t>(at)]) << format.name;
      }
      EXPECT_TRUE(out.Intact());
    }
  }
}

// Every scale of both kinds and every binary16, including subnormal ones and NaN.
TEST(CudaBlocks, EveryScaleIsThatOfTheCpu) {
  for (const BlockType type : {BlockType::kF16, BlockType::kQ4_1, BlockType::kMXFP4}) {
    const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(type));
    const int64_t scales = format.type == BlockType::kMXFP4 ? 256 : 65536;
    for (int64_t first = 0; first < scales; first += 256) {
      const int64_t elements = std::max<int64_t>(format.elements, kChunk);
      RandomMatrix random(format, 256, elements, false, static_cast<unsigned>(first));
      for (int64_t row = 0; row < 256; ++row) {
        char* at = random.bytes.data() + 1 + row * random.matrix.row_bytes;
        const auto scale = static_cast<uint16_t>(first + row);
        const int64_t offset = std::max<int64_t>(format.scales.first, 0);
        std::memcpy(at + offset, &scale, format.type == BlockType::kMXFP4 ? 1 : 2);
      }
      const GpuMatrix matrix(random);
      Guarded expected(256 * elements, Dtype::kFloat32), out = expected;
      DequantiseRows(random.matrix, Dtype::kFloat32, expected.data(), SerialExecutor());
      RunDequantise(format.type,
                    {matrix.data(), matrix.row_bytes, elements, 0, out.data(), Dtype::kFloat32, 256,
                     elements},
                    false);
      for (int64_t i = 0; i < 256 * elements; ++i) {
        if (std::isnan(expected.At(i)) && std::isnan(out.At(i))) continue;
        ASSERT_EQ(out.At(i), expected.At(i)) << format.name << " scale " << first + i / elements;
      }
    }
  }
}

struct ProductCase {
  int64_t rows;
  int64_t inputs;
  int64_t outputs;
  Dtype x_dtype;
  Dtype y_dtype;
};

// Padding between the rows of x and y.
constexpr int64_t kBetween = 8;

QuantisedMatrixVectorArguments ArgumentsOf(const ProductCase& c, const GpuMatrix& matrix,
                                           Guarded& x, Guarded& y) {
  QuantisedMatrixVectorArguments arguments;
  arguments.weight = matrix.data();
  arguments.row_bytes = matrix.row_bytes;
  arguments.x = x.data();
  arguments.x_stride = c.inputs + kBetween;
  arguments.x_dtype = c.x_dtype;
  arguments.y = y.data();
  arguments.y_stride = c.outputs + kBetween;
  arguments.y_dtype = c.y_dtype;
  arguments.rows = c.rows;
  arguments.inputs = c.inputs;
  arguments.outputs = c.outputs;
  return arguments;
}

// The largest change of a value by rounding to that dtype; 0 for float32.
double RoundingOf(double value, Dtype dtype) {
  if (dtype == Dtype::kFloat32) return 0;
  if (dtype == Dtype::kBFloat16) return std::abs(value) / 256;
  return std::max(std::abs(value) / 2048, 0x1p-25);
}

void CheckProduct(const BlockFormat& format, const ProductCase& c) {
  const RandomMatrix random(format, c.outputs, c.inputs, false);
  const GpuMatrix matrix(random);
  const int64_t x_stride = c.inputs + kBetween, y_stride = c.outputs + kBetween;
  Guarded x = RandomNumbers(c.rows * x_stride, c.x_dtype, 2);
  Guarded y(c.rows * y_stride, c.y_dtype), again = y;
  Guarded before = y;
  RunProduct(format.type, ArgumentsOf(c, matrix, x, y), false);
  // Earlier work writes x.
  const QuantisedMatrixVectorArguments arguments = ArgumentsOf(c, matrix, x, again);
  RunProduct(format.type, arguments, true, TakenAway(x));
  EXPECT_TRUE(y == again) << "depends on the order of threads";
  for (int64_t i = 0; i < c.rows * y_stride; ++i) {
    const int64_t row = i / y_stride, output = i % y_stride;
    if (output >= c.outputs) {
      ASSERT_EQ(std::memcmp(static_cast<char*>(y.data()) + i * SizeOf(c.y_dtype),
                            static_cast<char*>(before.data()) + i * SizeOf(c.y_dtype),
                            static_cast<size_t>(SizeOf(c.y_dtype))),
                0);
      continue;
    }
    double want = 0, size = 0;
    for (int64_t j = 0; j < c.inputs; ++j) {
      const double product = double{random.values[static_cast<size_t>(output * c.inputs + j)]} *
                             x.At(row * x_stride + j);
      want += product;
      size += std::abs(product);
    }
    ASSERT_NEAR(y.At(i), want, 1e-6 * size + RoundingOf(want, c.y_dtype)) << row << ", " << output;
  }
  EXPECT_TRUE(y.Intact());
}

TEST(CudaBlocks, ProductsOfAFewRowsAreExactToTheSum) {
  for (const BlockFormat& format : BlockFormats()) {
    SCOPED_TRACE(format.name);
    for (int64_t rows = 1; rows <= kMatrixVectorRows; ++rows) {
      const std::vector<int64_t> columns = ColumnsOf(format);
      const int64_t inputs = columns[static_cast<size_t>(rows) % columns.size()];
      const bool narrow = rows % 2 == 0;
      CheckProduct(format, {rows, inputs, rows == 3 ? 19 : 1 + rows % 4,
                            narrow ? Dtype::kBFloat16 : Dtype::kFloat32,
                            rows % 4 == 0 ? Dtype::kBFloat16 : Dtype::kFloat32});
    }
    // Products of one row, which have special cases.
    for (const int64_t inputs : ColumnsOf(format)) {
      CheckProduct(format, {1, inputs, 3, Dtype::kBFloat16, Dtype::kBFloat16});
      CheckProduct(format, {1, inputs, 3, Dtype::kFloat16, Dtype::kFloat16});
    }
  }
}

TEST(CudaBlocks, ARowsProductDoesNotDependOnTheOthers) {
  for (const BlockFormat& format : BlockFormats()) {
    const ProductCase all{kMatrixVectorRows, 768, 5, Dtype::kFloat32, Dtype::kFloat32};
    const GpuMatrix matrix(RandomMatrix(format, all.outputs, all.inputs, false));
    Guarded x = RandomNumbers(all.rows * (all.inputs + kBetween), Dtype::kFloat32, 3);
    Guarded y(all.rows * (all.outputs + kBetween), Dtype::kFloat32);
    RunProduct(format.type, ArgumentsOf(all, matrix, x, y), false);
    for (int64_t rows = 1; rows < kMatrixVectorRows; ++rows) {
      ProductCase some = all;
      some.rows = rows;
      Guarded of_some(all.rows * (all.outputs + kBetween), Dtype::kFloat32);
      RunProduct(format.type, ArgumentsOf(some, matrix, x, of_some), false);
      for (int64_t i = 0; i < rows * (all.outputs + kBetween); ++i) {
        if (i % (all.outputs + kBetween) >= all.outputs) continue;
        ASSERT_EQ(of_some.At(i), y.At(i)) << format.name << ", " << rows << " rows";
      }
    }
  }
}

// The product with gates equals the activation of the plain products, which are computed
// separately.
TEST(CudaBlocks, GatedProductsAreTheActivationOfPlainOnes) {
  for (const BlockFormat& format : BlockFormats()) {
    for (const ProductCase& c : {ProductCase{1, 768, 22, Dtype::kBFloat16, Dtype::kBFloat16},
                                 ProductCase{1, 256, 2, Dtype::kFloat16, Dtype::kFloat16},
                                 ProductCase{5, 768, 14, Dtype::kFloat32, Dtype::kFloat32}}) {
      const GpuMatrix matrix(RandomMatrix(format, c.outputs, c.inputs, false));
      Guarded x = RandomNumbers(c.rows * (c.inputs + kBetween), c.x_dtype, 4);
      Guarded plain(c.rows * (c.outputs + kBetween), c.y_dtype), gated = plain;
      RunProduct(format.type, ArgumentsOf(c, matrix, x, plain), false);
      QuantisedMatrixVectorArguments arguments = ArgumentsOf(c, matrix, x, gated);
      arguments.gated = true;
      arguments.activation = ActivationKind::kGeluTanh;
      RunProduct(format.type, arguments, true);
      Guarded one(1, c.y_dtype);
      for (int64_t row = 0; row < c.rows; ++row) {
        const int64_t first = row * (c.outputs + kBetween), half = c.outputs / 2;
        for (int64_t i = 0; i < half; ++i) {
          const float gate = plain.At(first + i);
          const float up = plain.At(first + half + i);
          const float expected = Activated(arguments.activation, gate) * up;
          one.Set(0, expected);
          if (gated.At(first + i) == one.At(0)) continue;  // equal also if infinite in float16
          // Rounding within the activation is relative to the gate, not to the result.
          ASSERT_NEAR(gated.At(first + i), expected,
                      1e-6 * std::abs(gate * up) + RoundingOf(expected, c.y_dtype))
              << format.name << " " << row << ", " << i;
        }
      }
      EXPECT_TRUE(gated.Intact());
    }
  }
}

// Copies parts of a matrix for which `first` is within the part, before it and after it.
TEST(CudaBlocks, OutputsAreCopiedWhereAsked) {
  const ProductCase c{3, 256, 22, Dtype::kFloat32, Dtype::kBFloat16};
  const BlockFormat format = *FindBlockFormat(static_cast<uint32_t>(BlockType::kQ4_0));
  const GpuMatrix matrix(RandomMatrix(format, c.outputs, c.inputs, false));
  Guarded x = RandomNumbers(c.rows * (c.inputs + kBetween), c.x_dtype, 5);
  constexpr int64_t kWidth = 7, kStride = 10;
  for (const int64_t first : {8, 12, -3, -14, 30}) {
    Guarded y(c.rows * (c.outputs + kBetween), c.y_dtype);
    Guarded keys(c.rows * kStride, c.y_dtype), values = keys;
    const Guarded untouched = keys;
    QuantisedMatrixVectorArguments arguments = ArgumentsOf(c, matrix, x, y);
    arguments.copies = {{keys.data(), values.data()}, {kStride, kStride}, first, kWidth};
    RunProduct(format.type, arguments, first < 0);
    for (int64_t i = 0; i < c.rows * kStride; ++i) {
      for (const int64_t which : {0, 1}) {
        const Guarded& to = which == 0 ? keys : values;
        const int64_t output = first + which * kWidth + i % kStride;
        const bool copied = i % kStride < kWidth && output >= 0 && output < c.outputs;
        const float before = untouched.At(i);
        const float expected =
            copied ? y.At(i / kStride * (c.outputs + kBetween) + output) : before;
        EXPECT_TRUE(to.At(i) == expected || (std::isnan(expected) && std::isnan(to.At(i))))
            << first << ", " << which << ": " << i;
      }
    }
    EXPECT_TRUE(keys.Intact() && values.Intact() && y.Intact());
  }
}

}  // namespace
}  // namespace midscope::kernels::cuda
