// SPDX-License-Identifier: MIT
// A sweep shared by several processes gives the same numbers as one process, also if a rank is
// killed during it and a different number of ranks resumes it. Needs a build with MIDSCOPE_MPI and
// mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "data/store/record_reader.h"
#include "data/sweep/rank_parts.h"
#include "tests/data/support/example_records.h"
#include "tests/paths.h"
#include "tests/probes/support/ranks_fixture.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Ranks : public testing::RanksFixture {
 protected:
  std::vector<std::string> Sweep(const std::string& file,
                                 const std::vector<std::string>& more = {}) const {
    std::vector<std::string> line = {"sweep",     "embedded",
                                     "--task",    "list:lines=4",
                                     "--places",  "1,4",
                                     "--samples", samples_,
                                     "--seed",    "3",
                                     "--with",    "none",
                                     "--with",    "channel(100, factor=-1, layers=8-25)",
                                     "--out",     folder_.File(file)};
    line.insert(line.end(), more.begin(), more.end());
    return line;
  }

  void ExpectSameSamples(const std::string& a, const std::string& b) const {
    const RunFile left = ReadRecords(folder_.File(a));
    const RunFile right = ReadRecords(folder_.File(b));
    ASSERT_EQ(left.records.size(), right.records.size());
    for (size_t i = 0; i < left.records.size(); ++i) {
      ExpectSameRecord(left.records[i], right.records[i]);
    }
    EXPECT_EQ(left.plan_json, right.plan_json);
  }

  std::string samples_ = "10";
};

TEST_F(Ranks, GiveTheNumbersOfOneProcess) {
  const ProgramRun alone = RunMidscope(Sweep("alone.h5"));
  ASSERT_EQ(alone.status, 0) << alone.err;
  ASSERT_EQ(Wait(Start(2, Sweep("shared.h5"))), 0) << ReadBytes(folder_.File("out.err"));
  const auto table = [](const std::string& out) { return out.substr(0, out.find("file: ")); };
  EXPECT_EQ(table(ReadBytes(folder_.File("out"))), table(alone.out)) << "the table, once";
  ExpectSameSamples("alone.h5", "shared.h5");
  EXPECT_TRUE(RankParts(folder_.File("shared.h5")).empty());
}

// Attention rows stay in the files of the ranks that wrote them; a single process that resumes the
// sweep collects all in one file.
TEST_F(Ranks, LeaveAPartEachWhereRowsAreLarge) {
  const std::string file = folder_.File("shared.h5");
  ASSERT_EQ(RunMidscope(Sweep("alone.h5", {"--attention"})).status, 0);
  ASSERT_EQ(Wait(Start(2, Sweep("shared.h5", {"--attention"}))), 0)
      << ReadBytes(folder_.File("out.err"));
  ExpectSameSamples("alone.h5", "shared.h5");
  EXPECT_THAT(RunReader(file).parts(), ElementsAre("shared.h5.rank0", "shared.h5.rank1"));
  // More samples by other ranks, whose numbers continue the previous ones.
  const std::vector<std::string> more = {"--attention", "--resume"};
  samples_ = "14";
  ASSERT_EQ(Wait(Start(3, Sweep("shared.h5", more))), 0) << ReadBytes(folder_.File("out.err"));
  EXPECT_GE(RunReader(file).parts().size(), 3U);
  EXPECT_TRUE(std::filesystem::exists(file + ".rank0"));
  ASSERT_EQ(RunMidscope(Sweep("alone.h5", more)).status, 0);
  ExpectSameSamples("alone.h5", "shared.h5");
  ASSERT_EQ(RunMidscope(Sweep("shared.h5", more)).status, 0);
  ExpectSameSamples("alone.h5", "shared.h5");
  EXPECT_TRUE(RankParts(file).empty());
}

TEST_F(Ranks, OverwriteAFileWithItsParts) {
  const std::string file = folder_.File("shared.h5");
  ASSERT_EQ(Wait(Start(3, Sweep("shared.h5", {"--attention"}))), 0);
  samples_ = "4";
  ASSERT_EQ(RunMidscope(Sweep("alone.h5", {"--attention"})).status, 0);
  ASSERT_EQ(Wait(Start(2, Sweep("shared.h5", {"--attention", "--overwrite"}))), 0)
      << ReadBytes(folder_.File("out.err"));
  ExpectSameSamples("alone.h5", "shared.h5");
  EXPECT_EQ(RankParts(file).size(), RunReader(file).parts().size());
  EXPECT_TRUE(RankParts(file + ".overwriting").empty());
  EXPECT_FALSE(std::filesystem::exists(file + ".journal"));
  ASSERT_EQ(RunMidscope(Sweep("shared.h5", {"--attention", "--overwrite"})).status, 0);
  EXPECT_TRUE(RankParts(file).empty()) << "one process leaves no parts of the old sweep";
  ExpectSameSamples("alone.h5", "shared.h5");
}

