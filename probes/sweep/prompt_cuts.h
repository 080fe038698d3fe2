// SPDX-License-Identifier: MIT
// Prompts that a task cut to a number of tokens, counted by place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "probes/statistics/outcome_measures.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

struct PromptCuts {
  int64_t samples = 0;
  std::vector<int64_t> cut;       // [place]: samples whose prompt was cut
  std::vector<int64_t> gold_cut;  // [place]: of these, those without any of the gold piece
};

// Zeros where the task does not cut.
PromptCuts PromptCutsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes);

// Adds cut_samples and gold_cut_samples [place] to a record over `place`, where the task cuts.
void AddPromptCuts(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                   Record& record);

// A line per place of golds that were cut out, and one for the other cut prompts; "" for none.
std::string PromptCutsText(const SweepPlan& plan, const PromptCuts& cuts);

}  // namespace midscope
