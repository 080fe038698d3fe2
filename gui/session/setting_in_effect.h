// SPDX-License-Identifier: GPL-3.0-or-later
// Settings that are known to give the same numbers without a run.
#pragma once

#include "core/intervention/intervention.h"

namespace midscope {

// The intervention without terms that change nothing: channels scaled by 1, weights times 1,
// temperature 1, positions divided by 1, moves by 0. Equal values give equal numbers; others may,
// too.
Intervention InEffect(const Intervention& intervention);

}  // namespace midscope
