// SPDX-License-Identifier: MIT
// The decoder alone: batches, traces, chunks, comparisons between position schemes, and rejected
// inputs.
//
// Contract (float32): runs that differ only in how rows are split or packed agree to 1e-3 in
// logits; a uniform ratio and PI are the same arithmetic and agree bit for bit; repeated calls give
// the same bits.

#include "core/decoder/decoder.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/decoder/captures.h"
#include "core/run/scoring.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/embedded_decoder.h"

namespace midscope {
namespace {

using test::Difference;

constexpr double kTolerance = 1e-3;

RunResult RunSetting(const Decoder& decoder, std::span<const int32_t> ids,
                     const std::string& setting = "none", Trace* trace = nullptr,
                     int64_t prompt_tokens = 0) {
  RunRequest request;
  request.ids = ids;
  request.intervention = ParseIntervention(setting);
  request.trace = trace;
  request.prompt_tokens = prompt_tokens;
  return decoder.RunOne(request);
}

TEST(Decoder, KnownTopTokens) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = decoder->tokenizer().EncodeIds("The capital of France is");
  EXPECT_EQ(ids, (std::vector<int32_t>{504, 3575, 282, 4649, 314}));
  const auto top = TopTokens(RunSetting(*decoder, ids).Logits(4), 3);
  EXPECT_EQ(top[0].id, 7042);
  EXPECT_NEAR(top[0].logit, 17.3713, 2e-3);
  EXPECT_EQ(top[1].id, 260);
  EXPECT_NEAR(top[1].logit, 14.8886, 2e-3);
  EXPECT_EQ(top[2].id, 4528);
  EXPECT_NEAR(top[2].logit, 13.2450, 2e-3);
}

TEST(Decoder, SameCallSameBits) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = testing::SomeIds(*decoder, 70);
  EXPECT_EQ(RunSetting(*decoder, ids, "ms-poe()").logits,
            RunSetting(*decoder, ids, "ms-poe()").logits);
}

TEST(Decoder, BFloat16FollowsFloat32) {
  const auto ids = testing::SomeIds(*testing::EmbeddedDecoder(), 64);
  const auto exact = RunSetting(*testing::EmbeddedDecoder(), ids);
  const auto rounded = RunSetting(*testing::EmbeddedDecoder(kernels::Dtype::kBFloat16), ids);
  // 8 bits of mantissa through 30 layers: logits of this model, which spread over 20, move by some
  // tenths.
  EXPECT_LE(Difference(exact.logits, rounded.logits), 1.0);
}

TEST(Decoder, UniformRatioEqualsPositionInterpolationBitForBit) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = testing::SomeIds(*decoder, 50);
  const auto pi = RunSetting(*decoder, ids, "pi(1.5)");
  for (const char* mode : {"rank", "group", "code"}) {
    const std::string setting =
        std::string("ms-poe(min=1.5, max=1.5, first_layer=0, mode=") + mode + ")";
    EXPECT_EQ(RunSetting(*decoder, ids, setting).logits, pi.logits) << mode;
  }
  const auto plain = RunSetting(*decoder, ids);
  EXPECT_EQ(RunSetting(*decoder, ids, "pi(1)").logits, plain.logits);
  EXPECT_EQ(RunSetting(*decoder, ids, "ms-poe(min=1, max=1)").logits, plain.logits);
  EXPECT_EQ(RunSetting(*decoder, ids, "channel(100, factor=1)").logits.size(), plain.logits.size());
  EXPECT_LE(Difference(RunSetting(*decoder, ids, "channel(100, factor=1)").logits, plain.logits),
            kTolerance);
}

TEST(Decoder, PackedBatchEqualsSingleRuns) {
  const auto decoder = testing::EmbeddedDecoder();
  std::vector<std::vector<int32_t>> ids;
  for (const int64_t tokens : {1, 37, 5, 64})
    ids.push_back(testing::SomeIds(*decoder, tokens, static_cast<uint64_t>(tokens)));
  const char* settings[] = {"none", "pi(2)", "channel(100, factor=-1, layers=8-25)", "ms-poe()"};
  std::vector<RunRequest> requests(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    requests[i].ids = ids[i];
    requests[i].intervention = ParseIntervention(settings[i]);
  }
  const auto results = decoder->Run(requests);
  for (size_t i = 0; i < ids.size(); ++i) {
    EXPECT_LE(Difference(results[i].logits, RunSetting(*decoder, ids[i], settings[i]).logits),
              kTolerance)
        << settings[i];
  }
}

// Rows continued on a trace, in awkward chunks, equal one run.
TEST(Decoder, ChunksOnATraceEqualOneRun) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = testing::SomeIds(*decoder, 61);
  for (const char* setting : {"none", "pi(1.5)", "ms-poe(order=reversed)"}) {
    const auto whole = RunSetting(*decoder, ids, setting);
    const auto trace = decoder->MakeTrace(61, false);
    RunResult last;
    for (const size_t end : {1, 2, 19, 52, 61}) {
      last = RunSetting(*decoder, std::span(ids).first(end), setting, trace.get());
    }
    EXPECT_LE(Difference(last.logits, whole.logits), kTolerance) << setting;
  }
}

