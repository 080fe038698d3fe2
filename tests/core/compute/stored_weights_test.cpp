// SPDX-License-Identifier: MIT
// A model whose weights stay as stored in the file gives the results of expanded weights.
//
// Contract: float32: logits within 1e-4 of the largest, attention within 1e-5, in prefill, decoding
// and what-if, for every architecture and every block type (both use exactly the same weights; only
// the order of sums differs). bfloat16: prefill is the same arithmetic; few rows differ only by the
// rounding of the weights: 0.05 of the largest. Repeated calls give the same bits. Non-finite
// values are rejected before they are used.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/decoder/captures.h"
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
using kernels::Dtype;
using test::Difference;
using test::Largest;
using test::SomeTinyIds;
using test::TinyModelNames;
using test::TinyModelPath;
using ::testing::HasSubstr;

constexpr double kLogitTolerance = 1e-4;  // of the largest
// In bfloat16 expanded weights are rounded to it; stored ones are not where products are float32's.
constexpr double kNarrowTolerance = 0.1;
constexpr double kStoredTolerance = 1e-5;
constexpr int64_t kStoredTokens = 40;

std::shared_ptr<const Decoder> Open(const std::string& model, WeightStorage weights,
                                    Dtype dtype = Dtype::kFloat32, int threads = 1) {
  return Decoder::Open(model, {.dtype = dtype, .threads = threads, .weights = weights});
}

void ExpectClose(std::span<const float> actual, std::span<const float> expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  EXPECT_LE(Difference(actual, expected), tolerance) << what;
}

// Logits of all rows, of a prompt in one piece and of three tokens after it, one by one.
struct Outcome {
  std::vector<float> prefill;
  std::vector<float> attention;
  std::vector<float> decoded;
};

Outcome RunAll(const Decoder& decoder) {
  Outcome outcome;
  LastQueryAttention attention(decoder.config());
  const std::vector<int32_t> ids = SomeTinyIds(kStoredTokens + 3);
  const auto trace = decoder.MakeTrace(kStoredTokens + 3);
  RunRequest request;
  request.ids = std::span(ids).first(kStoredTokens);
  request.first_logit_row = 0;
  request.hooks = {&attention};
  request.trace = trace.get();
  outcome.prefill = decoder.RunOne(request).logits;
  outcome.attention = attention.attention();
  request.hooks.clear();
  request.prompt_tokens = kStoredTokens;
  request.first_logit_row = -1;
  for (int64_t rows = kStoredTokens + 1; rows <= kStoredTokens + 3; ++rows) {
    request.ids = std::span(ids).first(static_cast<size_t>(rows));
    const std::vector<float> logits = decoder.RunOne(request).logits;
    outcome.decoded.insert(outcome.decoded.end(), logits.begin(), logits.end());
  }
  return outcome;
}

void ExpectSameNumbers(const std::string& model) {
  const auto stored = Open(model, WeightStorage::kStored);
  const auto expanded = Open(model, WeightStorage::kExpanded);
  EXPECT_EQ(stored->options().weights, WeightStorage::kStored);
  EXPECT_EQ(expanded->options().weights, WeightStorage::kExpanded);
  EXPECT_EQ(stored->hash(), expanded->hash());
  const Outcome actual = RunAll(*stored);
  const Outcome expected = RunAll(*expanded);
  ExpectClose(actual.prefill, expected.prefill, kLogitTolerance * Largest(expected.prefill),
              "prefill");
  ExpectClose(actual.attention, expected.attention, kStoredTolerance, "attention");
  ExpectClose(actual.decoded, expected.decoded, kLogitTolerance * Largest(expected.decoded),
              "decoding");
  const Outcome again = RunAll(*stored);
  EXPECT_EQ(again.prefill, actual.prefill);
  EXPECT_EQ(again.decoded, actual.decoded);

  Prompt prompt;
  prompt.ids = SomeTinyIds(kStoredTokens);
  prompt.answer_ids = {1, 2, 3};
  WhatIf with_stored(stored, {prompt});
  WhatIf with_expanded(expanded, {prompt});
  for (const char* setting : {"none", "channel(3, factor=-1)", "channel([2,7], factor=[0,2.5])",
                              "channel(5, factor=0.5, rows=all)"}) {
    const Intervention intervention = ParseIntervention(setting);
    const WhatIfOutcome one = with_stored.Evaluate(intervention).outcomes[0];
    const WhatIfOutcome other = with_expanded.Evaluate(intervention).outcomes[0];
    ExpectClose(one.last_logits, other.last_logits, kLogitTolerance * Largest(other.last_logits),
                setting);
    ExpectClose(one.last_query_attention, other.last_query_attention, kStoredTolerance, setting);
  }
}

// Whether at least half of the rows of logits are that close: in the others rounding may have
// chosen another expert.
void ExpectMostRowsClose(const std::vector<float>& actual, const std::vector<float>& expected,
                         int64_t vocabulary, double tolerance) {
  const auto width = static_cast<size_t>(vocabulary);
  int64_t rows = 0;
  int64_t close = 0;
  for (size_t at = 0; at < expected.size(); at += width, ++rows) {
    const std::span<const float> one = std::span(actual).subspan(at, width);
    close += Difference(one, std::span(expected).subspan(at, width)) <= tolerance ? 1 : 0;
  }
  EXPECT_GE(2 * close, rows) << close << " of " << rows;
}

