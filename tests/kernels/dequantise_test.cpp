// SPDX-License-Identifier: MIT
// Contract: Dequantise gives the same bits as the gguf Python package (dequantise_golden.bin, made
// by make_dequantise_golden.py) for every type, from any alignment, for any NaN, infinity or
// subnormal; NaN counts as equal to NaN. It writes nothing else. AllFinite returns whether all
// these values are finite.
#include "kernels/quantised/dequantise.h"

#include <array>
#include <fstream>
#include <iterator>
#include <set>
#include <span>
#include <string>

#include "kernels/quantised/code_books.h"
#include "tests/kernels/support/block_scales.h"
#include "tests/kernels/support/every_target.h"
#include "tests/kernels/support/guarded.h"
#include "tests/kernels/support/thread_executor.h"
#include "tests/paths.h"

namespace midscope::kernels {
namespace {

struct Golden {
  uint32_t type = 0;
  uint32_t elements = 0;
  std::vector<char> blocks;
  std::vector<float> values;
};

std::vector<char> ReadGoldenFile(const std::string& name) {
  std::ifstream file(MIDSCOPE_TESTS "/kernels/golden/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Golden> ReadGolden() {
  const std::vector<char> bytes = ReadGoldenFile("dequantise_golden.bin");
  std::vector<Golden> all;
  size_t at = 8;
  while (at + 12 <= bytes.size()) {
    std::array<uint32_t, 3> header{};
    std::memcpy(header.data(), bytes.data() + at, 12);
    at += 12;
    Golden golden{header[0], header[1], {}, {}};
    const char* blocks = bytes.data() + at;
    golden.blocks.assign(blocks, blocks + header[2]);
    golden.values.resize(header[1]);
    std::memcpy(golden.values.data(), blocks + header[2], header[1] * sizeof(float));
    at += header[2] + header[1] * sizeof(float);
    all.push_back(std::move(golden));
  }
  return all;
}

void CheckEqualsTheGgufPackageToTheLastBit() {
  const std::vector<Golden> all = ReadGolden();
  std::set<uint32_t> seen;
  int special = 0;
  for (const Golden& golden : all) {
    const auto format = FindBlockFormat(golden.type);
    ASSERT_TRUE(format) << golden.type;
    seen.insert(golden.type);
    ASSERT_EQ(golden.elements / format->elements * format->bytes,
              static_cast<int64_t>(golden.blocks.size()));
    std::vector<char> shifted(golden.blocks.size() + 3);
    for (const size_t shift : {0, 1, 3}) {
      std::copy(golden.blocks.begin(), golden.blocks.end(),
                shifted.begin() + static_cast<long>(shift));
      Guarded out(golden.elements, Dtype::kFloat32);
      Dequantise(format->type, shifted.data() + shift, golden.elements,
                 static_cast<float*>(out.data()));
      for (uint32_t i = 0; i < golden.elements; ++i) {
        const float got = out.At(i), want = golden.values[i];
        if (std::isnan(want) || std::isinf(want)) ++special;
        if (std::isnan(want) && std::isnan(got)) continue;
        ASSERT_EQ(std::bit_cast<uint32_t>(got), std::bit_cast<uint32_t>(want))
            << format->name << " at " << i << ": " << got << " for " << want;
      }
      EXPECT_TRUE(out.Intact()) << format->name;
    }
  }
  EXPECT_EQ(seen.size(), BlockFormats().size()) << "each format has its golden blocks";
  EXPECT_GE(seen.size(), 25u);
  EXPECT_GT(special, 0);
}

TEST(Dequantise, EqualsTheGgufPackageToTheLastBit) {
  OnEveryTarget(CheckEqualsTheGgufPackageToTheLastBit);
}

// Compares a book with the next bytes of `golden`.
template <int kCount, int kLength>
void ExpectBook(const CodeBook<kCount, kLength>& book, std::span<const char>& golden) {
  ASSERT_GE(golden.size(), sizeof(book.entries));
  for (int i = 0; i < kCount * kLength; ++i) {
    ASSERT_EQ(book.entries[i / kLength][i % kLength], golden[static_cast<size_t>(i)])
        << "entry " << i / kLength << " of " << kCount;
  }
  golden = golden.subspan(sizeof(book.entries));
}

TEST(CodeBooks, AreThoseOfTheGgufPackage) {
  const std::vector<char> file = ReadGoldenFile("code_books_golden.bin");
  std::span<const char> golden = file;
  ExpectBook(kIQ1Book, golden);
  ExpectBook(kIQ2XXSBook, golden);
  ExpectBook(kIQ2XSBook, golden);
  ExpectBook(kIQ2SBook, golden);
  ExpectBook(kIQ3XXSBook, golden);
  ExpectBook(kIQ3SBook, golden);
  EXPECT_TRUE(golden.empty());
}

TEST(Dequantise, TakesPartsOfARow) {
  for (const Golden& golden : ReadGolden()) {
    const auto format = *FindBlockFormat(golden.type);
    Guarded out(format.elements, Dtype::kFloat32);
    Dequantise(format.type, golden.blocks.data() + format.bytes, format.elements,
               static_cast<float*>(out.data()));
    for (int64_t i = 0; i < format.elements; ++i) {
      const float want = golden.values[static_cast<size_t>(format.elements + i)];
      if (std::isnan(want)) continue;
      ASSERT_EQ(out.At(i), want) << format.name;
    }
    EXPECT_TRUE(out.Intact()) << format.name;
  }
}

void CheckEveryHalfIsConvertedExactly() {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    float got = 0;
    Dequantise(BlockType::kF16, &half, 1, &got);
    const int exponent = (half >> 10) & 31;
    const double mantissa = half & 1023;
    double want = exponent == 0    ? std::ldexp(mantissa, -24)
                  : exponent == 31 ? (mantissa == 0 ? INFINITY : NAN)
                                   : std::ldexp(1024 + mantissa, exponent - 25);
    if (half & 0x8000) want = -want;
    if (std::isnan(want)) {
      ASSERT_TRUE(std::isnan(got)) << bits;
    } else {
      ASSERT_EQ(got, want) << bits;
      ASSERT_EQ(std::signbit(got), std::signbit(want)) << bits;
    }
  }
}

TEST(Dequantise, EveryHalfIsConvertedExactly) { OnEveryTarget(CheckEveryHalfIsConvertedExactly); }

// Rows in another order, with any alignment and padding between them, in every dtype.
void CheckRowsAreThoseOfTheFileInOrder() {
  for (const Golden& golden : ReadGolden()) {
    const auto format = *FindBlockFormat(golden.type);
    const int64_t columns = 256;
    const int64_t bytes = columns / format.elements * format.bytes, row_bytes = bytes + 5;
    std::vector<char> data(static_cast<size_t>(3 * row_bytes + 1), 'x');
    for (int64_t row = 0; row < 3; ++row) {
      std::copy_n(golden.blocks.begin() + row * bytes, bytes, data.begin() + 1 + row * row_bytes);
    }
    const std::vector<int64_t> shuffled = {2, 0, 1, 2, 0};
    for (const bool in_order : {true, false}) {
      const std::vector<int64_t> order = in_order ? std::vector<int64_t>{0, 1, 2} : shuffled;
      const auto rows = static_cast<int64_t>(order.size());
      BlockMatrix matrix{format.type, data.data() + 1, row_bytes, {}, rows, columns};
      if (!in_order) matrix.row_order = order;
      for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16, Dtype::kFloat16}) {
        Guarded out(rows * columns, dtype);
        DequantiseRows(matrix, dtype, out.data(), ThreadExecutor(3));
        for (int64_t i = 0; i < rows * columns; ++i) {
          const int64_t row = order[static_cast<size_t>(i / columns)];
          const float exact = golden.values[static_cast<size_t>(row * columns + i % columns)];
          const float want = RoundedTo(dtype, exact);
          if (std::isnan(want) && std::isnan(out.At(i))) continue;
          ASSERT_EQ(out.At(i), want) << format.name << " at " << i;
        }
        EXPECT_TRUE(out.Intact()) << format.name;
      }
    }
  }
}

