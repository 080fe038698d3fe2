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
  EXPECT_TRUE(usage.usage_error);
  EXPECT_EQ(usage.why, "x: is wrong. Mend it");

  const JobOutcome failure = RunThrowing([] { throw Failure("file", "is gone"); });
  EXPECT_FALSE(failure.usage_error);
  EXPECT_EQ(failure.why, "file: is gone");
}

TEST(Job, LetsNoExceptionOut) {
  EXPECT_NE(RunThrowing([] { throw std::bad_alloc(); }).why.find("memory"), std::string::npos);
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
