// SPDX-License-Identifier: MIT
// The list of position samplers: one line per file of this folder, in the order in which help lists
// them. SAMPLER(pose) denotes the function pose::Sampler() of pose.cpp.
#pragma once

#include "core/positions/position_sampler.h"

// clang-format off
#define MIDSCOPE_POSITION_SAMPLERS(SAMPLER) \
  SAMPLER(cream)                            \
  SAMPLER(pose)                             \
  SAMPLER(randpos)                          \
  SAMPLER(full)
// clang-format on

namespace midscope {

#define MIDSCOPE_DECLARE_SAMPLER(NAME) \
  namespace NAME {                     \
  PositionSampler Sampler();           \
  }
MIDSCOPE_POSITION_SAMPLERS(MIDSCOPE_DECLARE_SAMPLER)
#undef MIDSCOPE_DECLARE_SAMPLER

}  // namespace midscope