// The prompt's end decides what is last, so a run of its first rows changes none of them; ratios
// that the last row decides can't be known before it.
TEST(Decoder, APromptMayComeInParts) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = testing::SomeIds(*decoder, 40);
  const std::string setting = "channel(100, factor=-1, layers=8-25)";
  const auto trace = decoder->MakeTrace(40);
  const auto first =
      RunSetting(*decoder, std::span(ids).first(23), setting, trace.get(), /*prompt_tokens=*/40);
  EXPECT_EQ(first.first_logit_row, 22);
  // With a trace too: it keeps all rows of the last layer, and a library's product of one row need
  // not have the bits of its product of many (MKL's does not).
  const auto plain = decoder->MakeTrace(23);
  EXPECT_EQ(first.logits,
            RunSetting(*decoder, std::span(ids).first(23), "none", plain.get()).logits);
  const auto last = RunSetting(*decoder, ids, setting, trace.get(), 40);
  EXPECT_LE(Difference(last.logits, RunSetting(*decoder, ids, setting).logits), kTolerance);
  EXPECT_THROW(RunSetting(*decoder, std::span(ids).first(23), "ms-poe()", nullptr, 40),
               std::logic_error);
  EXPECT_NO_THROW(
      RunSetting(*decoder, std::span(ids).first(3), "ms-poe(order=random)", nullptr, 40));
}

TEST(Decoder, ScoredRowsSeeTheLastPromptQuerysRatios) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = testing::SomeIds(*decoder, 48);
  const auto with_answer = RunSetting(*decoder, ids, "ms-poe()", nullptr, 40);
  const auto prompt_only = RunSetting(*decoder, std::span(ids).first(40), "ms-poe()");
  EXPECT_EQ(with_answer.position_ratio.values, prompt_only.position_ratio.values);
  EXPECT_LE(Difference(with_answer.Logits(39), prompt_only.Logits(39)), kTolerance);
}

TEST(Decoder, LastRowsOptionTouchesTheLastPromptRowAlone) {
  const auto decoder = testing::EmbeddedDecoder();
  const auto ids = testing::SomeIds(*decoder, 48);
  // Up to its last layer the row itself does not see its own change of later layers, so scale layer
  // 29 alone: rows after the prompt are then clean.
  const auto clean = RunSetting(*decoder, ids, "none", nullptr, 40);
  const auto last =
      RunSetting(*decoder, ids, "channel(100, factor=-1, layers=29, rows=last)", nullptr, 40);
  const auto answer =
      RunSetting(*decoder, ids, "channel(100, factor=-1, layers=29, rows=answer)", nullptr, 40);
  EXPECT_GT(Difference(last.Logits(39), clean.Logits(39)), 1e-3);
  EXPECT_LE(Difference(last.Logits(45), clean.Logits(45)), kTolerance);
  EXPECT_LE(Difference(last.Logits(39), answer.Logits(39)), kTolerance);
  EXPECT_GT(Difference(answer.Logits(45), clean.Logits(45)), 1e-3);
}

TEST(Decoder, RefusesWhatItCannotRun) {
  const auto decoder = testing::EmbeddedDecoder();
  EXPECT_THROW(RunSetting(*decoder, {}), Error);
  const std::vector<int32_t> outside = {1, 49152};
  EXPECT_THROW(RunSetting(*decoder, outside), Error);
  const std::vector<int32_t> negative = {-1};
  EXPECT_THROW(RunSetting(*decoder, negative), Error);
  const std::vector<int32_t> too_long(8193, 5);
  EXPECT_THROW(RunSetting(*decoder, too_long), Error);
  const std::vector<int32_t> fine = {5, 6};
  EXPECT_THROW(RunSetting(*decoder, fine, "channel(576, factor=0)"), Error);
  EXPECT_THROW(RunSetting(*decoder, fine, "channel(0, factor=0, layers=30)"), Error);
}

TEST(Decoder, CapturesAreLinearInThePrompt) {
  const auto decoder = testing::EmbeddedDecoder();
  EXPECT_EQ(decoder->TraceBytes(4000), 4 * decoder->TraceBytes(1000));
  LastQueryAttention attention(decoder->config());
  const auto ids = testing::SomeIds(*decoder, 129);
  RunRequest request;
  request.ids = ids;
  request.prompt_tokens = 100;
  request.hooks = {&attention};
  decoder->RunOne(request);
  EXPECT_EQ(attention.attention().size(), 30u * 9u * 100u);
  for (int64_t layer = 0; layer < 30; ++layer) {
    double sum = 0;
    for (const float weight : attention.Row(layer, 8)) sum += weight;
    EXPECT_NEAR(sum, 1.0, 1e-4);
  }
}

}  // namespace
}  // namespace midscope
