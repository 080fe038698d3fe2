// SPDX-License-Identifier: MIT
// Checks whether a prompt with its answer fits a model's context.
#pragma once

#include "core/base/job.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// Throws Error (usage), with both lengths, if the prompt and the rows of its answer exceed the
// limit of the model under the intervention (core/plan/run_positions.h).
void CheckPromptFits(const ModelConfig& config, const Prompt& prompt,
                     const Intervention& intervention = {});

// Whether the prompt with its answer exceeds the context; decoders opened with beyond_context run
// it anyway. LogBeyondContext logs a message if it does.
bool PromptIsBeyondContext(const ModelConfig& config, const Prompt& prompt,
                           const Intervention& intervention);
void LogBeyondContext(const ModelConfig& config, const Prompt& prompt,
                      const Intervention& intervention, const JobContext& context);

}  // namespace midscope
