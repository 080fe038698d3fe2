// SPDX-License-Identifier: MIT
// How a command line asks for several prompts of a task at once.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/engine/probe_batch.h"
#include "probes/prompt/prompt_format.h"

namespace midscope::cli {

// places, samples.
std::vector<OptionDescription> BatchOptions();

// Whether they ask for several prompts. Throws Error (usage) where they stand without a task or
// beside --place. Told before a model loads.
bool AsksForBatch(const OptionSet& options);

// The batch that they describe: --samples from --sample on, each at --places. The tokenizer
// outlives it. Throws Error (usage).
ProbeBatch ReadBatch(const OptionSet& options, const PromptFormat& format,
                     const Tokenizer& tokenizer);

}  // namespace midscope::cli
