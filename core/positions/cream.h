// SPDX-License-Identifier: MIT
// The three segments of CREAM (arXiv 2406.07138, section 2.2).
#pragma once

#include <cstdint>
#include <vector>

#include "core/positions/position_sampler.h"

namespace midscope {

// Number of tokens in each segment; a head or tail of 0 does not exist.
struct CreamSegments {
  int64_t head = 0;    // L_h
  int64_t middle = 0;  // L_m
  int64_t tail = 0;    // L_t
};

// Returns the segments that the sampler `cream` uses with these options: one choice, or two from
// which it draws with equal probability. Throws Error (usage) if they leave no middle.
std::vector<CreamSegments> CreamSegmentChoices(const PositionRequest& request,
                                               const OptionSet& options);

}  // namespace midscope
