// SPDX-License-Identifier: MIT
// Runs the built program in several processes, by mpirun. Skips where there is none.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "tests/paths.h"
#include "tests/probes/support/run_program.h"

namespace midscope::testing {

class RanksFixture : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::string(MIDSCOPE_MPIRUN).empty()) {
      GTEST_SKIP() << "built without MIDSCOPE_MPI, or mpirun is missing";
    }
  }

  pid_t Start(int ranks, const Arguments& arguments) const {
    return StartLine(With({"-n", std::to_string(ranks), MIDSCOPE_PROGRAM}, arguments));
  }

  // Starts two ranks with different commands; `options`: those of mpirun for the second.
  pid_t StartTwo(const Arguments& first, const Arguments& options, const Arguments& second) const {
    Arguments line = With(With({"-n", "1", MIDSCOPE_PROGRAM}, first), {":", "-n", "1"});
    line = With(With(line, options), {MIDSCOPE_PROGRAM});
    return StartLine(With(line, second));
  }

  // Starts mpirun with these arguments; its output is in the files out and out.err of folder_.
  pid_t StartLine(const Arguments& arguments) const {
    Arguments line = With({MIDSCOPE_MPIRUN, "--allow-run-as-root", "--oversubscribe"}, arguments);
    std::vector<char*> pointers;
    pointers.reserve(line.size() + 1);
    for (std::string& argument : line) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    const std::string out = folder_.File("out");
    const pid_t child = fork();
    if (child == 0) {
      if (!std::freopen(out.c_str(), "w", stdout) ||
          !std::freopen((out + ".err").c_str(), "w", stderr)) {
        _exit(9);
      }
      ::setenv("COLUMNS", "400", 1);  // as RunMidscope, whose tables are compared
      execv(pointers.front(), pointers.data());
      _exit(9);
    }
    return child;
  }

  static int Wait(pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  }

  TemporaryFolder folder_;
};

}  // namespace midscope::testing
