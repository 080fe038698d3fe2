// SPDX-License-Identifier: MIT
// Contract: --overwrite never removes a file before the new one has a sample, and never changes a
// file that another process is writing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <utility>
#include <vector>

#include "data/store/record_reader.h"
#include "data/store/unfinished_files.h"
#include "data/sweep/sweep_lock.h"
#include "tests/data/support/example_records.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kTinyLlama = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";

class ProgramOverwrite : public ::testing::Test {
 protected:
  std::string File(const std::string& name) const { return folder_.File(name); }
  // Arguments for prompts longer than the model's context.
  Arguments TooLong(const std::string& samples) const {
    return {"sweep",      kTinyLlama,  "--task", "kv:pairs=1", "--score",
            "likelihood", "--samples", samples,  "--out",      File("run.h5")};
  }
  Arguments Sweep(const std::string& samples) const {
    return With(TooLong(samples), {"--beyond-context"});
  }
  std::vector<double> Samples() const {
    return RunReader(File("run.h5")).Describe("sweep").FindAxis("sample")->values;
  }
  // Whether a condition becomes true within two minutes.
  template <typename Condition>
  static bool Comes(const Condition& condition) {
    for (int i = 0; i < 12000 && !condition(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    return condition();
  }

  TemporaryFolder folder_;
};

TEST_F(ProgramOverwrite, IsRefusedWhereTheSweepRuns) {
  RunningProgram first(Sweep("100000"));
  ASSERT_TRUE(Comes([&] { return HasJournal(File("run.h5")); }));
  for (const Arguments& second :
       {With(Sweep("1"), {"--overwrite"}),
        Arguments{"probe", kTinyLlama, "--prompt", "x", "--out", File("run.h5"), "--overwrite"},
        Arguments{"rope", "--dim", "8", "--base", "100", "--context", "64", "--out", File("run.h5"),
                  "--overwrite"}}) {
    const ProgramRun refused = RunMidscope(second);
    EXPECT_EQ(refused.status, 1);
    EXPECT_THAT(refused.err, HasSubstr("another process is writing this sweep"));
  }
  first.Signal(SIGINT);
  const ProgramRun run = first.Wait();
  EXPECT_EQ(run.status, 130);
  EXPECT_GE(Samples().size(), 1u);
}

TEST_F(ProgramOverwrite, NeverReplacesAnInput) {
  const std::string run = File("run.h5");
  RunWell(Sweep("1"));
  std::ofstream(File("q.jsonl")) << R"({"prompt": "a b", "answer": "c"})"
                                 << "\n";
  const std::string task = "passages:file=" + File("q.jsonl");
  std::filesystem::create_symlink(run, File("link.h5"));
  for (const auto& [out, words] : std::vector<std::pair<std::string, Arguments>>{
           {run, {"export", run}},
           {run, {"export", File("link.h5")}},
           {run, {"curves", run}},
           {run, {"judge", run, kTinyLlama}},
           {File("q.jsonl"), {"sweep", kTinyLlama, "--task", task}},
           {File("q.jsonl"), {"sweep", kTinyLlama, "--task", File("q.jsonl")}},
           {File("q.jsonl"), {"probe", kTinyLlama, "--prompt-file", File("q.jsonl")}},
           {File("q.jsonl"),
            {"probe", kTinyLlama, "--prompt", "x", "--with",
             "ratios(file=" + File("q.jsonl") + ")"}}}) {
    const std::string before = ReadBytes(out);
    const ProgramRun refused = RunMidscope(With(words, {"--out", out, "--overwrite"}));
    EXPECT_EQ(refused.status, 2) << words.front();
    EXPECT_THAT(refused.err, HasSubstr("is also an input")) << words.front();
    EXPECT_EQ(ReadBytes(out), before);
  }
}

TEST_F(ProgramOverwrite, LeavesTheOldFileUntilASampleIsDone) {
  RunWell(Sweep("2"));
  const std::string old = ReadBytes(File("run.h5"));
  const ProgramRun failed = RunMidscope(With(TooLong("2"), {"--overwrite"}));
  EXPECT_EQ(failed.status, 1) << failed.err;
  EXPECT_EQ(ReadBytes(File("run.h5")), old);
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
  {
    // Killed as soon as it has the lock.
    RunningProgram killed(With(Sweep("3"), {"--overwrite"}));
    ASSERT_TRUE(Comes([&] { return std::filesystem::exists(File("run.h5.journal")); }));
    killed.Signal(SIGKILL);
    killed.Wait();
    const size_t samples = Samples().size();
    EXPECT_TRUE(ReadBytes(File("run.h5")) == old || samples < 3) << samples;
  }
  RunWell(With(Sweep("3"), {"--overwrite"}));
  EXPECT_THAT(Samples(), ElementsAre(0, 1, 2));
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
}

TEST_F(ProgramOverwrite, AResumeThatAddsNothingLeavesTheFileAsItIs) {
  RunWell(Sweep("2"));
  const std::string before = ReadBytes(File("run.h5"));
  RunWell(With(Sweep("2"), {"--resume", "--json", "--threads", "1"}));
  EXPECT_EQ(ReadBytes(File("run.h5")), before);
  RunWell(With(Sweep("3"), {"--resume"}));
  EXPECT_THAT(Samples(), ElementsAre(0, 1, 2));
}

// --add needs no task argument, because the task is that of the file.
TEST_F(ProgramOverwrite, AddTakesTheTaskFromTheFile) {
  RunWell(Sweep("2"));
  RunWell({"sweep", kTinyLlama, "--beyond-context", "--out", File("run.h5"), "--add", "--with",
           "pi(2)"});
  const Record means = RunReader(File("run.h5")).Describe("outcome_means");
  EXPECT_THAT(means.FindAxis("setting")->labels, ElementsAre("none", "pi(2)"));
}

TEST_F(ProgramOverwrite, ABatchOfProbesKeepsTheOldFile) {
  const Arguments probe = {
      "probe",    kTinyLlama,       "--task",           "kv:pairs=1", "--samples",   "2",
      "--probes", "span_attention", "--beyond-context", "--out",      File("run.h5")};
  RunWell(probe);
  const std::string old = ReadBytes(File("run.h5"));
  {
    const SweepLock running(File("run.h5"));
    EXPECT_EQ(RunMidscope(With(probe, {"--overwrite"})).status, 1);
  }
  EXPECT_EQ(ReadBytes(File("run.h5")), old);
  RunWell(With(probe, {"--overwrite"}));
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
}

}  // namespace
}  // namespace midscope
