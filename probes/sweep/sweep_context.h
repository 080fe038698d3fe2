// SPDX-License-Identifier: MIT
// Determines which settings of a sweep can run on a sample within the model's context, and adds the
// results to the sample's record.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/record.h"
#include "core/model/model_config.h"
#include "probes/measure/statistics/outcome_measures.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/sweep_plan.h"

namespace midscope {

// Prefix of failure messages of prompts that exceed the context.
inline constexpr const char* kTooLong = "prompt too long";

// Arrays of a sample's record that only some sweeps have.
inline constexpr const char* kSettingFailure = "setting_failure";
inline constexpr const char* kBeyondContext = "beyond_context";
inline constexpr const char* kGenerationRouge = "generation_rouge";

// Returns the reason why each setting cannot be run on these prompts, "prompt too long: it has
// ..."; "" if it can; [setting].
std::vector<std::string> ContextFailures(const std::vector<TaskQuestion>& questions,
                                         const std::vector<SweepSetting>& settings,
                                         const ScoreArms& score, const ModelConfig& config);

// Throws Error (failure), whose what() begins with kTooLong, if no setting can be run.
// `failures`: from ContextFailures.
void CheckFits(const std::vector<std::string>& failures);

// Adds array setting_failure if the settings' contexts differ, and beyond_context if the decoder
// runs beyond the context. Which arrays are added does not depend on the sample. `failures`: from
// ContextFailures.
void AddContextArrays(const std::vector<TaskQuestion>& questions,
                      const std::vector<SweepSetting>& settings,
                      const std::vector<std::string>& failures, const ScoreArms& score,
                      const ModelConfig& config, Record& record);

// Numbers of prompts that a task cut to a token limit, or that are equal at two places, by place.

struct PromptCuts {
  int64_t samples = 0;
  std::vector<int64_t> cut;       // [place]: samples whose prompt was cut
  std::vector<int64_t> gold_cut;  // [place]: of these, samples without any gold left
  // [place]: samples whose gold piece has the rank that it has at an earlier place.
  std::vector<int64_t> repeated;
};

// Counts cut prompts (0 if the task does not cut) and repeated places.
PromptCuts PromptCutsOf(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes);

// If the task cuts prompts, adds cut_samples and gold_cut_samples [place] to a record over `place`;
// if a place is repeated, repeated_samples [place].
void AddPromptCuts(const SweepPlan& plan, const std::vector<SampleOutcome>& outcomes,
                   Record& record);

// Returns a text with one line per place at which gold pieces were cut out, one line for the other
// cut prompts, and one for repeated places; "" if there are none.
std::string PromptCutsText(const SweepPlan& plan, const PromptCuts& cuts);

}  // namespace midscope
