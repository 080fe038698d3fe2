// SPDX-License-Identifier: MIT
// Options for several prompts of a task.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/engine/probe_batch.h"
#include "probes/prompt/prompt_format.h"

namespace midscope::cli {

// places, samples.
std::vector<Parameter> BatchOptions();

// Whether they request several prompts. Throws Error (usage) without a task or together with
// --place. Called before a model is loaded.
bool RequestsBatch(const OptionSet& options);

// The batch: --samples from --sample on, each at --places. The tokenizer must outlive it. Throws
// Error (usage).
ProbeBatch ReadBatch(const OptionSet& options, const PromptFormat& format,
                     const Tokenizer& tokenizer);

}  // namespace midscope::cli
