// SPDX-License-Identifier: MIT
// Arrays of a sample's record about its prompts, whatever the settings.
#pragma once

#include <vector>

#include "core/base/job.h"
#include "core/base/record.h"
#include "core/run/patch_sources.h"
#include "probes/prompt/task_prompt.h"
#include "probes/sweep/sweep_sample.h"

namespace midscope {

inline constexpr const char* kAnswerTokens = "answer_tokens";
inline constexpr const char* kSampleGroup = "sample_group";

// Arrays [place]: prompt_tokens, answer_tokens, gold_token_begin, gold_token_end, prompt_cut (of
// tasks that cut), question_text,
// answer_text, expected_answers, and sample_group where the sample is of one of several data sets.
void AddPlaceArrays(const std::vector<TaskQuestion>& questions, Record& record);

// Prompts that patches of one sample's settings take values from.

// The prompts of the sample and of the next, at any place, and request.source_prompts. `request`
// must outlive them.
PatchPrompts SourcePromptsOf(const SampleRequest& request);

// answer_nll of each place's answer in the source run of the first patch of the settings: those of
// a scan have one source. [place]; empty if nothing is patched or there is no answer.
std::vector<double> SourceNll(const SampleRequest& request, PatchSources& sources,
                              const JobContext& context);

}  // namespace midscope
