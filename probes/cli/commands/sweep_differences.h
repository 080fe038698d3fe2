// SPDX-License-Identifier: MIT
// States in one sentence whether a setting differs from the one that it is compared with.
#pragma once

#include <string>

#include "probes/cli/commands/sweep_table.h"

namespace midscope::cli {

// Returns one line per comparison (SweepStatistics::comparisons) of the measure of the verdicts on
// the place: the mean over places and the gap, or the only place. It differs if the adjusted p is
// below kVerdictLevel. "" if there is one setting.
std::string DifferenceLines(const CellReport& report);

}  // namespace midscope::cli
