// SPDX-License-Identifier: MIT
// Files of sweeps as inputs of curves (outcome_curves.h).
#pragma once

#include <string>
#include <vector>

#include "core/base/job.h"
#include "probes/sweep/outcome_curves.h"

namespace midscope {

// The files, and of folders those that are sweeps, by name. Throws Error (failure): a folder
// without a sweep, a damaged file.
std::vector<std::string> SweepFilesOf(const std::vector<std::string>& given);

// Throws Error: (usage) a file that is no sweep's, (failure) a damaged one.
CurveInput ReadCurveInput(const std::string& file, const JobContext& context = {});

// Both. Throws Cancelled, too.
std::vector<CurveInput> ReadCurveInputs(const std::vector<std::string>& given,
                                        const JobContext& context);

}  // namespace midscope
