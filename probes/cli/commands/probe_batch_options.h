// SPDX-License-Identifier: MIT
// The command-line options for several prompts of a task.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/engine/probe_batch.h"
#include "probes/prompt/prompt_format.h"

namespace midscope::cli {

// Returns the options places and samples.
std::vector<Parameter> BatchOptions();

// Whether the options request several prompts. Throws Error (usage) if they do, but there is no
// task or also --place. Called before a model is loaded.
bool RequestsBatch(const OptionSet& options);

// Makes the batch: --samples samples from --sample on, each at --places. `tokenizer` must outlive
// it. Throws Error (usage).
ProbeBatch ReadBatch(const OptionSet& options, const PromptFormat& format,
                     const Tokenizer& tokenizer);

}  // namespace midscope::cli
