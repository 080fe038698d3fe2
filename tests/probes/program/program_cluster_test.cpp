// SPDX-License-Identifier: MIT
// Contract: interruptions by schedulers, faults of shared disks and changes of machine neither lose
// a finished sample of a sweep nor silently change a number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "data/store/record_reader.h"
#include "data/store/unfinished_files.h"
#include "tests/data/support/example_records.h"
#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kModel = MIDSCOPE_TESTS "/core/golden/tiny_models/llama";

class ProgramCluster : public ::testing::Test {
 protected:
  std::string File(const std::string& name = "run.h5") const { return folder_.File(name); }
  Arguments Sweep(const std::string& samples, const std::string& file = "run.h5") const {
    return {"sweep",      kModel,      "--task", "kv:pairs=1", "--beyond-context", "--score",
            "likelihood", "--samples", samples,  "--out",      File(file)};
  }
  size_t Samples() const {
    return RunReader(File()).Describe("sweep").FindAxis("sample")->values.size();
  }
  // Waits until the sweep has stored samples.
  void AwaitSamples() const {
    std::error_code none_yet;
    for (int i = 0; i < 12000; ++i) {
      if (std::filesystem::file_size(JournalPath(File()), none_yet) > 4000 && !none_yet) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    FAIL() << "no sample is stored";
  }

  TemporaryFolder folder_;
};

// Slurm's --signal, SGE's notification, a closed terminal, a limit of CPU seconds.
TEST_F(ProgramCluster, EverySignalOfSchedulersLeavesWhatIsDone) {
  size_t before = 0;
  for (const int signal : {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGXCPU}) {
    RunningProgram running(With(Sweep("100000"), {"--resume"}));
    AwaitSamples();
    running.Signal(signal);
    const ProgramRun run = running.Wait();
    EXPECT_EQ(run.status, 128 + signal) << run.err;
    EXPECT_THAT(run.err, HasSubstr("samples are in"));
    EXPECT_GE(Samples(), before + 1);
    before = Samples();
  }
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5", "run.h5.journal"));
}

TEST_F(ProgramCluster, AFileSystemWithoutLocksIsANote) {
  const ProgramOptions without_locks = {.environment = {{"LD_PRELOAD", MIDSCOPE_NO_LOCKS}}};
  const ProgramRun run = RunWell(Sweep("2"), without_locks);
  EXPECT_THAT(run.err, HasSubstr("has no locks"));
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
  RunWell(With(Sweep("3"), {"--resume"}), without_locks);
  EXPECT_EQ(Samples(), 3U);
  EXPECT_THAT(RunWell(With(Sweep("4"), {"--resume"})).err, Not(HasSubstr("locks")));
}

// One machine can simulate another (kernels/instruction_set.h).
TEST_F(ProgramCluster, OtherInstructionsAreNeverMixedInSilence) {
  const ProgramOptions other = {.environment = {{"ATEN_CPU_CAPABILITY", "default"}}};
  const auto sweep = [&](const std::string& samples, const std::string& dtype) {
    return With(Sweep(samples, dtype + ".h5"), {"--dtype", dtype});
  };
  RunWell(sweep("2", "bfloat16"));
  const ProgramRun refused = RunMidscope(With(sweep("3", "bfloat16"), {"--resume"}), other);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("--mixed-cpus"));
  const ProgramRun asked =
      RunWell(With(sweep("3", "bfloat16"), {"--resume", "--mixed-cpus"}), other);
  EXPECT_THAT(asked.err, HasSubstr("note: "));
  EXPECT_THAT(asked.err, HasSubstr("this CPU runs with"));
  RunWell(With(sweep("4", "bfloat16"), {"--resume"}));

  RunWell(sweep("2", "float32"));
  EXPECT_THAT(RunWell(With(sweep("3", "float32"), {"--resume"}), other).err,
              HasSubstr("this CPU runs with"));
  EXPECT_FALSE(RunReader(File("float32.h5")).provenance().instructions.empty());
}

