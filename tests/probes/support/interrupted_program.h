// SPDX-License-Identifier: MIT
// Sends Ctrl-C to a running program.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <thread>

#include "tests/probes/support/run_program.h"

namespace midscope::testing {

// Waits until `file` exists, sends the signal, and expects the program to end quickly, print no
// results and mention --resume.
inline void ExpectInterrupted(RunningProgram& running, const std::string& file) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  while (!std::filesystem::exists(file) && Clock::now() - start < std::chrono::seconds(120)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const Clock::time_point signalled = Clock::now();
  running.Signal(SIGINT);
  const ProgramRun interrupted = running.Wait();
  // The program promises one second; the limit is longer for machines under load.
  EXPECT_LT(Clock::now() - signalled, std::chrono::seconds(5));
  EXPECT_EQ(interrupted.status, 130) << interrupted.err;
  EXPECT_THAT(interrupted.err, ::testing::HasSubstr("--resume"));
  EXPECT_EQ(interrupted.out, "");
}

}  // namespace midscope::testing
