// SPDX-License-Identifier: MIT
// Several prompts in one call: stacked records compared with the records of single runs.
#include "probes/engine/probe_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "core/base/error.h"
#include "probes/base/record_stack.h"
#include "probes/base/records.h"
#include "probes/engine/run_probe.h"
#include "probes/prompt/task_prompt.h"
#include "tests/probes/support/local_engine_fixture.h"
#include "tests/probes/support/open_model.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using testing::EmbeddedModel;
using testing::Find;
using ::testing::HasSubstr;

Record Small(std::vector<double> values, const std::vector<int64_t>& positions, int64_t tokens) {
  Record record;
  record.name = "small";
  record.axes = {CountedAxis("layer", 2), ValuedAxis("position", positions)};
  record.arrays = {{"value", {"layer", "position"}, std::move(values), "nats", "a value"},
                   {"count", {"position"}, std::vector<int64_t>(positions.size(), 7), "", ""}};
  record.attributes = {{"rule", std::string(">=")}, {"tokens", tokens}};
  record.signal = "value";
  return record;
}

TEST(StackRecords, PutsPromptsInFrontAndPadsToTheLongest) {
  const std::vector<Record> records = {Small({1, 2, 3, 4}, {5, 6}, 10),
                                       Small({1, 2, 3, 4, 5, 6}, {5, 6, 7}, 11)};
  const Record stacked =
      StackRecords(records, {CountedAxis("sample", 1), ValuedAxis("place", {3, 9})});
  stacked.Check();
  const auto& values = ArrayValues<double>(stacked, "value");
  ASSERT_EQ(values.size(), 12u);  // [1, 2, 2, 3]
  EXPECT_EQ(values[0], 1);
  EXPECT_EQ(values[1], 2);
  EXPECT_TRUE(std::isnan(values[2]));
  EXPECT_EQ(values[3], 3);
  EXPECT_TRUE(std::isnan(values[5]));
  EXPECT_EQ(values[6], 1);
  EXPECT_EQ(values[11], 6);
  EXPECT_THAT(ArrayValues<int64_t>(stacked, "count"), ElementsAre(7, 7, -1, 7, 7, 7));
  EXPECT_THAT(ArrayValues<int64_t>(stacked, "position_count"), ElementsAre(2, 3));
  EXPECT_EQ(stacked.FindArray("value")->axes,
            (std::vector<std::string>{"sample", "place", "layer", "position"}));
  EXPECT_EQ(stacked.FindArray("value")->unit, "nats");
}

TEST(StackRecords, KeepsWhatAllShareAndSpreadsWhatTheyDoNot) {
  const std::vector<Record> records = {Small({1, 2}, {5}, 10), Small({3, 4}, {6}, 11)};
  const Record stacked = StackRecords(records, {CountedAxis("sample", 2)});
  stacked.Check();
  EXPECT_EQ(std::get<std::string>(stacked.attributes.at("rule")), ">=");
  EXPECT_EQ(stacked.attributes.count("tokens"), 0u);
  EXPECT_THAT(ArrayValues<int64_t>(stacked, "tokens"), ElementsAre(10, 11));
  EXPECT_TRUE(stacked.FindAxis("position")->values.empty());
  EXPECT_THAT(ArrayValues<double>(stacked, "position_values"), ElementsAre(5, 6));
  EXPECT_EQ(stacked.FindArray("position_count"), nullptr);
}

TEST(StackRecords, RefusesWhatIsNotAlike) {
  Record other = Small({1, 2}, {5}, 10);
  other.arrays.pop_back();
  EXPECT_THROW(StackRecords({Small({1, 2}, {5}, 10), other}, {CountedAxis("sample", 2)}),
               std::logic_error);
  EXPECT_THROW(StackRecords({other}, {CountedAxis("sample", 2)}), std::logic_error);
}

struct ListBatch {
  explicit ListBatch(const std::string& names)
      : probes(BuiltInProbes()),
        options(probes.Options()),
        task(MakeTaskFor(EmbeddedModel()->tokenizer(), "list:lines=5", 1)) {
    options.SetText("probes", names);
    batch.samples = {0, 2};
    batch.places = {1, 3, 5};
    batch.prompt = [this](int64_t sample, int64_t place) {
      return TaskPrompt(EmbeddedModel()->tokenizer(), task->Make(sample, place));
    };
  }

  std::vector<Record> Run(const JobContext& context = {}) const {
    std::vector<Record> records =
        RunProbeBatch(*EmbeddedModel(), batch, {}, probes, options, context);
    for (const Record& record : records) record.Check();
    return records;
  }

  ProbeRegistry probes;
  OptionSet options;
  std::unique_ptr<Task> task;
  ProbeBatch batch;
};

TEST(ProbeBatch, GivesTheNumbersOfSingleRuns) {
  const ListBatch list("span_attention,logit_lens");
  const std::vector<Record> together = list.Run();
  const std::vector<Record> single =
      RunProbes(*EmbeddedModel(), list.batch.prompt(2, 3), {}, list.probes, list.options);
  const auto& stacked = ArrayValues<double>(Find(together, "span_attention"), "gold_attention");
  const auto& own = ArrayValues<double>(Find(single, "span_attention"), "gold_attention");
  ASSERT_EQ(stacked.size(), 6 * own.size());
  for (size_t i = 0; i < own.size(); ++i) {
    EXPECT_EQ(stacked[4 * own.size() + i], own[i]);  // sample 2 at place 3 is run 4
  }
  EXPECT_EQ(ArrayValues<double>(Find(together, "answer"), "answer_nll")[4],
            std::get<double>(Find(single, "answer").attributes.at("answer_nll")));
  const Record& following = Find(together, "gold_following");
  EXPECT_EQ(following.FindAxis("place")->values, (std::vector<double>{1, 3, 5}));
  EXPECT_NO_THROW(Find(together, "logit_lens_by_place"));
}

TEST(ProbeBatch, LeavesLargeRecordsOutUnlessTheyAreNamed) {
  std::set<std::string> names;
  for (const Record& record : ListBatch("").Run()) names.insert(record.name);
  EXPECT_TRUE(names.contains("position_awareness"));
  EXPECT_FALSE(names.contains("last_query_attention"));
  EXPECT_FALSE(names.contains("last_logits"));
  EXPECT_NO_THROW(Find(ListBatch("last_query_attention").Run(), "last_query_attention"));
}

TEST(ProbeBatch, TellsItsRunsBeforeTheFirstAndCountsThem) {
  std::vector<std::string> log;
  std::vector<int64_t> done;
  JobContext context;
  context.log = [&](const std::string& message) {
    EXPECT_TRUE(done.empty());
    log.push_back(message);
  };
  context.progress = [&](const Progress& progress) {
    EXPECT_EQ(progress.total, 6);
    done.push_back(progress.done);
  };
  ListBatch("next_tokens").Run(context);
  ASSERT_EQ(log.size(), 1u);
  EXPECT_THAT(log.front(), HasSubstr("2 samples at 3 places: 6 runs"));
  EXPECT_THAT(done, ElementsAre(0, 1, 2, 3, 4, 5));
}

TEST(ProbeBatch, StopsWhenCancelled) {
  std::atomic<bool> cancel = false;
  int64_t begun = 0;
  JobContext context;
  context.cancel = &cancel;
  context.progress = [&](const Progress& progress) {
    begun = progress.done;
    cancel = progress.done == 2;
  };
  EXPECT_THROW(ListBatch("next_tokens").Run(context), Cancelled);
  EXPECT_EQ(begun, 2);
}

}  // namespace
}  // namespace midscope
