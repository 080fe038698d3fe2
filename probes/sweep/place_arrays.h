// SPDX-License-Identifier: MIT
// What stands in a sample's record about its prompts, whatever the settings.
#pragma once

#include <vector>

#include "core/base/record.h"
#include "probes/prompt/task_prompt.h"

namespace midscope {

inline constexpr const char* kAnswerTokens = "answer_tokens";
inline constexpr const char* kSampleGroup = "sample_group";

// Arrays [place]: prompt_tokens, answer_tokens, gold_token_begin, gold_token_end, prompt_cut (of
// tasks that cut), question_text,
// answer_text, expected_answers, and sample_group where the sample is of one of several data sets.
void AddPlaceArrays(const std::vector<TaskQuestion>& questions, Record& record);

}  // namespace midscope
