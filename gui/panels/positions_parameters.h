// SPDX-License-Identifier: GPL-3.0-or-later
// What the forms of PositionsPanel ask for.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parameter.h"

namespace midscope {

inline constexpr int64_t kMostSampleTokens = int64_t{1} << 15;

// Of any sampler: tokens, factor, seed, samples.
std::vector<Parameter> PositionSampleParameters();

// Of the pictures of rotary positions: dim, base, context, new-base, least-ratio, largest-ratio.
std::vector<Parameter> RopePictureParameters();

}  // namespace midscope