TEST(DequantiseRows, AreThoseOfTheFileInOrder) { OnEveryTarget(CheckRowsAreThoseOfTheFileInOrder); }

// A matrix is finite if each of its values is. A non-finite value anywhere in a block must be
// found, so an infinite binary16 is placed at each offset in turn.
TEST(AllFinite, IsWhetherEachValueIs) {
  for (const BlockFormat& format : BlockFormats()) {
    SCOPED_TRACE(format.name);
    const int64_t columns = 256;
    const int64_t bytes = columns / format.elements * format.bytes;
    int found = 0;
    for (int64_t offset = -2; offset + 2 <= format.bytes; offset += 2) {
      std::vector<char> row(static_cast<size_t>(bytes), 0x11);
      const uint16_t infinite = 0x7c00;
      if (offset >= 0) std::memcpy(row.data() + bytes - format.bytes + offset, &infinite, 2);
      std::vector<float> values(static_cast<size_t>(columns));
      Dequantise(format.type, row.data(), columns, values.data());
      bool want = true;
      for (const float value : values) want = want && std::isfinite(value);
      found += want ? 0 : 1;
      const BlockMatrix matrix{format.type, row.data(), bytes, {}, 1, columns};
      EXPECT_EQ(AllFinite(matrix, SerialExecutor()), want) << "offset " << offset;
    }
    // Two bytes do not make a scale infinite that is spread over eight.
    const bool halves = format.scales.first != kNoScale && !format.scales.spread;
    EXPECT_EQ(found > 0, halves || format.type == BlockType::kF16);
  }
}

