// SPDX-License-Identifier: MIT
// Parts of a sweep that several processes share: they are joined without copying and never changed
// afterwards, and nothing is lost when a job is killed.
#include "data/sweep/rank_parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "data/store/record_reader.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_sweep.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kPlan = R"~({"task":"list","samples":6,"settings":["none","pi(1.5)"]})~";

class RankPartsTest : public ::testing::Test {
 protected:
  SharedSweep Sweep(const std::string& plan = kPlan) const {
    return {path_, plan, ExampleProvenance(),
            [](const SweepMerge&) { return std::vector<Record>(); }};
  }
  // Leaves the state of a rank that was killed: its samples are in a journal.
  void KillRank(int64_t number, const std::vector<int64_t>& samples) const {
    SweepStore store = SweepStore::Create(RankPath(path_, number), kPlan, ExampleProvenance());
    for (const int64_t sample : samples) store.Append(sample, ExampleSample(sample));
  }
  void ExpectSamples(int64_t samples) const {
    const RunReader reader(path_);
    ASSERT_EQ(reader.Describe("sweep").FindAxis("sample")->size, samples);
    for (int64_t row = 0; row < samples; ++row)
      ExpectSameRecord(reader.ReadSample("sweep", row), ExampleSample(row));
  }

  TemporaryFolder folder_;
  std::string path_ = folder_.File("run.h5");
};

TEST_F(RankPartsTest, AreJoinedWithoutCopying) {
  WriteSweep(RankPath(path_, 0), kPlan, {0, 3});
  WriteSweep(RankPath(path_, 1), kPlan, {1, 2});
  WriteSweep(RankPath(path_, 10), kPlan, {});  // this rank started too late to get a sample
  WriteBytes(folder_.File("run.h5.rankle"), "not a part");
  EXPECT_THAT(RankParts(path_),
              ElementsAre(RankPath(path_, 0), RankPath(path_, 1), RankPath(path_, 10)));
  JoinRankParts(Sweep());
  EXPECT_THAT(folder_.Names(),
              ElementsAre("run.h5", "run.h5.rank0", "run.h5.rank1", "run.h5.rankle"));
  EXPECT_THAT(RunReader(path_).parts(), ElementsAre("run.h5.rank0", "run.h5.rank1"));
  ExpectSamples(4);
}

TEST_F(RankPartsTest, WhatAKilledJobLeftIsKeptAndNumbersGoOn) {
  WriteSweep(RankPath(path_, 0), kPlan, {0});
  WriteSweep(RankPath(path_, 1), kPlan, {1, 2});
  JoinRankParts(Sweep());
  const std::string first = ReadBytes(RankPath(path_, 1));
  KillRank(2, {});
  KillRank(3, {3, 4});
  EXPECT_EQ(SettleRankParts(Sweep()).next, 4);
  EXPECT_THAT(SettleRankParts(Sweep()).finished, ElementsAre(0, 1, 2, 3, 4));
  ExpectSamples(3);  // unchanged since the first job
  WriteSweep(RankPath(path_, 4), kPlan, {5});
  JoinRankParts(Sweep());
  ExpectSamples(6);
  EXPECT_TRUE(ReadBytes(RankPath(path_, 1)) == first);
  EXPECT_THAT(RunReader(path_).parts(),
              ElementsAre("run.h5.rank0", "run.h5.rank1", "run.h5.rank3", "run.h5.rank4"));
}

TEST_F(RankPartsTest, TheFileOfOneProcessBecomesAPartAndStaysInPlace) {
  WriteSweep(path_, kPlan, {0});
  SweepStoreOptions resume;
  resume.resume = true;
  SweepStore::Create(path_, kPlan, ExampleProvenance(), resume).Append(1, ExampleSample(1));
  for (int round = 0; round < 2; ++round) {  // also if the job is killed before it joins the parts
    const EarlierParts earlier = SettleRankParts(Sweep());
    EXPECT_EQ(earlier.next, 1);
    EXPECT_THAT(earlier.finished, ElementsAre(0, 1));
    EXPECT_THAT(folder_.Names(), ElementsAre("run.h5", "run.h5.rank0"));
    ExpectSamples(2);
  }
  WriteSweep(RankPath(path_, 1), kPlan, {2});
  JoinRankParts(Sweep());
  ExpectSamples(3);
}

