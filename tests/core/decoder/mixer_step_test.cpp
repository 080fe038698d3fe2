// SPDX-License-Identifier: MIT
// Layers with a mixer start again at stored states: continuations, what-ifs and
// shared prefixes of more than one state equal full runs. What transformers computes is in
// families_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "core/decoder/captures.h"
#include "core/decoder/decoder.h"
#include "core/decoder/trace.h"
#include "core/run/what_if.h"
#include "core/terms/intervention_text.h"
#include "tests/core/support/changed_config.h"
#include "tests/core/support/closeness.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using test::Difference;
using test::ErrorMessage;
using test::Largest;
using test::SomeTinyIds;
using Values = std::vector<float>;

constexpr int64_t kRows = 2 * kStateRows + 76;

class MixerStepTest : public ::testing::TestWithParam<std::string> {
 protected:
  MixerStepTest() : folder_(test::TinyModelFolder(GetParam())) {
    test::ChangeConfig(folder_, {{"max_position_embeddings", 4096}});
    decoder_ = Decoder::Open(folder_.path().string(), {kernels::Dtype::kFloat32, 1});
  }

  Values Full(const std::vector<int32_t>& ids, const std::string& setting = "none") const {
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = std::min(kRows, static_cast<int64_t>(ids.size()));
    request.first_logit_row = static_cast<int64_t>(ids.size()) - 1;
    request.intervention = ParseIntervention(setting);
    return decoder_->RunOne(request).logits;
  }

  Values OnTrace(const std::vector<int32_t>& ids, Trace* trace) const {
    RunRequest request;
    request.ids = ids;
    request.prompt_tokens = std::min(kRows, static_cast<int64_t>(ids.size()));
    request.first_logit_row = static_cast<int64_t>(ids.size()) - 1;
    request.trace = trace;
    return decoder_->RunOne(request).logits;
  }

  static void ExpectClose(const Values& actual, const Values& expected, const std::string& what) {
    EXPECT_LE(Difference(actual, expected), 1e-4 * Largest(expected)) << what;
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const Decoder> decoder_;
};

TEST_P(MixerStepTest, ContinuationsEqualFullRuns) {
  for (const bool residual : {false, true}) {
    const auto trace = decoder_->MakeTrace(kRows + 40, residual);
    std::vector<int32_t> ids = SomeTinyIds(kRows);
    for (const int64_t added : {0, 1, 1, 30}) {
      for (int64_t i = 0; i < added; ++i) ids.push_back(static_cast<int32_t>(11 + i));
      ExpectClose(OnTrace(ids, trace.get()), Full(ids), std::to_string(ids.size()));
    }
    // Other tokens from a row on that has no stored state.
    trace->Truncate(kStateRows + 100);
    for (size_t i = kStateRows + 100; i < ids.size(); ++i) ids[i] = (ids[i] + 3) % 250;
    ExpectClose(OnTrace(ids, trace.get()), Full(ids), "after the cut");
  }
}

TEST_P(MixerStepTest, WhatIfsEqualFullRuns) {
  Prompt prompt;
  prompt.ids = SomeTinyIds(kRows);
  for (const int64_t limit : {int64_t{0}, decoder_->TraceBytes(kRows) / 2}) {
    WhatIf what_if(decoder_, {prompt}, limit);
    for (const std::string setting :
         {"none", "channel(6, factor=-2)", "set(3, span=600:700, to=2, layers=0-0)",
          decoder_->config().positions == PositionKind::kRotary ? "pi(1.5)" : "none",
          "ablate(L1H2)", "none"}) {
      const WhatIfResult result = what_if.Evaluate(ParseIntervention(setting));
      ExpectClose(result.outcomes[0].last_logits, Full(prompt.ids, setting), setting);
    }
  }
}

TEST_P(MixerStepTest, ATakenPrefixContinuesLikeItsDonor) {
  const std::vector<int32_t> ids = SomeTinyIds(kRows);
  const auto donor = decoder_->MakeTrace(kRows);
  OnTrace(ids, donor.get());
  for (const int64_t rows : {kRows - 10, kStateRows, int64_t{7}}) {
    const auto taker = decoder_->MakeTrace(kRows);
    taker->TakeRows(*donor, rows);
    std::vector<int32_t> others = ids;
    for (auto i = static_cast<size_t>(rows); i < others.size(); ++i) others[i] = 249 - others[i];
    ExpectClose(OnTrace(others, taker.get()), Full(others), std::to_string(rows));
  }
}

TEST_P(MixerStepTest, BytesAreThoseOfTheTrace) {
  const auto trace = decoder_->MakeTrace(kRows);
  OnTrace(SomeTinyIds(kRows), trace.get());
  EXPECT_EQ(trace->bytes(), decoder_->TraceBytes(kRows));
}

class MixersAlone : public MixerStepTest {};

TEST_P(MixersAlone, EditsOfAttentionNeedAttention) {
  const auto error = [&](const std::string& setting) {
    return ErrorMessage([&] { Full(SomeTinyIds(40), setting); });
  };
  for (const char* setting :
       {"ablate(L2H1)", "channel(3, factor=0, layers=2-2)", "temperature(L0H1, 2)"}) {
    EXPECT_NE(error(setting).find("no attention"), std::string::npos) << error(setting);
    EXPECT_NE(error(setting).find("attends in layers 1, 3"), std::string::npos) << error(setting);
    const int64_t layer = std::string(setting).find("L0") == std::string::npos ? 2 : 0;
    const bool mixes = decoder_->config().HasMixer(layer);
    EXPECT_EQ(error(setting).find("mixes its tokens") != std::string::npos, mixes) << layer;
    EXPECT_EQ(error(setting).find("only an MLP") != std::string::npos, !mixes) << layer;
  }
}

std::string NameOf(const ::testing::TestParamInfo<std::string>& model) {
  std::string name = model.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Mixers, MixerStepTest,
                         ::testing::Values("qwen3-5", "lfm2", "granite-hybrid", "nemotron-h",
                                           "falcon-h1"),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Mixers, MixersAlone,
                         ::testing::Values("qwen3-5", "lfm2", "granite-hybrid", "nemotron-h"),
                         NameOf);

}  // namespace
}  // namespace midscope
