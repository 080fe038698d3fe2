// SPDX-License-Identifier: MIT
// Files of an earlier version (tests/probes/make/make_version_files.py) are shown, continued, added
// to and compared. What they hold stays, bit for bit; what this version computes again is within
// 1e-5 nats of it (weights of attention 1e-6): the processor may be another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "core/base/record_names.h"
#include "data/store/record_reader.h"
#include "data/sweep/plan_difference.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using testing::Arguments;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::RunWell;
using testing::With;

constexpr double kNats = 1e-5;
constexpr const char* kModel = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";
constexpr const char* kMsPoe = "ms-poe(min=1.2, max=1.8, layers=0-1)";

// A copy of the files as the current folder: the task's text names its file without a folder.
class VersionsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::copy(MIDSCOPE_TESTS "/probes/golden/versions", folder_.File("files"));
    fs::current_path(folder_.File("files"));
  }
  void TearDown() override { fs::current_path("/"); }

  static Arguments Sweep(const std::string& file, const Arguments& more) {
    return With({"sweep",    kModel,
                 "--task",   "jsonl:file=samples.jsonl",
                 "--places", "1,2",
                 "--score",  "likelihood",
                 "--seed",   "1",
                 "--with",   "none",
                 "--with",   "channel(3, factor=-1, layers=0-1)",
                 "--with",   kMsPoe,
                 "--with",   "self-extend(group=2, window=8) + boost(span=gold, factor=2)",
                 "--out",    file},
                more);
  }

  // [sample, setting, place]
  static std::vector<double> Nll(const std::string& file) {
    return std::get<std::vector<double>>(RunReader(file).ReadArray("sweep", kAnswerNll).data);
  }

 private:
  testing::TemporaryFolder folder_;
};

TEST_F(VersionsTest, AreShown) {
  EXPECT_THAT(RunWell({"show", "sweep.h5"}).out,
              AllOf(HasSubstr("boost(span=gold, factor=2"), HasSubstr("ms-poe(min=1.2, max=1.8")));
  EXPECT_THAT(RunWell({"show", "probe.h5"}).out, HasSubstr("answer_nll 18.59"));
  for (const char* file : {"sweep.h5", "probe.h5"})
    EXPECT_THAT(RunWell({"ls", file}).out, HasSubstr(file));
}

TEST_F(VersionsTest, AreContinued) {
  const std::vector<double> before = Nll("sweep.h5");
  RunWell(Sweep("sweep.h5", {"--samples", "3", "--resume"}));
  const std::vector<double> after = Nll("sweep.h5");
  ASSERT_EQ(before.size(), size_t{2} * 4 * 2);
  ASSERT_EQ(after.size(), size_t{3} * 4 * 2);
  EXPECT_EQ(std::vector<double>(after.begin(), after.begin() + 16), before);
}

TEST_F(VersionsTest, TakeSettings) {
  RunWell(Sweep("sweep.h5", {"--samples", "2", "--with", "pi(1.5)", "--add"}));
  EXPECT_EQ(Nll("sweep.h5").size(), size_t{2} * 5 * 2);
}

TEST_F(VersionsTest, AreOfThePlanThatThisVersionMakes) {
  RunWell(Sweep("new.h5", {"--samples", "2"}));
  const std::vector<double> old = Nll("sweep.h5");
  const std::vector<double> now = Nll("new.h5");
  ASSERT_EQ(old.size(), now.size());
  for (size_t i = 0; i < old.size(); ++i) EXPECT_NEAR(old[i], now[i], kNats) << "value " << i;
  EXPECT_EQ(FirstPlanDifference(RunReader("sweep.h5").plan_json(), RunReader("new.h5").plan_json()),
            "");
  RunWell({"compare", "sweep.h5", "new.h5"});
}

// The samples' texts: a new file has them, an older one lacks them for ever.
TEST_F(VersionsTest, TextsOfSamplesAreOfNewFilesAlone) {
  const auto texts = [](const std::string& file, const char* name) {
    const RunReader reader(file);
    if (!reader.Describe("sweep").FindArray(name)) return std::vector<std::string>();
    return std::get<std::vector<std::string>>(reader.ReadArray("sweep", name).data);
  };
  RunWell(Sweep("new.h5", {"--samples", "2"}));
  EXPECT_THAT(texts("new.h5", kQuestionText),  // [sample, place]
              ElementsAre("Question: inn?", "Question: inn?", "Question: inn?", "Question: inn?"));
  EXPECT_THAT(texts("new.h5", kAnswerText), ElementsAre(" Ann", " Ann", " Sue", " Sue"));
  EXPECT_THAT(texts("new.h5", kExpectedAnswers),
              ElementsAre(R"(["Ann"])", R"(["Ann"])", R"(["Sue"])", R"(["Sue"])"));
  EXPECT_THAT(RunWell({"show", "new.h5::sweep/expected_answers"}).out, HasSubstr("[\"Sue\"]"));
  EXPECT_THAT(RunWell({"export", "new.h5", "--array", "question_text"}).out,
              HasSubstr("Question: inn?"));
  RunWell(Sweep("sweep.h5", {"--samples", "3", "--resume"}));
  EXPECT_THAT(texts("sweep.h5", kQuestionText), ElementsAre());
  RunWell({"compare", "sweep.h5", "new.h5"});
}

// Settings of an older file and of a new one, in either order.
TEST_F(VersionsTest, AreMergedWithNewFiles) {
  const Arguments pi = {"sweep",    kModel,    "--task",    "jsonl:file=samples.jsonl",
                        "--places", "1,2",     "--score",   "likelihood",
                        "--seed",   "1",       "--samples", "2",
                        "--with",   "pi(1.5)", "--out",     "pi.h5"};
  RunWell(pi);
  RunWell({"merge", "a.h5", "sweep.h5", "pi.h5"});
  RunWell({"merge", "--virtual", "b.h5", "pi.h5", "sweep.h5"});
  for (const char* file : {"a.h5", "b.h5"}) {
    EXPECT_EQ(Nll(file).size(), size_t{2} * 5 * 2) << file;
    EXPECT_EQ(RunReader(file).Describe("sweep").FindArray(kQuestionText), nullptr) << file;
  }
}

TEST_F(VersionsTest, ProbesGiveTheSameRecords) {
  RunWell({"probe", kModel, "--prompt-file", "prompt.txt", "--span", "gold=Ann: inn", "--answer",
           "Ann", "--with", kMsPoe, "--out", "new.h5"});
  const RunReader old("probe.h5");
  const RunReader now("new.h5");
  // New records may come.
  std::vector<std::string> names = now.record_names();
  std::erase(names, "counted_keys");
  ASSERT_EQ(old.record_names(), names);
  const auto attention =
      std::get<std::vector<float>>(old.ReadArray(kLastQueryAttention, kLastQueryAttention).data);
  const auto again =
      std::get<std::vector<float>>(now.ReadArray(kLastQueryAttention, kLastQueryAttention).data);
  ASSERT_EQ(attention.size(), again.size());
  for (size_t i = 0; i < again.size(); ++i) EXPECT_NEAR(attention[i], again[i], 1e-6) << i;
  EXPECT_EQ(old.ReadArray(kPositionRatio, kPositionRatio).data,
            now.ReadArray(kPositionRatio, kPositionRatio).data);
}

}  // namespace
}  // namespace midscope
