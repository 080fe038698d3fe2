// SPDX-License-Identifier: MIT
#include "core/plan/awareness_rule.h"

#include <variant>

namespace midscope {

kernels::AwarenessThreshold AwarenessRule(const MsPoe& scheme) {
  return {scheme.mode == MsPoeMode::kCode ? kernels::ThresholdRule::kGreater
                                          : kernels::ThresholdRule::kAtLeast,
          scheme.alpha};
}

kernels::AwarenessThreshold AwarenessRule(const Intervention& intervention) {
  const auto* scheme = intervention.Find<MsPoe>();
  return scheme ? AwarenessRule(*scheme) : kernels::AwarenessThreshold();
}

}  // namespace midscope
