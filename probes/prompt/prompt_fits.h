// SPDX-License-Identifier: MIT
// Whether the context of a model holds a prompt with its answer.
#pragma once

#include "core/base/job.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// Throws Error (usage), with both numbers, if the prompt and the rows of its answer exceed what the
// model accepts under the intervention (core/plan/context_limit.h).
void CheckPromptFits(const ModelConfig& config, const Prompt& prompt,
                     const Intervention& intervention = {});

// Whether the prompt with its answer is longer than the context (a decoder opened with
// beyond_context runs it anyway); if so, logs it.
bool PromptIsBeyondContext(const ModelConfig& config, const Prompt& prompt,
                           const Intervention& intervention);
void LogBeyondContext(const ModelConfig& config, const Prompt& prompt,
                      const Intervention& intervention, const JobContext& context);

}  // namespace midscope
