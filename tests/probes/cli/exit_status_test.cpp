// SPDX-License-Identifier: MIT
// Contract: exit status and message of the program for each exception that its work throws; an
// exception that is not an Error is reported as a bug, with the place in the source and how to
// report it.
#include "probes/cli/program/program.h"

#include <gmock/gmock.h>

#include <new>

#include "core/base/error.h"
#include "kernels/check.h"

namespace midscope::cli {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

struct End {
  int status = 0;
  std::string message;
};

End EndOf(const std::function<void()>& work) {
  ::testing::internal::CaptureStderr();
  const int status = ExitStatusOf(work);
  return {status, ::testing::internal::GetCapturedStderr()};
}

TEST(Program, ReportsABugAsABug) {
  const int64_t rows = 3;
  const End end = EndOf([&] { MIDSCOPE_CHECK_EQ(rows, 4); });
  EXPECT_EQ(end.status, kExitFailure);
  EXPECT_THAT(end.message,
              AllOf(StartsWith("midscope: internal error: tests/probes/cli/exit_status_test.cpp:"),
                    HasSubstr(": rows == 4 does not hold: 3 and 4. This is a bug in Midscope"),
                    EndsWith("report it with this text and the command\n")));
}

TEST(Program, ErrorsAreNoBugs) {
  const End usage = EndOf([] { throw UsageError("option --x", "is wrong", "Mend it"); });
  EXPECT_EQ(usage.status, kExitUsage);
  EXPECT_EQ(usage.message, "midscope: option --x: is wrong. Mend it\n");
  const End failure = EndOf([] { throw Failure("file", "is gone"); });
  EXPECT_EQ(failure.status, kExitFailure);
  EXPECT_EQ(failure.message, "midscope: file: is gone\n");
  const End memory = EndOf([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.status, kExitFailure);
  EXPECT_THAT(memory.message, StartsWith("midscope: memory: not enough"));
  // A process that got no signal itself ends as after SIGTERM, because another rank of its sweep
  // got one.
  EXPECT_EQ(EndOf([] { throw Cancelled(); }).status, 143);
  EXPECT_EQ(EndOf([] {}).status, 0);
}

}  // namespace
}  // namespace midscope::cli
