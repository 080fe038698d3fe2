// SPDX-License-Identifier: MIT
#include "core/plan/awareness_rule.h"

#include <variant>

namespace midscope {

kernels::ThresholdRule AwarenessRule(const Intervention& intervention) {
  const auto* scheme = std::get_if<MsPoe>(&intervention.positions);
  return scheme && scheme->mode == MsPoeMode::kCode ? kernels::ThresholdRule::kGreater
                                                    : kernels::ThresholdRule::kAtLeast;
}

}  // namespace midscope
