// SPDX-License-Identifier: MIT
// Channel searches in the window's engine: results equal those of FindChannels; a stopped search
// can be resumed, and another ranking of the same states needs no run.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "probes/measure/channels/channel_options.h"
#include "probes/measure/channels/channel_validation.h"
#include "probes/measure/channels/prompt_channels.h"
#include "tests/probes/support/local_engine_fixture.h"

namespace midscope {
namespace {

using testing::Data;
using Clock = std::chrono::steady_clock;

constexpr const char* kSearch = R"({"prompts": 3, "tokens": 240, "top": 2, "validate": "none"})";

class EngineChannels : public testing::LocalEngineFixture {
 protected:
  static std::vector<int64_t> Ranked(const Record& record) {
    return Data<int64_t>(record, "ranked_channel");
  }
};

TEST_F(EngineChannels, AStoppedSearchGoesOnAndEqualsAWholeOne) {
  SetSmallTask();
  std::atomic<bool> cancel = false;
  std::vector<int64_t> done;
  JobContext stopped;
  stopped.cancel = &cancel;
  Clock::time_point cancelled;
  stopped.progress = [&](const Progress& progress) {
    done.push_back(progress.done);
    if (progress.done == 2) {
      cancel = true;
      cancelled = Clock::now();
    }
  };
  EXPECT_THROW(engine->SearchChannels({kSearch}, {}, stopped), Cancelled);
  EXPECT_LT(Clock::now() - cancelled, std::chrono::seconds(1));
  JobContext again;
  std::vector<int64_t> later;
  again.progress = [&](const Progress& progress) {
    if (progress.stage == "hidden states") later.push_back(progress.done);
  };
  const std::vector<Record> found = engine->SearchChannels({kSearch}, {}, again);
  EXPECT_EQ(later, (std::vector<int64_t>{2, 3}));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().name, kChannelSearchRecord);
  EXPECT_EQ(std::get<std::string>(found.front().attributes.at("model_hash")),
            engine->Describe().model_hash);

  // As above, in one run of another engine.
  const auto other = MakeLocalEngine();
  other->Open({}, {});
  const std::vector<Record> whole = other->SearchChannels({kSearch}, {}, {});
  EXPECT_EQ(Data<double>(whole.front(), "smoothness").size(),
            Data<double>(found.front(), "smoothness").size());
  EXPECT_EQ(Data<float>(whole.front(), "hidden_mean"), Data<float>(found.front(), "hidden_mean"));
  EXPECT_EQ(Ranked(whole.front()), Ranked(found.front()));

  // Requests another ranking of the same states.
  later.clear();
  const std::string lower =
      R"({"prompts": 3, "tokens": 240, "top": 2, "validate": "none", "threshold": 20})";
  const Record few = engine->SearchChannels({lower}, {}, again).front();
  EXPECT_EQ(later, (std::vector<int64_t>{3}));
  EXPECT_LT(Ranked(few).size(), Ranked(found.front()).size());
}

TEST_F(EngineChannels, TheRankingComesBeforeTheTrials) {
  SetSmallTask();
  std::vector<std::string> told;
  const std::vector<Record> found = engine->SearchChannels(
      {R"({"prompts": 1, "tokens": 240, "top": 1, "factors": "0", "examples": 1, "places": "1"})"},
      [&](const Record& record) { told.push_back(record.name); }, {});
  EXPECT_EQ(told, std::vector<std::string>{kChannelSearchRecord});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].name, kChannelValidationRecord);
  EXPECT_EQ(found[1].FindAxis("setting")->size, 2);
}

TEST_F(EngineChannels, WhatIsKnownSoFarComesAfterPromptsAndExamples) {
  SetSmallTask();
  const auto options = [](int64_t prompts) {
    return ChannelSearchRequest{
        R"({"tokens": 240, "top": 1, "factors": "0", "examples": 2, "places": "1", "prompts": )" +
        std::to_string(prompts) + "}"};
  };
  std::vector<Record> parts;
  const std::vector<Record> found =
      engine->SearchChannels(options(4), [&](const Record& part) { parts.push_back(part); }, {});
  ASSERT_EQ(parts.size(), 4u);  // after 1 and 2 prompts, all prompts, the first example
  for (const size_t part : {0, 1}) {
    EXPECT_EQ(std::get<int64_t>(parts[part].attributes.at("prompts")), int64_t{1} << part);
    EXPECT_EQ(std::get<int64_t>(parts[part].attributes.at(kPlannedPrompts)), 4);
  }
  EXPECT_FALSE(parts[2].attributes.contains(kPlannedPrompts));
  EXPECT_FALSE(found[0].attributes.contains(kPlannedPrompts));
  EXPECT_EQ(parts[3].name, kChannelValidationRecord);
  EXPECT_EQ(std::get<int64_t>(parts[3].attributes.at("examples")), 1);
  EXPECT_EQ(std::get<int64_t>(parts[3].attributes.at(kPlannedExamples)), 2);
  EXPECT_FALSE(found[1].attributes.contains(kPlannedExamples));

  // The ranking after one prompt is that of a search of one prompt.
  const auto other = MakeLocalEngine();
  other->Open({}, {});
  const Record one = other->SearchChannels(options(1), {}, {}).front();
  EXPECT_EQ(Ranked(one), Ranked(parts[0]));
  EXPECT_EQ(Data<float>(one, "hidden_mean"), Data<float>(parts[0], "hidden_mean"));
}

TEST_F(EngineChannels, OfThePromptUnderASetting) {
  SetSmallTask();
  const Record record = engine->PromptChannels({1, {}, R"({"top": 3})"}, {});
  EXPECT_EQ(record.name, kPromptChannelsRecord);
  EXPECT_EQ(std::get<std::string>(record.attributes.at("intervention")), "none");
  EXPECT_FALSE(std::get<std::string>(record.attributes.at("prompt_hash")).empty());
  EXPECT_EQ(record.FindAxis("candidate")->size, 3);
}

TEST_F(EngineChannels, RefusesWhatTheOptionsRefuse) {
  SetSmallTask();
  EXPECT_THROW(engine->SearchChannels({R"({"tokens": 100})"}, {}, {}), Error);
  EXPECT_THROW(engine->SearchChannels({R"({"factors": "x"})"}, {}, {}), Error);
}

}  // namespace
}  // namespace midscope
