// SPDX-License-Identifier: MIT
#include "core/base/job.h"

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>

#include "core/base/error.h"

namespace midscope {
namespace {

JobOutcome RunThrowing(const std::function<void()>& thrower) {
  return RunJob({}, [&](const JobContext&) { thrower(); });
}

TEST(Job, ReportsHowWorkEnds) {
  EXPECT_EQ(RunThrowing([] {}).end, JobEnd::kDone);
  EXPECT_EQ(RunThrowing([] { throw Cancelled(); }).end, JobEnd::kCancelled);

  const JobOutcome usage = RunThrowing([] { throw UsageError("x", "is wrong", "Mend it"); });
  EXPECT_EQ(usage.end, JobEnd::kFailed);
  EXPECT_EQ(usage.why, "x: is wrong. Mend it");
  EXPECT_EQ(usage.problem, "x: is wrong");

  const JobOutcome failure = RunThrowing([] { throw Failure("file", "is gone"); });
  EXPECT_EQ(failure.why, "file: is gone");
  EXPECT_EQ(failure.problem, failure.why);
}

// Whatever full stops are inside them.
TEST(Job, TellsTheProblemApartFromTheRemedy) {
  const JobOutcome outcome =
      RunThrowing([] { throw Failure("a. b", "is 1. and 2.", "Mend it. Soon"); });
  EXPECT_EQ(outcome.problem, "a. b: is 1. and 2.");
  EXPECT_EQ(outcome.why, outcome.problem + ". Mend it. Soon");
}

TEST(Job, LetsNoExceptionOut) {
  const JobOutcome memory = RunThrowing([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.problem, "memory: not enough for this run");
  EXPECT_EQ(memory.why, memory.problem + ". Use a shorter prompt or fewer captures");
  EXPECT_EQ(RunThrowing([] { throw std::logic_error("bug 7"); }).problem, "internal error: bug 7");
  EXPECT_EQ(RunThrowing([] { throw std::logic_error("bug 7"); }).why,
            "internal error: bug 7. This is a bug in Midscope: report it with this text and the "
            "command");
  EXPECT_EQ(RunThrowing([] { throw 5; }).end, JobEnd::kFailed);
}

TEST(Job, CancelIsSeenByTheWork) {
  std::atomic<bool> cancel = false;
  JobContext context;
  context.cancel = &cancel;
  int64_t rounds = 0;
  const JobOutcome outcome = RunJob(context, [&](const JobContext& inside) {
    for (; rounds < 100; ++rounds) {
      if (rounds == 3) cancel = true;
      inside.ThrowIfCancelled();
    }
  });
  EXPECT_EQ(outcome.end, JobEnd::kCancelled);
  EXPECT_EQ(rounds, 3);
}

TEST(Job, EmptyCallbacksAreAllowed) {
  const JobContext context;
  EXPECT_NO_THROW(context.Report({"stage", 1, 2, "samples"}));
  EXPECT_NO_THROW(context.Log("message"));
  EXPECT_NO_THROW(context.ThrowIfCancelled());
}

}  // namespace
}  // namespace midscope
