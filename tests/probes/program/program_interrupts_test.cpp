// SPDX-License-Identifier: MIT
// Ctrl-C to programs without --out: the results so far are printed, because they are stored nowhere
// else. The time before the signal is increased until at least one sample was done when it arrived.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/probes/support/run_program.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

Arguments WithManySamples(const Arguments& arguments) {
  return With(arguments, {"--task", "list:lines=4", "--places", "1,4", "--samples", "5000"});
}

ProgramRun Interrupt(const Arguments& arguments, int signal = SIGINT) {
  ProgramRun run;
  for (int seconds = 2; seconds <= 32 && run.out.empty(); seconds *= 2) {
    RunningProgram running(arguments);
    std::this_thread::sleep_for(std::chrono::seconds(seconds));
    running.Signal(signal);
    run = running.Wait();
  }
  return run;
}

TEST(ProgramInterrupts, ASweepPrintsTheSamplesThatAreDone) {
  const ProgramRun run = Interrupt(WithManySamples({"sweep", "embedded", "--with", "none"}));
  EXPECT_EQ(run.status, 130);
  EXPECT_THAT(run.out, HasSubstr("answer_nll"));
  EXPECT_THAT(run.err, HasSubstr("of 5000 samples are done, but not stored. --out"));
}

// The prompt takes about half a minute.
TEST(ProgramInterrupts, ADryRunEndsInTheMiddleOfItsPrompt) {
  const TemporaryFolder folder;
  RunningProgram running({"probe", "embedded", "--task", "passkey:tokens=8000", "--places",
                          "10%,90%", "--samples", "2", "--dry-run", "--out",
                          folder.File("probe.h5")});
  std::this_thread::sleep_for(std::chrono::seconds(4));
  const auto start = std::chrono::steady_clock::now();
  running.Signal(SIGINT);
  EXPECT_EQ(running.Wait().status, 130);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

// The status is 128 plus the signal's number, as in shells and batch systems.
TEST(ProgramInterrupts, TermEndsWithItsOwnStatusAndLeavesAsMuch) {
  const ProgramRun run =
      Interrupt(WithManySamples({"sweep", "embedded", "--with", "none"}), SIGTERM);
  EXPECT_EQ(run.status, 143);
  EXPECT_THAT(run.out, HasSubstr("answer_nll"));
  EXPECT_THAT(run.err, HasSubstr("of 5000 samples are done, but not stored. --out"));
}

TEST(ProgramInterrupts, TermLeavesTheSamplesInTheFile) {
  const TemporaryFolder folder;
  const std::string file = folder.File("run.h5");
  RunningProgram running(
      WithManySamples({"sweep", "embedded", "--with", "none", "--checkpoint", "1", "--out", file}));
  for (int tenths = 0; tenths < 1200 && !std::filesystem::exists(file); ++tenths)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  running.Signal(SIGTERM);
  const ProgramRun run = running.Wait();
  EXPECT_EQ(run.status, 143) << run.err;
  EXPECT_THAT(run.err, HasSubstr("--resume"));
  EXPECT_EQ(RunMidscope({"show", file}).status, 0);
}

TEST(ProgramInterrupts, AProbeOfManySamplesPrintsTheirRecords) {
  const ProgramRun run =
      Interrupt(WithManySamples({"probe", "embedded", "--probes", "span_attention"}));
  EXPECT_EQ(run.status, 130);
  EXPECT_THAT(run.out, HasSubstr("span_attention"));
  EXPECT_THAT(run.err, HasSubstr("of 5000 samples are done"));
}

}  // namespace
}  // namespace midscope
