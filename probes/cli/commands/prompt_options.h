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

// prompt, prompt-file.
std::vector<Parameter> TextSourceOptions();
// Those and span, answer, task, place, sample, seed, and PromptFormatOptions().
std::vector<Parameter> PromptOptions();

// source-prompt-file, source-span.
std::vector<Parameter> SourcePromptOptions();
// Their texts. Throws Error: unreadable, not UTF-8, a name that occurs twice.
std::vector<SourceText> ReadSourceTexts(const OptionSet& options);

// Checks that exactly one source of text is given; called before a model is loaded. Throws Error
// (usage).
void CheckTextSource(const OptionSet& options);

// The text of --prompt or --prompt-file, unchanged. Throws Error: unreadable, not UTF-8.
std::string ReadText(const OptionSet& options);

// The text of --answer. Throws Error: not UTF-8.
const std::string& ReadAnswer(const OptionSet& options);

// The text, its passages (--span) and --answer. Throws Error.
OwnText ReadOwnText(const OptionSet& options);

struct PlacedPrompt {
  Prompt prompt;
  int64_t place = 0;  // of a task's gold piece; 0 for own text
};
// Logs what a task cuts from the prompt. Throws Error, also if the model cannot take the format.
PlacedPrompt ReadPrompt(const OptionSet& options, const PromptFormat& format,
                        const Tokenizer& tokenizer, const JobContext& job);

// Throws Error (usage) if a prompt of --source-prompt-file is one that no patch takes from.
void CheckSourcesUsed(const OptionSet& options, const std::vector<Intervention>& interventions);

// The prompts of --source-prompt-file by name. Throws Error.
std::vector<std::pair<std::string, Prompt>> ReadNamedPrompts(const OptionSet& options,
                                                             const PromptFormat& format,
                                                             const Tokenizer& tokenizer);

// The prompts that patches of ReadPrompt's prompt may name: its sample at other places, and
// ReadNamedPrompts. `tokenizer` must outlive them. Throws Error.
PatchPrompts ReadSourcePrompts(const OptionSet& options, const PromptFormat& format,
                               const Tokenizer& tokenizer);

}  // namespace midscope::cli
