// SPDX-License-Identifier: MIT
// Contract: inputs that hold one setting under two texts are not joined as if they were two.

#include "probes/sweep/merged_means.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/example_sweep.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string PlanWith(const std::string& settings) {
  return R"({"task":"list","seed":1,"samples":9,"places":[1],"settings":[)" + settings + "]}";
}

// The text of a setting may be from before one of its arguments existed.
TEST(MergedSummaries, SettingsOfOneValueAreTheSame) {
  const TemporaryFolder folder;
  WriteSweep(folder.File("a.h5"), PlanWith(R"~("none","pi(1.5)")~"), {0});
  WriteSweep(folder.File("older.h5"), PlanWith(R"~("pi(ratio=1.50)")~"), {0});
  const SweepMerge merge({folder.File("a.h5"), folder.File("older.h5")});
  ASSERT_TRUE(merge.joins_settings());
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { MergedSummaries(merge); }),
              AllOf(HasSubstr("pi(ratio=1.50)"), HasSubstr("in another input too, as pi(1.5)")));
}

}  // namespace
}  // namespace midscope
