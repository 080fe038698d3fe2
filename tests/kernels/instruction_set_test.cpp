// SPDX-License-Identifier: MIT
// Contract: kernels never use an excluded instruction set, even if it is requested by name.
#include "kernels/instruction_set.h"

#include <gtest/gtest.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/kernels/instruction_set_test.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace midscope::kernels {
namespace HWY_NAMESPACE {

int64_t OwnTarget() { return HWY_TARGET; }

}  // namespace HWY_NAMESPACE
}  // namespace midscope::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace midscope::kernels {
namespace {

HWY_EXPORT(OwnTarget);

TEST(InstructionSet, ExcludedTargetsStayExcludedWhenTheNameIsAsked) {
  const int64_t best = HWY_DYNAMIC_DISPATCH(OwnTarget)();
  if (best == HWY_STATIC_TARGET) GTEST_SKIP() << "this build or CPU has one target";
  hwy::DisableTargets(2 * best - 1);  // better targets have lower bits
  EXPECT_GT(HWY_DYNAMIC_DISPATCH(OwnTarget)(), best);
  InstructionSetName();
  EXPECT_GT(HWY_DYNAMIC_DISPATCH(OwnTarget)(), best);
  hwy::DisableTargets(0);
  EXPECT_EQ(HWY_DYNAMIC_DISPATCH(OwnTarget)(), best);
}

}  // namespace
}  // namespace midscope::kernels
#endif  // HWY_ONCE