TEST_F(Ranks, ShareABatchOfProbes) {
  const auto probe = [&](const std::string& file) {
    return std::vector<std::string>{
        "probe", "embedded",        "--task", "list:lines=4", "--places",
        "1,4",   "--samples",       "6",      "--probes",     "head_scores,last_query_attention",
        "--out", folder_.File(file)};
  };
  ASSERT_EQ(RunMidscope(probe("alone.h5")).status, 0);
  ASSERT_EQ(Wait(Start(2, probe("shared.h5"))), 0) << ReadBytes(folder_.File("out.err"));
  ExpectSameSamples("alone.h5", "shared.h5");
  EXPECT_FALSE(std::filesystem::exists(folder_.File("shared.h5.prompts")));
}

// The journal and the process of rank 1, as soon as it has finished a sample.
pid_t RankOneAtWork(const std::string& journal, const std::string& name) {
  std::error_code ignored;
  for (int round = 0; round < 3000; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (!std::filesystem::exists(journal, ignored) ||
        std::filesystem::file_size(journal, ignored) < 2000) {
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
      std::ifstream environment(entry.path() / "environ", std::ios::binary);
      std::ifstream command(entry.path() / "cmdline", std::ios::binary);
      const std::string variables(std::istreambuf_iterator<char>(environment), {});
      const std::string words(std::istreambuf_iterator<char>(command), {});
      if (words.find(name) != std::string::npos &&
          variables.find("OMPI_COMM_WORLD_RANK=1") != std::string::npos) {
        return std::stoi(entry.path().filename().string());
      }
    }
  }
  return -1;
}

TEST_F(Ranks, AKilledRankLosesNoFinishedSample) {
  // Enough samples for rank 1 to get one even if rank 0 has opened the model long before it.
  samples_ = "40";
  const std::string file = folder_.File("killed.h5");
  const pid_t job = Start(2, Sweep("killed.h5"));
  const pid_t victim = RankOneAtWork(file + ".rank1.journal", file);
  ASSERT_GT(victim, 0) << ReadBytes(folder_.File("out.err"));
  kill(victim, SIGKILL);
  EXPECT_NE(Wait(job), 0) << "mpirun ends the job";
  const size_t finished = SweepStore::OpenForReading(file + ".rank1").finished().size();
  EXPECT_GE(finished, 1U);

  ProgramRun refused = RunMidscope(Sweep("killed.h5"));
  // mpirun may end before rank 0, which holds the file until then.
  for (int i = 0; i < 100 && refused.err.find("another process") != std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    refused = RunMidscope(Sweep("killed.h5"));
  }
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("--resume"));
  std::vector<std::string> resume = Sweep("killed.h5");
  resume.emplace_back("--resume");
  ASSERT_EQ(Wait(Start(3, resume)), 0) << ReadBytes(folder_.File("out.err"));
  ASSERT_EQ(RunMidscope(Sweep("alone.h5")).status, 0);
  ExpectSameSamples("alone.h5", "killed.h5");
  EXPECT_TRUE(RankParts(file).empty());
}

// SIGTERM to any one rank ends the job with the status of SIGTERM.
TEST_F(Ranks, EndByTheSignalOfOne) {
  samples_ = "400";
  const std::string file = folder_.File("stopped.h5");
  const pid_t job = Start(2, Sweep("stopped.h5"));
  const pid_t one = RankOneAtWork(file + ".rank1.journal", file);
  ASSERT_GT(one, 0) << ReadBytes(folder_.File("out.err"));
  kill(one, SIGTERM);
  EXPECT_EQ(Wait(job), 128 + SIGTERM);
  const std::string errors = ReadBytes(folder_.File("out.err"));
  EXPECT_THAT(errors, HasSubstr("stopped.h5.rank0 and its journal"));
  EXPECT_THAT(errors, HasSubstr("stopped.h5.rank1 and its journal"));
}

