// SPDX-License-Identifier: MIT
// Checks whether a prompt with its answer fits a model's context.
#pragma once

#include "core/base/job.h"
#include "core/intervention/intervention.h"
#include "core/model/model_config.h"
#include "core/tokenizer/prompt.h"

namespace midscope {

// Throws Error (usage) if the length of the prompt plus its answer exceeds the maximum of the model
// under the intervention (core/plan/run_positions.h); the message contains both lengths.
void CheckPromptFits(const ModelConfig& config, const Prompt& prompt,
                     const Intervention& intervention = {});

// Returns whether the prompt with its answer exceeds the model's context; decoders opened with
// beyond_context run it anyway. LogBeyondContext logs a message in that case.
bool PromptIsBeyondContext(const ModelConfig& config, const Prompt& prompt,
                           const Intervention& intervention);
void LogBeyondContext(const ModelConfig& config, const Prompt& prompt,
                      const Intervention& intervention, const JobContext& context);

}  // namespace midscope
