// SPDX-License-Identifier: MIT
// The three segments of CREAM (arXiv 2406.07138, section 2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "core/positions/position_sampler.h"

namespace midscope {

// Tokens of each segment; a head or tail of 0 is not there.
struct CreamSegments {
  int64_t head = 0;    // L_h
  int64_t middle = 0;  // L_m
  int64_t tail = 0;    // L_t
};

// Those that the sampler `cream` takes with these options of its: one, or two between which a coin
// decides. Throws Error (usage) where they leave no middle.
std::vector<CreamSegments> CreamSegmentChoices(const PositionRequest& request,
                                               const OptionSet& options);

}  // namespace midscope
