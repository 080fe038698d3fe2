// SPDX-License-Identifier: MIT
// The descriptions of the terms that are position schemes. Internal to core.
#pragma once

#include <vector>

#include "core/intervention/intervention_text.h"

namespace midscope {

// In the order of the variant PositionScheme, NoScheme ("none") first.
std::vector<Term> SchemeTerms();

}  // namespace midscope
