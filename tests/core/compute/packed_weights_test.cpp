// SPDX-License-Identifier: MIT
// Matrices on the CPU that are packed for products of many rows. Contract: Product equals Multiply
// to the last bit; both are within one rounding of weights and result to bfloat16 of the exact
// sums, whichever implementation the number of rows selects (blocks, LibTorch, a packed weight); a
// packed matrix has the rows and columns of an expanded one, and in float32 a quantised matrix has
// the same products as one that stays in its stored form.
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "core/base/error.h"
#include "core/base/job.h"
#include "core/compute/arithmetic.h"
#include "core/compute/dense_product.h"
#include "core/compute/weights.h"
#include "kernels/instruction_set.h"
#include "kernels/quantised/quantised_product.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/stored_pair.h"

namespace midscope {
namespace {

using kernels::BlockFormat;
using kernels::BlockType;
using kernels::Dtype;
using test::kInputs;
using test::NumbersOf;
using test::StoredPair;
using ::testing::HasSubstr;

const kernels::Executor& Serial() { return kernels::SerialExecutor(); }

BlockFormat FormatOf(BlockType type) {
  return *kernels::FindBlockFormat(static_cast<uint32_t>(type));
}

bool IsQuantised(const BlockFormat& format) { return format.elements > 1; }

// The ways to obtain a model's weights.
enum class Way { kStored, kExpanded, kBesideBlocks, kPacked, kCopied };

WeightMatrix Made(const StoredPair& pair, Dtype dtype, Way way) {
  WeightMatrix matrix = pair.Matrix(dtype);
  if (way == Way::kExpanded) matrix.Expand(Serial());
  if (way == Way::kBesideBlocks) matrix.ExpandBesideBlocks(Serial());
  if (way == Way::kPacked) matrix.Pack(Serial());
  if (way == Way::kCopied) matrix.CopyOrExpand(Serial());
  return matrix;
}

void CheckProducts(const StoredPair& pair, Dtype dtype, Way way) {
  const WeightMatrix matrix = Made(pair, dtype, way);
  const ProductContext context{Serial(), {}};
  const double rounding = dtype == Dtype::kFloat32 ? 1e-6 : 1.0 / 256;
  for (const int64_t rows : {1, 8, 9, 40, 127, 128, 300}) {
    const at::Tensor x = NumbersOf(rows, kInputs, TorchType(dtype));
    const at::Tensor product = matrix.Product(x, context);
    const at::Tensor y = at::full_like(product, std::nan(""));
    matrix.Multiply(x, y, context);
    EXPECT_TRUE(at::equal(product, y)) << rows << " rows";
    const at::Tensor weights = pair.Numbers();
    const at::Tensor exact = at::matmul(x.to(at::kDouble), weights.t());
    const at::Tensor size = at::matmul(x.to(at::kDouble).abs(), weights.abs().t());
    EXPECT_TRUE(((y.to(at::kDouble) - exact).abs() <= size * rounding + exact.abs() * rounding)
                    .all()
                    .item<bool>())
        << rows << " rows";
  }
}

TEST(PackedWeights, ProductsAreThoseOfTheNumbers) {
  const c10::InferenceMode inference;
  for (const BlockFormat& format : kernels::BlockFormats()) {
    SCOPED_TRACE(format.name);
    const StoredPair pair(format, FormatOf(BlockType::kQ8_0));
    for (const Way way :
         {Way::kStored, Way::kExpanded, Way::kBesideBlocks, Way::kPacked, Way::kCopied}) {
      CheckProducts(pair, Dtype::kBFloat16, way);
      CheckProducts(pair, Dtype::kFloat32, way);
    }
  }
}

TEST(PackedWeights, FloatPanelsGiveTheProductsOfStoredBlocks) {
  const c10::InferenceMode inference;
  for (const BlockFormat& format : kernels::BlockFormats()) {
    if (!IsQuantised(format)) continue;
    const StoredPair pair(format, FormatOf(BlockType::kQ8_0));
    const WeightMatrix stored = Made(pair, Dtype::kFloat32, Way::kStored);
    const WeightMatrix packed = Made(pair, Dtype::kFloat32, Way::kPacked);
    EXPECT_TRUE(packed.stored());
    for (const int64_t rows : {1, 8, 9, 300, 1100}) {
      const at::Tensor x = NumbersOf(rows, kInputs, at::kFloat);
      EXPECT_TRUE(at::equal(packed.Product(x, {Serial(), {}}), stored.Product(x, {Serial(), {}})))
          << format.name << ", " << rows << " rows";
    }
  }
}

TEST(PackedWeights, RowsAndColumnsAreThoseOfTheExpandedMatrix) {
  const c10::InferenceMode inference;
  for (const BlockFormat& format : kernels::BlockFormats()) {
    const StoredPair pair(format);
    for (const Dtype dtype : {Dtype::kBFloat16, Dtype::kFloat32}) {
      const WeightMatrix expanded = Made(pair, dtype, Way::kExpanded);
      for (const Way way : {Way::kBesideBlocks, Way::kPacked, Way::kCopied}) {
        const WeightMatrix matrix = Made(pair, dtype, way);
        EXPECT_TRUE(at::equal(matrix.Rows(30, 15), expanded.Rows(30, 15))) << format.name;
        EXPECT_TRUE(at::equal(matrix.Column(77, 42, Serial()), expanded.Column(77, 42, Serial())))
            << format.name;
        at::Tensor row = at::empty({kInputs}, TorchType(dtype));
        matrix.Row(31, row.data_ptr());
        EXPECT_TRUE(at::equal(row, expanded.Rows(31, 1)[0])) << format.name;
      }
    }
  }
}

// A quantised matrix is not kept a third time, and in float32 no other is kept twice.
TEST(PackedWeights, AreNotExpandedBesideWhenNobodyReadsThat) {
  const c10::InferenceMode inference;
  for (const BlockFormat& format : kernels::BlockFormats()) {
    const StoredPair pair(format);
    EXPECT_EQ(Made(pair, Dtype::kBFloat16, Way::kCopied).expanded().defined(), !IsQuantised(format))
        << format.name;
    const bool packs = PackedWeight(at::ones({64, 64}, at::kBFloat16)).defined();
    const bool drops = packs && IsQuantised(format) && kernels::HasQuantisedProduct();
    EXPECT_EQ(Made(pair, Dtype::kBFloat16, Way::kPacked).expanded().defined(), !drops)
        << format.name;
    EXPECT_FALSE(Made(pair, Dtype::kFloat32, Way::kPacked).expanded().defined()) << format.name;
  }
}

TEST(PackedWeights, ProductsOfManyRowsCanBeCancelled) {
  const c10::InferenceMode inference;
  const StoredPair pair(FormatOf(BlockType::kQ4_1));
  std::atomic<bool> cancel = true;
  JobContext cancelled;
  cancelled.cancel = &cancel;
  for (const Dtype dtype : {Dtype::kBFloat16, Dtype::kFloat32}) {
    const WeightMatrix matrix = Made(pair, dtype, Way::kPacked);
    EXPECT_THROW(matrix.Product(NumbersOf(300, kInputs, TorchType(dtype)), {Serial(), cancelled}),
                 Cancelled);
  }
}

TEST(PackedWeights, ValuesThatAreNotFiniteAreRefused) {
  const c10::InferenceMode inference;
  StoredPair pair(FormatOf(BlockType::kQ4_K));
  pair.bytes[1][1] = '\x7c';  // the upper half of an infinite scale
  pair.bytes[1][0] = 0;
  for (const Way way : {Way::kExpanded, Way::kBesideBlocks, Way::kPacked, Way::kCopied}) {
    for (const Dtype dtype : {Dtype::kBFloat16, Dtype::kFloat32}) {
      EXPECT_THAT(test::ErrorMessage([&] { Made(pair, dtype, way); }),
                  HasSubstr("tensor other holds values that are not finite"));
    }
  }
}

// In bfloat16 small ones are packed, where the CPU multiplies it.
TEST(PackedWeights, DependOnDtypeModelAndCpu) {
#if defined(__x86_64__)
  constexpr bool kX86 = true;
#else
  constexpr bool kX86 = false;
#endif
  ModelConfig config;
  config.parameters = 135'000'000;
  EXPECT_EQ(PacksExpanded(config, Dtype::kBFloat16), kernels::HasBFloat16Products());
  EXPECT_EQ(PacksExpanded(config, Dtype::kFloat32), kX86);
  config.parameters = 300'000'000;
  EXPECT_FALSE(PacksExpanded(config, Dtype::kBFloat16));
  EXPECT_EQ(PacksExpanded(config, Dtype::kFloat32), kX86);
  config.parameters = 1000;
  config.experts.count = 4;
  EXPECT_FALSE(PacksExpanded(config, Dtype::kBFloat16));
  EXPECT_FALSE(PacksExpanded(config, Dtype::kFloat32));
}

// Only what is not quantised, and in bfloat16 alone, is kept twice.
TEST(PackedWeights, TakeMemoryBesideExpandedOnesInBFloat16) {
  ModelConfig config;
  config.parameters = 1000;
  EXPECT_EQ(PackedBytesBeside(config, Dtype::kBFloat16), kernels::HasBFloat16Products() ? 2000 : 0);
  EXPECT_EQ(PackedBytesBeside(config, Dtype::kFloat32), 0);
  config.quantised_bytes = 500;
  EXPECT_EQ(PackedBytesBeside(config, Dtype::kBFloat16), 0);
}

// Only the CPU reads the blocks and packed matrices that are stored beside expanded ones.
TEST(PackedWeights, NothingIsKeptBesideWhatGoesToOtherDevices) {
  ModelConfig config;
  config.parameters = 135'000'000;
  const auto expansion = [&](const char* devices, Dtype dtype) {
    return Resolved({.dtype = dtype}, config, ParsePlacement(devices)).expansion;
  };
  const bool packs = kernels::HasBFloat16Products();
  EXPECT_EQ(expansion("cpu", Dtype::kBFloat16),
            packs ? Expansion::kPacked : Expansion::kBesideBlocks);
  EXPECT_EQ(expansion("cpu", Dtype::kFloat32),
            PacksExpanded(config, Dtype::kFloat32) ? Expansion::kPacked : Expansion::kBesideBlocks);
  for (const Dtype dtype : {Dtype::kFloat32, Dtype::kBFloat16}) {
    EXPECT_EQ(expansion("cuda:0,cpu", dtype), Expansion::kBesideBlocks);
    EXPECT_EQ(expansion("cuda:0", dtype), Expansion::kAlone);
    EXPECT_EQ(expansion("cpu:portable", dtype), Expansion::kAlone);
  }
}

}  // namespace
}  // namespace midscope
