// SPDX-License-Identifier: MIT
// A model whose quantised weights are multiplied as integers (Products::kInt16 and kInt8).
//
// Contract: logits differ from those of float products, by at most 0.1 of the largest with 8 bits
// and 0.0005 with 16, for every format that has integer products; other formats give exactly the
// same logits. Rows do not depend on threads or on the number of rows in a run: a prompt in one
// piece, in decoding and as a what-if gives the same numbers within 0.03 (0.0002) of the largest,
// because attention's order of sums affects some roundings. Expanded weights are rejected; auto
// keeps the weights stored.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "core/decoder/decoder.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/block_model.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"
#include "tests/core/support/tiny_models.h"

namespace midscope {
namespace {

using kernels::BlockType;
using test::Difference;
using test::Largest;
using ::testing::HasSubstr;

// Relative to the largest logit. Random weights, as here, let single roundings through that a
// trained model's norms and margins dampen; kernels' own tests hold the products to float32's
// precision.
double Tolerance(Products products) { return products == Products::kInt8 ? 0.1 : 0.0005; }
// A sum's last bit may turn a rounding.
double SameTolerance(Products products) { return products == Products::kInt8 ? 0.03 : 0.0002; }
constexpr int64_t kPromptTokens = 40;

std::shared_ptr<const Decoder> Open(const std::string& model, Products products, int threads = 1) {
  return Decoder::Open(model, {.threads = threads, .products = products});
}

// Logits of the last row, the prompt run in pieces of `piece` tokens.
std::vector<float> LastLogits(const Decoder& decoder, int64_t piece) {
  const std::vector<int32_t> ids = test::SomeTinyIds(kPromptTokens);
  const auto trace = decoder.MakeTrace(kPromptTokens);
  std::vector<float> logits;
  for (int64_t rows = piece; rows <= kPromptTokens; rows += piece) {
    RunRequest request;
    request.ids = std::span(ids).first(static_cast<size_t>(rows));
    request.trace = trace.get();
    logits = decoder.RunOne(request).logits;
  }
  return logits;
}

class WholeNumberFormats : public ::testing::TestWithParam<std::tuple<Products, BlockType>> {
 protected:
  Products products() const { return std::get<0>(GetParam()); }
  std::string Bytes() const { return test::BlockModel(std::get<1>(GetParam())).Bytes(); }
};

TEST_P(WholeNumberFormats, AreCloseToFloatProducts) {
  const test::TemporaryFile file(Bytes());
  const auto whole = Open(file.path(), products());
  EXPECT_EQ(whole->options().weights, WeightStorage::kStored);
  const std::vector<float> expected =
      LastLogits(*Open(file.path(), Products::kFloat), kPromptTokens);
  const std::vector<float> actual = LastLogits(*whole, kPromptTokens);
  ASSERT_EQ(actual.size(), expected.size());
  EXPECT_LE(Difference(actual, expected), Tolerance(products()) * Largest(expected));
  EXPECT_NE(actual, expected);
  EXPECT_EQ(LastLogits(*whole, kPromptTokens), actual);
  for (const int64_t piece : {1, 20}) {
    EXPECT_LE(Difference(LastLogits(*whole, piece), actual),
              SameTolerance(products()) * Largest(actual))
        << "in pieces of " << piece;
  }
  const auto two = Open(file.path(), products(), 2);
  EXPECT_LE(Difference(LastLogits(*two, kPromptTokens), actual),
            SameTolerance(products()) * Largest(actual));
  Open(file.path(), products());  // back to one thread
}

TEST_P(WholeNumberFormats, WhatIfEqualsTheFullRun) {
  const test::TemporaryFile file(Bytes());
  const auto decoder = Open(file.path(), products());
  Prompt prompt;
  prompt.ids = test::SomeTinyIds(kPromptTokens);
  prompt.answer_ids = {1, 2, 3};
  WhatIf what_if(decoder, {prompt});
  for (const char* setting :
       {"none", "channel(3, factor=-1)", "channel(5, factor=0.5, rows=all)"}) {
    RunRequest request;
    request.ids = prompt.ids;
    request.intervention = ParseIntervention(setting);
    const std::vector<float> full = decoder->RunOne(request).logits;
    const std::vector<float> last = what_if.Evaluate(request.intervention).outcomes[0].last_logits;
    ASSERT_EQ(last.size(), full.size());
    EXPECT_LE(Difference(last, full), SameTolerance(products()) * Largest(full)) << setting;
  }
}

std::string FormatName(const ::testing::TestParamInfo<std::tuple<Products, BlockType>>& tested) {
  const auto type = static_cast<uint32_t>(std::get<1>(tested.param));
  return ProductsName(std::get<0>(tested.param)) + "_" +
         std::string(kernels::FindBlockFormat(type)->name);
}

INSTANTIATE_TEST_SUITE_P(
    WholeNumberProducts, WholeNumberFormats,
    ::testing::Combine(::testing::Values(Products::kInt16, Products::kInt8),
                       ::testing::Values(BlockType::kQ4_0, BlockType::kQ4_1, BlockType::kQ5_0,
                                         BlockType::kQ5_1, BlockType::kQ8_0, BlockType::kIQ4_NL,
                                         BlockType::kQ4_K, BlockType::kQ5_K, BlockType::kQ6_K)),
    FormatName);

TEST(WholeNumberProducts, OtherFormatsAreMultipliedAsFloats) {
  const test::TemporaryFile file(test::BlockModel(BlockType::kIQ4_XS).Bytes());
  std::string warning;
  JobContext job;
  job.warn = [&](const std::string& text) { warning += text; };
  const auto whole = Decoder::Open(file.path(), {.threads = 1, .products = Products::kInt8}, job);
  EXPECT_THAT(warning, HasSubstr("int8 changes nothing"));
  const auto stored =
      Decoder::Open(file.path(), {.threads = 1, .weights = WeightStorage::kStored}, {});
  EXPECT_EQ(LastLogits(*whole, kPromptTokens), LastLogits(*stored, kPromptTokens));
}

TEST(WholeNumberProducts, ExpandedWeightsAndOtherDevicesAreRefused) {
  const test::TemporaryFile file(test::BlockModel(BlockType::kQ4_0).Bytes());
  EXPECT_THAT(test::ErrorMessage([&] {
                Decoder::Open(file.path(),
                              {.weights = WeightStorage::kExpanded, .products = Products::kInt8});
              }),
              HasSubstr("products 'int8'"));
  EXPECT_THAT(test::ErrorMessage([&] {
                Decoder::Open(file.path(), {.products = Products::kInt8,
                                            .placement = ParsePlacement("cpu:portable")});
              }),
              HasSubstr("--device cpu"));
}

}  // namespace
}  // namespace midscope
