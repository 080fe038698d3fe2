// SPDX-License-Identifier: MIT
#include "data/sweep/sample_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "data/store/run_store.h"
#include "data/sweep/sweep_store.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_records.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;

template <typename T>
std::vector<T> DataOf(const Record& record, const std::string& array) {
  const Array* found = record.FindArray(array);
  if (!found) return {};
  return std::get<std::vector<T>>(found->data);
}

std::vector<std::string> Names(const std::vector<Record>& records) {
  std::vector<std::string> names;
  names.reserve(records.size());
  for (const Record& record : records) names.push_back(record.name);
  return names;
}

Record SweepSample(int64_t sample) {
  Record record = ExampleSample(sample);
  const int64_t keys = record.FindAxis("key")->size;
  record.arrays.push_back(
      {"prompt_tokens", {"place"}, std::vector<int64_t>{keys, keys, keys}, "", ""});
  record.arrays.push_back({"gold_token_begin", {"place"}, std::vector<int64_t>{1, 2, 3}, "", ""});
  record.arrays.push_back({"gold_token_end", {"place"}, std::vector<int64_t>{2, 4, 6}, "", ""});
  return record;
}

std::string WriteViewedSweep(const TemporaryFolder& folder) {
  std::string path = folder.File("run.h5");
  SweepStore store = SweepStore::Create(path, R"({"seed":1})", ExampleProvenance());
  for (const int64_t sample : {2, 5, 9}) store.Append(sample, SweepSample(sample));
  store.Finish();
  return path;
}

TEST(SampleView, GivesASweepsSampleAsTheWindowKnowsIt) {
  const TemporaryFolder folder;
  const SampleView view(WriteViewedSweep(folder));
  EXPECT_THAT(view.samples().values, ElementsAre(2, 5, 9));
  EXPECT_EQ(view.settings().size, 0) << "attention is of the first setting alone";
  EXPECT_EQ(view.places().size, 0);
  const std::vector<Record> records = view.Read({1, 0, 0});
  EXPECT_THAT(Names(records), ElementsAre("prompt", "outcome", "last_query_attention"));
  for (const Record& record : records) EXPECT_NO_THROW(record.Check()) << record.name;
  const Record wanted = SweepSample(5);
  const Record& outcome = records[1];
  EXPECT_EQ(outcome.FindArray("answer_nll")->axes, (std::vector<std::string>{"setting", "place"}));
  ExpectSameData(outcome.FindArray("answer_nll")->data, wanted.FindArray("answer_nll")->data,
                 "answer_nll");
  EXPECT_THAT(DataOf<std::string>(outcome, "answer"), ElementsAre("word 5"));
  EXPECT_EQ(std::get<int64_t>(outcome.attributes.at("sample")), 5);
  const Record& attention = records[2];
  EXPECT_EQ(attention.FindAxis("key")->size, wanted.FindAxis("key")->size) << "no padding";
  EXPECT_EQ(attention.FindAxis("key")->labels, wanted.FindAxis("key")->labels);
  ExpectSameData(attention.FindArray("last_query_attention")->data,
                 wanted.FindArray("last_query_attention")->data, "last_query_attention");
  EXPECT_EQ(std::get<std::string>(attention.attributes.at("intervention")), "none");
  EXPECT_THAT(DataOf<int64_t>(records[0], "span_token_end"), ElementsAre(2));
}

TEST(SampleView, OverviewHasNothingThatIsReadBySample) {
  const TemporaryFolder folder;
  const SampleView view(WriteViewedSweep(folder));
  const RunFile file = view.Overview();
  EXPECT_EQ(file.plan_json, R"({"seed":1})");
  ASSERT_THAT(Names(file.records), ElementsAre("sweep"));
  EXPECT_NO_THROW(file.records[0].Check());
  EXPECT_NE(file.records[0].FindArray("answer_nll"), nullptr);
  EXPECT_EQ(file.records[0].FindArray("last_query_attention"), nullptr);
  EXPECT_EQ(file.records[0].FindArray("token_ids"), nullptr);
}