TEST_F(Ranks, GoOnAfterACellThatCannotBeRun) {
  const std::string plan = folder_.File("plan.toml");
  std::ofstream(plan) << "model = ['" << folder_.File("nowhere") << "', 'embedded']\n"
                      << "task = 'list:lines=4'\nsamples = 2\nplaces = [1, 4]\n";
  const std::string out = folder_.File("runs");
  EXPECT_EQ(Wait(Start(2, {"sweep", "--plan", plan, "--out", out})), 1);
  const std::string errors = ReadBytes(folder_.File("out.err"));
  EXPECT_THAT(errors, HasSubstr("1 of 2 sweeps: they failed; the first: "));
  EXPECT_THAT(ReadBytes(folder_.File("out")), HasSubstr("answer_nll"));
  size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(out))
    files += entry.path().extension() == ".h5" ? 1 : 0;
  EXPECT_EQ(files, 1U);
}

TEST_F(Ranks, NeedAFile) {
  EXPECT_EQ(Wait(Start(2, {"sweep", "embedded", "--samples", "1"})), 2);
  const std::string told = ReadBytes(folder_.File("out.err"));
  EXPECT_THAT(told, HasSubstr("rank 0 on "));
  EXPECT_THAT(told, HasSubstr("--out"));
  EXPECT_THAT(told, Not(HasSubstr("rank 1 on "))) << "once";
}

TEST_F(Ranks, RunOnceWhatIsNotShared) {
  ASSERT_EQ(Wait(Start(2, {"rope", "--dim", "8", "--base", "100", "--context", "64"})), 0);
  const std::string alone =
      RunMidscope({"rope", "--dim", "8", "--base", "100", "--context", "64"}).out;
  EXPECT_EQ(ReadBytes(folder_.File("out")), alone);
}

// A relative --out in another folder simulates a disk that only one machine has.
TEST_F(Ranks, ThatDoNotSeeEachOthersFilesAreRefused) {
  std::filesystem::create_directory(folder_.File("other"));
  std::vector<std::string> blind = Sweep("unused");
  blind.back() = "blind.h5";
  std::vector<std::string> first = blind;
  first.back() = folder_.File("blind.h5");
  EXPECT_NE(Wait(StartTwo(first, {"-wdir", folder_.File("other")}, blind)), 0);
  const std::string told = ReadBytes(folder_.File("out.err"));
  EXPECT_THAT(told, HasSubstr("rank 1 on "));
  EXPECT_THAT(told, HasSubstr("Give --out in a folder that all ranks see"));
  EXPECT_EQ(ReadBytes(folder_.File("out")), "");
}

TEST_F(Ranks, OfAnotherPlanAreRefusedBeforeTheyRun) {
  const auto sweep = [&](const std::string& model) {
    return std::vector<std::string>{"sweep",
                                    MIDSCOPE_TESTS "/core/golden/tiny_models/" + model,
                                    "--task",
                                    "kv:pairs=1",
                                    "--samples",
                                    "4",
                                    "--beyond-context",
                                    "--out",
                                    folder_.File("plans.h5")};
  };
  EXPECT_NE(Wait(StartTwo(sweep("llama"), {}, sweep("mistral"))), 0);
  EXPECT_THAT(ReadBytes(folder_.File("out.err")), HasSubstr("model_hash"));
  EXPECT_TRUE(RankParts(folder_.File("plans.h5")).empty()) << "nothing is left of what never ran";
}

TEST_F(Ranks, OnOtherInstructionsAreRefusedUnlessAskedFor) {
  const std::vector<std::string> narrow = Sweep("cpus.h5", {"--dtype", "bfloat16"});
  const std::vector<std::string> other = {"-x", "ATEN_CPU_CAPABILITY=default"};
  EXPECT_NE(Wait(StartTwo(narrow, other, narrow)), 0);
  EXPECT_THAT(ReadBytes(folder_.File("out.err")), HasSubstr("--mixed-cpus"));
  const std::vector<std::string> mixed =
      Sweep("cpus.h5", {"--dtype", "bfloat16", "--resume", "--mixed-cpus"});
  EXPECT_EQ(Wait(StartTwo(mixed, other, mixed)), 0) << ReadBytes(folder_.File("out.err"));
  EXPECT_THAT(ReadBytes(folder_.File("out.err")), HasSubstr("rank 1: note: "));
}

TEST(WithoutMpi, SeveralProcessesAreRefused) {
  if (!std::string(MIDSCOPE_MPIRUN).empty()) GTEST_SKIP() << "built with MIDSCOPE_MPI";
  setenv("OMPI_COMM_WORLD_SIZE", "2", 1);
  const ProgramRun run = RunMidscope({"sweep", "embedded", "--samples", "1"});
  unsetenv("OMPI_COMM_WORLD_SIZE");
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("MIDSCOPE_MPI"));
}

}  // namespace
}  // namespace midscope