TEST_F(RankPartsTest, AreRemovedWhereNothingStaysInThem) {
  const auto small = [](int64_t sample) {
    Record record = ExampleSample(sample);
    std::erase_if(record.arrays, [](const Array& array) {
      return array.name != "answer_nll" && array.name != "correct";
    });
    std::erase_if(record.axes, [](const Axis& axis) { return axis.name == "key"; });
    return record;
  };
  for (int64_t rank = 0; rank < 2; ++rank) {
    SweepStore store = SweepStore::Create(RankPath(path_, rank), kPlan, ExampleProvenance());
    store.Append(rank, small(rank));
    store.AppendFailure(rank + 2, "too long");
    store.Finish();
  }
  JoinRankParts(Sweep());
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
  const SweepStore store = SweepStore::OpenForReading(path_);
  EXPECT_THAT(store.finished(), ElementsAre(0, 1));
  EXPECT_THAT(store.failed(), ElementsAre(2, 3));
}

TEST_F(RankPartsTest, ASweepWhoseSamplesAllFailedHasAFile) {
  for (int64_t rank = 0; rank < 2; ++rank) {
    SweepStore store = SweepStore::Create(RankPath(path_, rank), kPlan, ExampleProvenance());
    store.AppendFailure(rank, "too long");
    store.Finish();
  }
  JoinRankParts(Sweep());
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
  EXPECT_THAT(SweepStore::OpenForReading(path_).failed(), ElementsAre(0, 1));
}

TEST_F(RankPartsTest, FoldIntoOneFileForOneProcess) {
  WriteSweep(folder_.File("whole.h5"), kPlan, {0, 1, 2, 3});
  const std::string whole = ReadBytes(folder_.File("whole.h5"));
  std::filesystem::remove(folder_.File("whole.h5"));
  FoldRankParts(Sweep());  // no effect if there are no parts
  EXPECT_THAT(folder_.Names(), IsEmpty());
  WriteSweep(RankPath(path_, 0), kPlan, {0, 2});
  WriteSweep(RankPath(path_, 1), kPlan, {1});
  JoinRankParts(Sweep());
  KillRank(2, {1, 3});  // an interrupted fold leaves samples in two files
  FoldRankParts(Sweep());
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
  EXPECT_TRUE(ReadBytes(path_) == whole);
  KillRank(12, {4});  // next to a file without parts
  FoldRankParts(Sweep());
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
  ExpectSamples(5);
}

TEST_F(RankPartsTest, OfAnotherPlanAreRefusedAndLeftAlone) {
  WriteSweep(RankPath(path_, 0), kPlan, {0});
  const SharedSweep other = Sweep(R"~({"task":"kv","samples":6,"settings":["none","pi(1.5)"]})~");
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { SettleRankParts(other); }),
              HasSubstr("another plan"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { FoldRankParts(other); }),
              HasSubstr("another plan"));
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5.rank0"));
  const SharedSweep larger =
      Sweep(R"~({"task":"list","samples":9,"settings":["none","pi(1.5)"]})~");
  EXPECT_THAT(SettleRankParts(larger).finished, ElementsAre(0));
}

TEST_F(RankPartsTest, WhoLooksForTheFileTooEarlyIsShownAPart) {
  const auto opening = [&] {
    return ErrorMessage(ErrorKind::kFailure, [&] { const RunReader reader(path_); });
  };
  EXPECT_THAT(opening(), Not(HasSubstr("rank")));
  KillRank(0, {0});
  EXPECT_THAT(opening(), HasSubstr("run.h5.rank0"));
}

TEST_F(RankPartsTest, AMissingPartIsNamed) {
  WriteSweep(RankPath(path_, 0), kPlan, {0});
  WriteSweep(RankPath(path_, 1), kPlan, {1});
  JoinRankParts(Sweep());
  std::filesystem::remove(RankPath(path_, 1));
  EXPECT_THAT(ErrorMessage(ErrorKind::kFailure, [&] { SettleRankParts(Sweep()); }),
              HasSubstr("run.h5.rank1"));
}

}  // namespace
}  // namespace midscope
