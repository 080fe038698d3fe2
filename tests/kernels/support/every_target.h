// SPDX-License-Identifier: MIT
// Runs a test once for each instruction set that the kernels were compiled for and this CPU
// supports.
#pragma once

#include <gtest/gtest.h>

#include <hwy/targets.h>

namespace midscope::kernels {

template <class Test>
void OnEveryTarget(const Test& test) {
  for (const int64_t target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    SCOPED_TRACE(hwy::TargetName(target));
    test();
  }
  hwy::SetSupportedTargetsForTest(0);
}

}  // namespace midscope::kernels
