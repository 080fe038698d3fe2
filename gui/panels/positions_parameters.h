// SPDX-License-Identifier: GPL-3.0-or-later
// Descriptions of the parameters in the forms of PositionsPanel.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/parameter.h"

namespace midscope {

inline constexpr int64_t kMostSampleTokens = int64_t{1} << 15;

// Parameters that all samplers share: tokens, factor, seed, samples.
std::vector<Parameter> PositionSampleParameters();

// Parameters of the plots of rotary positions: dim, base, context, new-base, least-ratio,
// largest-ratio.
std::vector<Parameter> RopePictureParameters();

}  // namespace midscope
