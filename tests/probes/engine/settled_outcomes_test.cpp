// SPDX-License-Identifier: MIT
// One setting has one outcome on one prompt of an open model, whatever was requested in between.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/record_names.h"
#include "core/decoder/hooks.h"
#include "core/terms/intervention_text.h"
#include "probes/base/records.h"
#include "probes/engine/engine.h"
#include "probes/engine/settled_outcomes.h"

namespace midscope {
namespace {

class SettledOutcomesTest : public ::testing::TestWithParam<const char*> {
 protected:
  SettledOutcomesTest() {
    OpenRequest request;
    request.dtype = GetParam();
    engine_->Open(request, {});
    SetTask(0);
  }
  void SetTask(int64_t sample) {
    PromptRequest request;
    request.task = "list:lines=6";
    request.places = "1,3,6";
    request.sample = sample;
    engine_->SetPrompt(request, {});
  }
  std::vector<Record> WhatIf(const std::string& setting, size_t place = 1,
                             std::vector<int64_t> channels = {100}) {
    WhatIfRequest request;
    request.intervention = ParseIntervention(setting);
    request.place = place;
    request.channels = std::move(channels);
    return engine_->WhatIf(request, {}, {}).records;
  }
  std::vector<double> Nll(const std::string& setting, size_t place = 1,
                          std::vector<int64_t> channels = {100}) {
    const std::vector<Record> records = WhatIf(setting, place, std::move(channels));
    return ArrayValues<double>(*FindRecord(records, kOutcomeRecord), kAnswerNll);
  }
  static double Number(const Record& record, const char* attribute) {
    return std::get<double>(record.attributes.at(attribute));
  }

  std::unique_ptr<Engine> engine_ = MakeLocalEngine();
};

TEST_P(SettledOutcomesTest, AnOutcomeIsNotReplaced) {
  const std::vector<double> before = Nll("none");
  Nll("ms-poe", 0);
  EXPECT_EQ(Nll("none", 2, {7}), before);
  Nll("channel(100, factor=-1, rows=last)", 2);
  EXPECT_EQ(Nll("none", 0, {8}), before);
  SetTask(1);
  EXPECT_NE(Nll("none"), before);
  SetTask(0);
  EXPECT_EQ(Nll("none", 2), before);
}

TEST_P(SettledOutcomesTest, TermsWithoutEffectChangeNothing) {
  const std::vector<double> before = Nll("none");
  for (const char* setting :
       {"channel(100, factor=1)", "ms-poe(min=1, max=1)", "pi(1)", "temperature(L3H1, 1)"}) {
    Nll("channel(100, factor=-1)");
    EXPECT_EQ(Nll(setting, 2), before) << setting;
    const std::vector<Record> records = WhatIf(setting);
    const Record* outcome = FindRecord(records, kOutcomeRecord);
    EXPECT_EQ(AxisOf(*outcome, "setting").labels.front(),
              PrintIntervention(ParseIntervention(setting)));
  }
}

TEST_P(SettledOutcomesTest, CaptureRunsShowTheOutcomeOfWhatIfs) {
  for (const char* setting : {"none", "channel(100, factor=-1)"}) {
    const std::vector<double> nll = Nll(setting);
    for (const size_t place : {0, 1, 2}) {
      CaptureRunRequest request;
      request.place = place;
      request.intervention = ParseIntervention(setting);
      const std::vector<Record> records = engine_->CaptureRun(request, {}).records;
      EXPECT_EQ(Number(*FindRecord(records, kAnswerRecord), kAnswerNll), nll[place]);
      const Record* next = FindRecord(records, kNextTokensRecord);
      const double of_token =
          ArrayValues<double>(*FindRecord(records, kAnswerRecord), "answer_token_nll").front();
      EXPECT_NEAR(Number(*next, "answer_probability"), std::exp(-of_token), 1e-6);
      EXPECT_TRUE(next->attributes.contains("options"));
    }
  }
}

// Sets an activation, so that the run's outcome is not that of its setting.
class ZeroLayer : public Hook {
 public:
  HookRequest Request(const HookPoint& point, const SequenceInfo& sequence) override {
    const bool here = point == HookPoint{HookSite::kMlpOut, 12};
    return {here ? HookAccess::kWrite : HookAccess::kNone, {0, sequence.rows}};
  }
  void OnActivation(HookView& view) override {
    for (int64_t row = 0; row < view.rows(); ++row) {
      for (int64_t i = 0; i < view.shape[2]; ++i) view.Set(0, row, i, 0, 0.0F);
    }
  }
};

TEST_P(SettledOutcomesTest, ARunThatAHookChangesHasItsOwnOutcome) {
  WhatIf("none");
  const auto answer_of = [&](std::vector<Hook*> hooks) {
    CaptureRunRequest request;
    request.place = 1;
    request.hooks = std::move(hooks);
    const std::vector<Record> records = engine_->CaptureRun(request, {}).records;
    return Number(*FindRecord(records, kAnswerRecord), kAnswerNll);
  };
  ZeroLayer hook;
  const double without = answer_of({});
  EXPECT_GT(std::abs(answer_of({&hook}) - without), 1e-3);
  EXPECT_EQ(answer_of({}), without);
}

TEST_P(SettledOutcomesTest, NoiseIsThatOfTheDtype) {
  const std::vector<Record> records = WhatIf("none");
  const auto& attributes = FindRecord(records, kOutcomeRecord)->attributes;
  EXPECT_EQ(attributes.contains(kAnswerNllNoise), std::string(GetParam()) == "bfloat16");
  // It is that of the prompt, for every setting.
  const std::vector<Record> later = WhatIf("ms-poe");
  const auto& of_later = FindRecord(later, kOutcomeRecord)->attributes;
  ASSERT_EQ(of_later.contains(kAnswerNllNoise), attributes.contains(kAnswerNllNoise));
  if (of_later.contains(kAnswerNllNoise)) {
    EXPECT_EQ(of_later.at(kAnswerNllNoise), attributes.at(kAnswerNllNoise));
  }
}

INSTANTIATE_TEST_SUITE_P(Dtypes, SettledOutcomesTest, ::testing::Values("float32", "bfloat16"));

}  // namespace
}  // namespace midscope
