// SPDX-License-Identifier: MIT
// Options that describe the prompt.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/options.h"
#include "core/intervention/intervention.h"
#include "core/run/patch_sources.h"
#include "core/tokenizer/prompt.h"
#include "core/tokenizer/tokenizer.h"
#include "probes/prompt/prompt_format.h"
#include "probes/prompt/task_prompt.h"

namespace midscope::cli {

// Returns the options prompt and prompt-file.
std::vector<Parameter> TextSourceOptions();
// Returns the options of a prompt: TextSourceOptions(), span, answer, task, place, sample, seed,
// and PromptFormatOptions().
std::vector<Parameter> PromptOptions();

// Returns the options source-prompt-file and source-span.
std::vector<Parameter> SourcePromptOptions();
// Reads the named texts of --source-prompt-file and --source-span. Throws Error if a file is
// unreadable or not UTF-8, or a name occurs twice.
std::vector<SourceText> ReadSourceTexts(const OptionSet& options);

// Throws Error (usage) unless exactly one source of text is given; called before a model is loaded.
void CheckTextSource(const OptionSet& options);

// Returns the text of --prompt or --prompt-file, unchanged. Throws Error if unreadable or not
// UTF-8.
std::string ReadText(const OptionSet& options);

// Returns the text of --answer. Throws Error if it is not UTF-8.
const std::string& ReadAnswer(const OptionSet& options);

// Reads the text, its passages (--span) and --answer. Throws Error.
OwnText ReadOwnText(const OptionSet& options);

struct PlacedPrompt {
  Prompt prompt;
  int64_t place = 0;  // place of a task's gold piece; 0 for own text
};
// Makes the prompt that the options describe; logs what a task cuts from it. Throws Error, also if
// the model does not support the prompt format.
PlacedPrompt ReadPrompt(const OptionSet& options, const PromptFormat& format,
                        const Tokenizer& tokenizer, const JobContext& job);

// Throws Error (usage) if --source-prompt-file is given, but no patch reads from its prompts.
void CheckSourcesUsed(const OptionSet& options, const std::vector<Intervention>& interventions);

// Returns the prompts of --source-prompt-file with their names. Throws Error.
std::vector<std::pair<std::string, Prompt>> ReadNamedPrompts(const OptionSet& options,
                                                             const PromptFormat& format,
                                                             const Tokenizer& tokenizer);

// Returns the prompts from which patches may take values: the sample of ReadPrompt at other places,
// and the prompts of ReadNamedPrompts. `tokenizer` must outlive them. Throws Error.
PatchPrompts ReadSourcePrompts(const OptionSet& options, const PromptFormat& format,
                               const Tokenizer& tokenizer);

}  // namespace midscope::cli
