// SPDX-License-Identifier: MIT
#include "data/sweep/sweep_merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "core/base/record_names.h"
#include "data/store/record_reader.h"
#include "data/store/run_store.h"
#include "data/sweep/sweep_virtual.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_sweep.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kMergedPlan =
    R"~({"task":"list","samples":9,"settings":["none","pi(1.5)"]})~";

// As ExampleSample, but with one other setting and other outcomes.
Record OtherSettingSample(int64_t sample) {
  Record record = ExampleSample(sample);
  record.axes[3] = {"setting", 1, "", {"ntk(2)"}, {}};
  record.arrays[0].data = std::vector<double>{7, 8, static_cast<double>(sample)};
  record.arrays[1].data = std::vector<uint8_t>{1, 0, 1};
  return record;
}

TEST(SweepMerge, DisjointSamplesAreAsOfOneRun) {
  const TemporaryFolder folder;
  WriteSweep(folder.File("a.h5"), kMergedPlan, {0, 3, 4});
  WriteSweep(folder.File("b.h5"), kMergedPlan, {1, 2});
  WriteSweep(folder.File("whole.h5"), kMergedPlan, {0, 1, 2, 3, 4});
  const SweepMerge merge({folder.File("b.h5"), folder.File("a.h5")});
  EXPECT_FALSE(merge.joins_settings());
  EXPECT_THAT(merge.samples(), ElementsAre(0, 1, 2, 3, 4));
  merge.Write(folder.File("merged.h5"), merge.provenance(), {});
  EXPECT_TRUE(ReadBytes(folder.File("merged.h5")) == ReadBytes(folder.File("whole.h5")));
  // The merged file can be resumed like any other sweep's file.
  SweepStoreOptions options;
  options.resume = true;
  SweepStore store =
      SweepStore::Create(folder.File("merged.h5"), kMergedPlan, ExampleProvenance(), options);
  EXPECT_EQ(store.finished().size(), 5U);
  store.Append(5, ExampleSample(5));
  store.Finish();
}

TEST(SweepMerge, AJournalBesideAFileCounts) {
  const TemporaryFolder folder;
  {
    SweepStore store = SweepStore::Create(folder.File("a.h5"), kMergedPlan, ExampleProvenance());
    store.Append(0, ExampleSample(0));
    store.Checkpoint();
    store.Append(1, ExampleSample(1));
    store.AppendFailure(2, "too long");
  }
  {
    SweepStore never_folded =
        SweepStore::Create(folder.File("b.h5"), kMergedPlan, ExampleProvenance());
    never_folded.Append(2, ExampleSample(2));
    never_folded.AppendFailure(3, "too long");
  }
  const SweepMerge merge({folder.File("a.h5"), folder.File("b.h5")});
  EXPECT_THAT(merge.samples(), ElementsAre(0, 1, 2));
  EXPECT_EQ(merge.failures().size(), 1U) << "sample 2 was run in the end";
  ExpectSameRecord(merge.ReadSample(1), ExampleSample(1));
  EXPECT_EQ(merge.provenance().created, ExampleProvenance().created);
}

TEST(SweepMerge, SettingsOfTheSameSamplesStandSideBySide) {
  const TemporaryFolder folder;
  WriteSweep(folder.File("a.h5"), kMergedPlan, {0, 1});
  {
    SweepStore store = SweepStore::Create(folder.File("b.h5"),
                                          R"~({"samples":9,"settings":["ntk(2)"],"task":"list"})~",
                                          ExampleProvenance());
    for (const int64_t sample : {0, 1}) store.Append(sample, OtherSettingSample(sample));
    store.Finish();
  }
  const SweepMerge merge({folder.File("a.h5"), folder.File("b.h5")});
  EXPECT_TRUE(merge.joins_settings());
  const Record sample = merge.ReadSample(1);
  sample.Check();
  EXPECT_THAT(sample.FindAxis("setting")->labels, ElementsAre("none", "pi(1.5)", "ntk(2)"));
  std::vector<double> expected = std::get<std::vector<double>>(ExampleSample(1).arrays[0].data);
  expected.insert(expected.end(), {7, 8, 1});
  ExpectSameData(sample.FindArray("answer_nll")->data, expected, "answer_nll");
  ExpectSameData(sample.FindArray("last_query_attention")->data,
                 ExampleSample(1).FindArray("last_query_attention")->data, "attention");
  merge.Write(folder.File("merged.h5"), merge.provenance(), {MergedFromRecord(merge)});
  const RunFile file = ReadRecords(folder.File("merged.h5"));
  EXPECT_THAT(file.plan_json, HasSubstr(R"~(["none","pi(1.5)","ntk(2)"])~"));
  EXPECT_EQ(file.records[1].name, "merged_from");
}