void ExpectCloseInBFloat16(const std::string& model) {
  const auto stored = Open(model, WeightStorage::kStored, Dtype::kBFloat16);
  const Outcome actual = RunAll(*stored);
  const Outcome expected = RunAll(*Open(model, WeightStorage::kExpanded, Dtype::kBFloat16));
  if (stored->config().experts.count > 0) {
    return ExpectMostRowsClose(actual.prefill, expected.prefill, stored->config().vocabulary,
                               kNarrowTolerance * Largest(expected.prefill));
  }
  ExpectClose(actual.prefill, expected.prefill, kNarrowTolerance * Largest(expected.prefill),
              "prefill");
  ExpectClose(actual.decoded, expected.decoded, kNarrowTolerance * Largest(expected.decoded),
              "decoding");
}

std::string Named(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

class EveryArchitecture : public ::testing::TestWithParam<std::string> {};

TEST_P(EveryArchitecture, ComputesTheSame) {
  const std::string model = TinyModelPath(GetParam());
  ExpectSameNumbers(model);
  ExpectCloseInBFloat16(model);
}

INSTANTIATE_TEST_SUITE_P(StoredWeights, EveryArchitecture, ::testing::ValuesIn(TinyModelNames()),
                         [](const auto& test) { return Named(test.param); });

class EveryBlockType : public ::testing::TestWithParam<BlockType> {};

TEST_P(EveryBlockType, ComputesTheSame) {
  const test::TemporaryFile file(test::BlockModel(GetParam()).Bytes());
  ExpectSameNumbers(file.path());
  ExpectCloseInBFloat16(file.path());
}

std::vector<BlockType> BlockTypes() {
  std::vector<BlockType> types;
  types.reserve(kernels::BlockFormats().size());
  for (const kernels::BlockFormat& format : kernels::BlockFormats()) types.push_back(format.type);
  return types;
}

INSTANTIATE_TEST_SUITE_P(StoredWeights, EveryBlockType, ::testing::ValuesIn(BlockTypes()),
                         [](const auto& test) {
                           return std::string(
                               kernels::FindBlockFormat(static_cast<uint32_t>(test.param))->name);
                         });

TEST(StoredWeights, ThreadsDoNotChangeTheNumbers) {
  const test::TemporaryFile file(test::BlockModel(BlockType::kQ4_K).Bytes());
  const Outcome one = RunAll(*Open(file.path(), WeightStorage::kStored, Dtype::kFloat32, 1));
  const Outcome two = RunAll(*Open(file.path(), WeightStorage::kStored, Dtype::kFloat32, 2));
  ExpectClose(two.prefill, one.prefill, kLogitTolerance * Largest(one.prefill), "prefill");
  ExpectClose(two.decoded, one.decoded, kLogitTolerance * Largest(one.decoded), "decoding");
  Open(file.path(), WeightStorage::kStored);  // back to one thread
}

std::string RunError(const Decoder& decoder, const std::vector<int32_t>& ids) {
  return test::ErrorMessage([&] {
    RunRequest request;
    request.ids = ids;
    decoder.RunOne(request);
  });
}

// Every type by the way that products of many rows, and of one, take.
TEST(StoredWeights, ValuesThatAreNotFiniteAreRefusedBeforeTheyAreUsed) {
  for (const BlockType type :
       {BlockType::kF16, BlockType::kQ4_0, BlockType::kQ4_K, BlockType::kQ6_K, BlockType::kIQ4_XS,
        BlockType::kIQ1_M, BlockType::kIQ3_S}) {
    const test::TemporaryFile file(test::BlockModel(type, "blk.1.ffn_up.weight").Bytes());
    const auto decoder = Open(file.path(), WeightStorage::kStored);
    const auto wanted = HasSubstr("tensor blk.1.ffn_up.weight holds values that are not finite");
    EXPECT_THAT(RunError(*decoder, SomeTinyIds(20)), wanted);
    EXPECT_THAT(RunError(*decoder, SomeTinyIds(1)), wanted);
    EXPECT_THAT(test::ErrorMessage([&] { Open(file.path(), WeightStorage::kExpanded); }), wanted);
  }
  const test::TemporaryFile file(test::BlockModel(BlockType::kQ5_K, "token_embd.weight").Bytes());
  const auto decoder = Open(file.path(), WeightStorage::kStored);
  EXPECT_EQ(RunError(*decoder, {5, 6, 7}), "");
  EXPECT_THAT(RunError(*decoder, {5, 0, 7}), HasSubstr("tensor token_embd.weight holds values"));
}

TEST(StoredWeights, AutoExpandsUpToOneGibibyte) {
  ModelConfig config;
  config.parameters = int64_t{1} << 28;
  EXPECT_EQ(ResolveStorage(WeightStorage::kAuto, config, Dtype::kFloat32),
            WeightStorage::kExpanded);
  ++config.parameters;
  EXPECT_EQ(ResolveStorage(WeightStorage::kAuto, config, Dtype::kFloat32), WeightStorage::kStored);
  EXPECT_EQ(ResolveStorage(WeightStorage::kAuto, config, Dtype::kBFloat16),
            WeightStorage::kExpanded);
  EXPECT_EQ(ResolveStorage(WeightStorage::kExpanded, config, Dtype::kFloat32),
            WeightStorage::kExpanded);
}

}  // namespace
}  // namespace midscope