TEST_F(ProgramCluster, OnlyFilesAreReplaced) {
  ASSERT_EQ(mkfifo(File("pipe").c_str(), 0600), 0);
  for (const std::string& target : {File("pipe"), std::string("/dev/null")}) {
    for (const Arguments& command : {Sweep("1"), Arguments{"rope", "--dim", "8", "--base", "100",
                                                           "--context", "64", "--out", File()}}) {
      Arguments line = command;
      line.back() = target;
      for (const Arguments& more : {Arguments{}, Arguments{"--overwrite"}}) {
        const ProgramRun run = RunMidscope(With(line, more));
        EXPECT_EQ(run.status, 2);
        EXPECT_THAT(run.err, HasSubstr("a device or a pipe"));
      }
    }
  }
  EXPECT_TRUE(std::filesystem::is_fifo(File("pipe")));
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(ProgramCluster, AJournalThatIsTidiedAwayCostsNothing) {
  RunningProgram running(Sweep("400"));
  AwaitSamples();
  std::filesystem::remove(JournalPath(File()));
  const ProgramRun run = running.Wait();
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_EQ(Samples(), 400U);
}

TEST_F(ProgramCluster, OfJobsOnOneNewFileOneRuns) {
  constexpr int kJobs = 3;
  std::vector<std::unique_ptr<RunningProgram>> jobs;
  jobs.reserve(kJobs);
  for (int i = 0; i < kJobs; ++i) jobs.push_back(std::make_unique<RunningProgram>(Sweep("60")));
  int done = 0;
  for (const auto& job : jobs) {
    const ProgramRun run = job->Wait();
    done += run.status == 0 ? 1 : 0;
    if (run.status == 0) continue;
    EXPECT_THAT(run.err, HasSubstr("run.h5"));
  }
  EXPECT_EQ(done, 1);
  EXPECT_EQ(Samples(), 60U);
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
}

TEST_F(ProgramCluster, AJobThatComesLateToTheLockReplacesNothing) {
  const ProgramOptions late = {
      .environment = {{"LD_PRELOAD", MIDSCOPE_NO_LOCKS}, {"LATE_LOCKS", "1"}}};
  RunningProgram second(Sweep("5"), late);
  for (int i = 0; i < 1000 && !std::filesystem::exists(JournalPath(File())); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  RunWell(Sweep("3"));
  EXPECT_NE(second.Wait().status, 0);  // 2, or 1 if the other one still had the lock
  EXPECT_EQ(Samples(), 3U);
  EXPECT_THAT(folder_.Names(), ElementsAre("run.h5"));
}

TEST_F(ProgramCluster, ARunningSweepIsToldWithItsProcess) {
  RunningProgram running(Sweep("100000"));
  AwaitSamples();
  const ProgramRun second = RunMidscope(Sweep("3"));
  EXPECT_EQ(second.status, 1);
  EXPECT_THAT(second.err, HasSubstr("another process is writing this sweep (process "));
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  EXPECT_THAT(second.err, HasSubstr(std::string(" on ") + host));
}

TEST_F(ProgramCluster, MergeOpensMoreFilesThanTheUsualLimit) {
  Arguments merge = {"merge", File("all.h5")};
  for (int i = 1; i <= 16; ++i) {
    const std::string file = std::to_string(i) + ".h5";
    RunWell(With(Sweep("1", file), {"--with", "pi(1." + std::to_string(10 + i) + ")"}));
    merge.push_back(File(file));
  }
  EXPECT_THAT(RunWell(merge, {.open_files_limit = 18}).out, HasSubstr("of 16 files"));
}

// Only parts exist if a job of several processes was killed.
TEST_F(ProgramCluster, MergeJoinsThePartsOfAKilledJob) {
  RunWell(Sweep("2", "run.h5.rank0"));
  EXPECT_THAT(RunWell({"merge", File("all.h5"), File()}).out, HasSubstr("2 samples"));
}

TEST_F(ProgramCluster, ALimitOfMemoryIsNamed) {
  const ProgramRun run =
      RunMidscope({"sweep", "embedded", "--task", "list:lines=4", "--samples", "1"},
                  {.memory_limit = 1'000'000'000});
  EXPECT_EQ(run.status, 1);
  EXPECT_THAT(run.err, HasSubstr("ulimit -v lets this process have 1000 MB"));
}

TEST_F(ProgramCluster, AFoldersNameIsKeptWhateverEndsItsPath) {
  for (const char* end : {"/", "/."}) {
    Arguments sweep = With(Sweep("1"), {"--overwrite"});
    sweep[1] = std::string(kModel) + end;
    RunWell(sweep);
    EXPECT_EQ(RunReader(File()).provenance().model_path, "llama") << end;
  }
}

TEST_F(ProgramCluster, ALongNameLeavesNothing) {
  const ProgramRun run = RunMidscope(Sweep("1", std::string(242, 'a')));
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("Give a shorter name"));
  EXPECT_THAT(folder_.Names(), ElementsAre());
}

// With srun but without PMIx, each task would run the complete sweep.
TEST_F(ProgramCluster, ProcessesThatAreNotConnectedAreRefused) {
  const ProgramOptions of_srun = {
      .environment = {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}}};
  const ProgramRun run = RunMidscope(Sweep("1"), of_srun);
  EXPECT_EQ(run.status, 2);
  EXPECT_THAT(run.err, HasSubstr("each would run all of the work"));
  EXPECT_THAT(folder_.Names(), ElementsAre());
  const Arguments rope = {"rope", "--dim", "8", "--base", "100", "--context", "64"};
  EXPECT_EQ(RunWell(rope, of_srun).out, "") << "one process runs what is not shared";
  const ProgramRun first = RunWell(rope, {.environment = {{"SLURM_STEP_NUM_TASKS", "4"}}});
  EXPECT_NE(first.out, "");
  EXPECT_THAT(first.err, HasSubstr("1 of 4 processes runs it"));
}

}  // namespace
}  // namespace midscope