// If no setting of a sweep has failed, its file has no setting_failure; all settings were run.
TEST(SweepMerge, WhatOneInputLeavesOutIsPutInForIt) {
  const TemporaryFolder folder;
  const auto write = [&](const char* name, bool with_failures) {
    SweepStore store = SweepStore::Create(folder.File(name),
                                          R"~({"samples":9,"settings":["ntk(2)"],"task":"list"})~",
                                          ExampleProvenance());
    for (const int64_t sample : {0, 1}) {
      Record record = OtherSettingSample(sample);
      if (with_failures) {
        record.arrays.push_back(
            {"setting_failure", {"setting"}, std::vector<std::string>{"too long"}, "", "why"});
      }
      store.Append(sample, record);
    }
    store.Finish();
  };
  WriteSweep(folder.File("a.h5"), kMergedPlan, {0, 1});
  write("failed.h5", true);
  for (const bool failed_first : {false, true}) {
    std::vector<std::string> files = {folder.File("a.h5"), folder.File("failed.h5")};
    if (failed_first) std::swap(files[0], files[1]);
    const SweepMerge merge(files);
    const Record sample = merge.ReadSample(1);
    sample.Check();
    const auto& why = std::get<std::vector<std::string>>(sample.FindArray("setting_failure")->data);
    EXPECT_EQ(why, failed_first ? (std::vector<std::string>{"too long", "", ""})
                                : (std::vector<std::string>{"", "", "too long"}));
    const std::string merged = folder.File(failed_first ? "two.h5" : "one.h5");
    merge.Write(merged, merge.provenance(), {});
    const std::string pointed = folder.File(failed_first ? "two_virtual.h5" : "one_virtual.h5");
    WriteVirtualSweep(pointed, merge, merge.provenance(), {});
    for (const std::string& file : {merged, pointed}) {
      const Array read = RunReader(file).ReadArray("sweep", "setting_failure");
      const auto& all = std::get<std::vector<std::string>>(read.data);
      EXPECT_EQ(std::vector<std::string>(all.begin() + 3, all.end()), why) << file;
    }
  }
}

TEST(SweepMerge, WhatDoesNotGoTogetherIsRefusedAndSaysWhy) {
  const TemporaryFolder folder;
  WriteSweep(folder.File("a.h5"), kMergedPlan, {0, 1});
  WriteSweep(folder.File("again.h5"), kMergedPlan, {1, 2});
  WriteSweep(folder.File("other.h5"),
             R"~({"task":"kv","samples":9,"settings":["none","pi(1.5)"]})~", {2});
  WriteSweep(folder.File("same_setting.h5"), R"~({"task":"list","samples":9,"settings":["none"]})~",
             {0, 1});
  WriteSweep(folder.File("fewer.h5"), R"~({"task":"list","samples":9,"settings":["ntk(2)"]})~",
             {0});
  const auto refusal = [&](const char* other) {
    return ErrorMessage(ErrorKind::kUsage, [&] {
      SweepMerge({folder.File("a.h5"), folder.File(other)});
    });
  };
  EXPECT_THAT(refusal("again.h5"), HasSubstr("sample 1"));
  EXPECT_THAT(refusal("other.h5"), HasSubstr("task"));
  EXPECT_THAT(refusal("same_setting.h5"), HasSubstr("\"none\""));
  EXPECT_THAT(refusal("fewer.h5"), HasSubstr("lacks sample 1"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { SweepMerge({folder.File("none.h5")}); }),
              HasSubstr("the file does not exist"));
  WriteRecords(folder.File("probe.h5"), ExampleRecords(), ExampleProvenance());
  EXPECT_NE(ErrorMessage(ErrorKind::kFailure, [&] { SweepMerge({folder.File("probe.h5")}); }), "");
}

TEST(SweepMerge, AnInputThatIsReadIsNotTouched) {
  const TemporaryFolder folder;
  WriteSweep(folder.File("a.h5"), kMergedPlan, {0});
  SweepStore store = SweepStore::OpenForReading(folder.File("a.h5"));
  EXPECT_THAT(folder.Names(), ElementsAre("a.h5"));
  EXPECT_THROW(store.Append(1, ExampleSample(1)), std::logic_error);
  EXPECT_THROW(store.Checkpoint(), std::logic_error);
  ExpectSameRecord(store.ReadSample(0), ExampleSample(0));
}

}  // namespace
}  // namespace midscope
