// SPDX-License-Identifier: MIT
// Cached replies of what-ifs, and the partial replies reported during one.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "core/base/error.h"
#include "core/terms/intervention_text.h"
#include "probes/base/records.h"
#include "probes/engine/engine.h"

namespace midscope {
namespace {

class WhatIfReplies : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    engine = MakeLocalEngine();
    engine->Open({}, {});
  }
  static void TearDownTestSuite() { engine.reset(); }

  static void SetTask(int64_t sample = 0) {
    PromptRequest request;
    request.task = "list:lines=4";
    request.places = "1,2,4";
    request.sample = sample;
    engine->SetPrompt(request, {});
  }
  static WhatIfRequest Asked(const char* setting, std::vector<int64_t> channels = {100}) {
    WhatIfRequest request;
    request.intervention = ParseIntervention(setting);
    request.place = 1;
    request.channels = std::move(channels);
    return request;
  }

  static inline std::unique_ptr<Engine> engine;
};

void ExpectEqual(const std::vector<Record>& left, const std::vector<Record>& right) {
  ASSERT_EQ(left.size(), right.size());
  for (size_t i = 0; i < left.size(); ++i) {
    SCOPED_TRACE(left[i].name);
    EXPECT_EQ(left[i].name, right[i].name);
    EXPECT_EQ(left[i].attributes, right[i].attributes);
    ASSERT_EQ(left[i].arrays.size(), right[i].arrays.size());
    for (size_t array = 0; array < left[i].arrays.size(); ++array) {
      EXPECT_EQ(left[i].arrays[array].name, right[i].arrays[array].name);
      EXPECT_TRUE(left[i].arrays[array].data == right[i].arrays[array].data);
    }
  }
}

TEST_F(WhatIfReplies, ASettingSeenBeforeComesBackExactly) {
  SetTask();
  const WhatIfReply first = engine->WhatIf(Asked("ms-poe"), {}, {});
  EXPECT_FALSE(first.cost.seen_before);
  engine->WhatIf(Asked("pi(1.7)"), {}, {});  // the traces now belong to another setting
  size_t parts = 0;
  const WhatIfReply again =
      engine->WhatIf(Asked("ms-poe"), [&](const WhatIfReply&) { ++parts; }, {});
  EXPECT_TRUE(again.cost.seen_before);
  EXPECT_EQ(again.cost.share, 0);
  EXPECT_EQ(parts, 0u);
  ExpectEqual(again.records, first.records);
}

// After a cached reply, the traces still belong to another setting. Channels that were not
// requested before must be computed under the requested setting.
TEST_F(WhatIfReplies, OtherChannelsOfASettingSeenBeforeAreItsOwn) {
  SetTask();
  engine->WhatIf(Asked("pi(1.5)", {100}), {}, {});
  engine->WhatIf(Asked("pi(3)", {100}), {}, {});
  ASSERT_TRUE(engine->WhatIf(Asked("pi(1.5)", {100}), {}, {}).cost.seen_before);
  const WhatIfReply other = engine->WhatIf(Asked("pi(1.5)", {7}), {}, {});
  EXPECT_FALSE(other.cost.seen_before);
  SetTask();
  const WhatIfReply afresh = engine->WhatIf(Asked("pi(1.5)", {7}), {}, {});
  const auto values = [](const WhatIfReply& reply) {
    for (const Record& record : reply.records) {
      if (record.name == "hidden_channels")
        return std::get<std::vector<float>>(record.arrays.front().data);
    }
    return std::vector<float>();
  };
  ASSERT_FALSE(values(other).empty());
  for (size_t i = 0; i < values(other).size(); ++i) {
    ASSERT_NEAR(values(other)[i], values(afresh)[i],
                1e-3 * std::max(1.0F, std::abs(values(afresh)[i])));
  }
}

TEST_F(WhatIfReplies, ANewPromptAndANewModelForgetThem) {
  SetTask();
  engine->WhatIf(Asked("pi(1.5)"), {}, {});
  SetTask(1);
  EXPECT_FALSE(engine->WhatIf(Asked("pi(1.5)"), {}, {}).cost.seen_before);
  EXPECT_TRUE(engine->WhatIf(Asked("pi(1.5)"), {}, {}).cost.seen_before);
  engine->Open({}, {});
  SetTask(1);
  EXPECT_FALSE(engine->WhatIf(Asked("pi(1.5)"), {}, {}).cost.seen_before);
}

TEST_F(WhatIfReplies, AStoppedOneIsNotKept) {
  SetTask();
  engine->WhatIf(Asked("none"), {}, {});
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  context.progress = [&](const Progress&) { cancel = true; };
  EXPECT_THROW(engine->WhatIf(Asked("ms-poe"), {}, context), Cancelled);
  EXPECT_FALSE(engine->WhatIf(Asked("ms-poe"), {}, {}).cost.seen_before);
}

// Every partial reply has the requested setting and place. The last one is the complete place and
// equals the final reply, which adds only the outcome of all places.
TEST_F(WhatIfReplies, PartsCarryTheirSettingAndEndAsTheReplyDoes) {
  PromptRequest longer;  // long enough for layers to be reported
  longer.task = "list:lines=30";
  longer.places = "1,15,30";
  engine->SetPrompt(longer, {});
  engine->WhatIf(Asked("none"), {}, {});
  std::vector<WhatIfReply> parts;
  const WhatIfReply whole =
      engine->WhatIf(Asked("ms-poe"), [&](const WhatIfReply& part) { parts.push_back(part); }, {});
  ASSERT_GE(parts.size(), 2u);
  for (const WhatIfReply& part : parts) {
    for (const Record& record : part.records) {
      record.Check();
      EXPECT_EQ(std::get<std::string>(record.attributes.at("intervention")),
                PrintIntervention(ParseIntervention("ms-poe")));
      EXPECT_EQ(std::get<int64_t>(record.attributes.at("place")), 15);
      EXPECT_NE(record.name, "outcome");
      EXPECT_EQ(IsPartial(record), &part != &parts.back()) << record.name;
    }
  }
  EXPECT_EQ(parts.front().records.size(), 3u);
  ExpectEqual(parts.back().records,
              std::vector<Record>(whole.records.begin() + 1, whole.records.end()));
  for (const Record& record : whole.records) EXPECT_FALSE(IsPartial(record)) << record.name;
}

}  // namespace
}  // namespace midscope
