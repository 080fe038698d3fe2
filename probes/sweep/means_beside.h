// SPDX-License-Identifier: MIT
// Means of settings that were compared before, put beside those of a comparison under way, over the
// same samples: means over 3 samples and over 20 cannot be compared.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/intervention/intervention.h"
#include "probes/sweep/sweep.h"

namespace midscope {

struct Comparison {
  SweepPlan plan;
  SweepResult result;
};

// The first `samples` samples of a result.
SweepResult FirstSamples(SweepResult result, int64_t samples);

// Adds to `means` (outcome_means) the settings of `beside` that one of the comparisons has with
// that many samples or more, over the first `samples` of them.
void AddMeansBeside(const std::map<std::string, Comparison>& comparisons,
                    const std::vector<Intervention>& beside, int64_t samples, Record& means);

}  // namespace midscope
