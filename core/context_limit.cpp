// SPDX-License-Identifier: MIT
#include "core/context_limit.h"

#include <variant>

namespace midscope {

int64_t LongestRun(const Intervention& intervention, const ModelConfig& config) {
  const bool lifted = std::holds_alternative<SelfExtend>(intervention.positions) ||
                      std::holds_alternative<InfiniAttention>(intervention.positions);
  return lifted ? INT64_MAX : config.trained_context;
}

}  // namespace midscope