// Two samples at two places, stacked as in a batch of probes.
Record Batch() {
  Record record;
  record.name = "prompt";
  record.axes = {
      {"sample", 2, "", {}, {3, 4}}, {"place", 2, "rank", {}, {1, 9}}, {"token", 3, "", {}, {}}};
  const std::vector<std::string> both = {"sample", "place"};
  record.arrays = {{"token_ids",
                    {"sample", "place", "token"},
                    std::vector<int64_t>{1, 2, 3, 4, 5, -1, 6, -1, -1, 7, 8, 9},
                    "",
                    ""},
                   {"token_count", both, std::vector<int64_t>{3, 2, 1, 3}, "", ""},
                   {"text", both, std::vector<std::string>{"a", "b", "c", "d"}, "", ""},
                   {"gold", both, std::vector<int64_t>{10, 11, 12, 13}, "", ""}};
  record.attributes["intervention"] = std::string("pi(1.5)");
  return record;
}

Record BatchScores() {
  Record record;
  record.name = "position_awareness";
  record.axes = {{"sample", 2, "", {}, {3, 4}},
                 {"place", 2, "rank", {}, {1, 9}},
                 {"layer", 2, "", {}, {}},
                 {"head", 1, "", {}, {}}};
  record.arrays = {{"score",
                    {"sample", "place", "layer", "head"},
                    std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7},
                    "",
                    ""},
                   {"mean", {"sample", "place"}, std::vector<double>{0.5, 2.5, 4.5, 6.5}, "", ""},
                   {"over_all", {"layer"}, std::vector<double>{3, 4}, "", ""}};
  return record;
}

TEST(SampleView, CutsABatchAtItsPlace) {
  const TemporaryFolder folder;
  const std::string path = folder.File("batch.h5");
  WriteRecords(path, {Batch(), BatchScores()}, ExampleProvenance(), {});
  const SampleView view(path);
  EXPECT_THAT(view.places().values, ElementsAre(1, 9));
  const std::vector<Record> records = view.Read({1, 0, 0});
  ASSERT_THAT(Names(records), ElementsAre("prompt", "position_awareness"));
  EXPECT_EQ(records[0].FindAxis("token")->size, 1);
  EXPECT_THAT(DataOf<int64_t>(records[0], "token_ids"), ElementsAre(6));
  EXPECT_EQ(std::get<std::string>(records[0].attributes.at("text")), "c");
  EXPECT_EQ(std::get<int64_t>(records[0].attributes.at("gold")), 12);
  EXPECT_EQ(std::get<int64_t>(records[0].attributes.at("place")), 1);
  EXPECT_EQ(std::get<int64_t>(records[0].attributes.at("sample")), 4);
  EXPECT_THAT(DataOf<float>(records[1], "score"), ElementsAre(4, 5));
  EXPECT_THAT(DataOf<double>(records[1], "mean"), ElementsAre(4.5, 6.5)) << "by place";
  EXPECT_THAT(DataOf<float>(view.Read({0, 0, 1})[1], "score"), ElementsAre(2, 3));

  const RunFile overview = view.Overview();
  ASSERT_THAT(Names(overview.records), ElementsAre("position_awareness"));
  EXPECT_EQ(overview.records[0].arrays.size(), 2U) << "mean and over_all";
}

TEST(SampleView, RefusesWhatIsNotThereAndTakesFilesWithoutSamples) {
  const TemporaryFolder folder;
  const std::string sweep = WriteViewedSweep(folder);
  const SampleView view(sweep);
  for (const SampleChoice& choice :
       {SampleChoice{3, 0, 0}, SampleChoice{-1, 0, 0}, SampleChoice{0, 1, 0}}) {
    EXPECT_NE(test::ErrorMessage(ErrorKind::kFailure, [&] { view.Read(choice); }), "");
  }
  const std::string plain = folder.File("plain.h5");
  WriteRecords(plain, ExampleRecords(), ExampleProvenance(), {});
  EXPECT_EQ(SampleView(plain).samples().size, 0);
  EXPECT_EQ(SampleView(plain).Overview().records.size(), 2U);
  EXPECT_EQ(SampleView(sweep + "::sweep/answer_nll").Overview().records.size(), 1U);
}

}  // namespace
}  // namespace midscope