TEST(AllFinite, FindsEachScale) {
  for (const BlockFormat& format : BlockFormats()) {
    if (format.scales.first == kNoScale) continue;
    const int64_t blocks = 3;
    for (const uint16_t scale : {0x3c00, 0x7bff, 0x7c00, 0xfc00, 0x7e00}) {
      std::vector<char> row(static_cast<size_t>(blocks * format.bytes), 0x11);
      SetScales(format, row.data() + 2 * format.bytes, scale);
      const BlockMatrix matrix{format.type, row.data(), blocks * format.bytes,
                               {},          1,          blocks * format.elements};
      EXPECT_EQ(AllFinite(matrix, SerialExecutor()), scale < 0x7c00) << format.name << " " << scale;
    }
  }
}

// The row is longer than the part that is rounded at once, and not a multiple of it.
TEST(DequantiseRows, TakesLongRows) {
  const int64_t columns = 5 * 1024 + 32;
  std::vector<char> data(static_cast<size_t>(columns / 32 * 34));
  for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>(i % 34 < 2 ? 0x3c : i % 251);
  std::vector<float> exact(static_cast<size_t>(columns));
  Dequantise(BlockType::kQ8_0, data.data(), columns, exact.data());
  for (const Dtype dtype : {Dtype::kBFloat16, Dtype::kFloat16}) {
    Guarded out(columns, dtype);
    DequantiseRows({BlockType::kQ8_0, data.data(), columns / 32 * 34, {}, 1, columns}, dtype,
                   out.data(), SerialExecutor());
    for (int64_t i = 0; i < columns; ++i) {
      ASSERT_EQ(out.At(i), RoundedTo(dtype, exact[static_cast<size_t>(i)])) << i;
    }
    EXPECT_TRUE(out.Intact());
  }
}

TEST(Dequantise, UnknownTypesHaveNoFormat) {
  for (const uint32_t type : {4u, 5u, 9u, 15u, 24u, 31u, 38u, 40u, 0xffffffffu}) {
    EXPECT_FALSE(FindBlockFormat(type)) << type;
  }
}

}  // namespace
}  // namespace midscope::kernels
