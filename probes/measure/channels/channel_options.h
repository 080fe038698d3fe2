// SPDX-License-Identifier: MIT
// The options of a search for channels, shared by the command line, the window's form and the
// engine's request.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/options.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// Returns the options of the search, of the validation and of the prompt format.
std::vector<Parameter> ChannelOptions();

// Returns the options that were set explicitly, as a JSON object. Defaults are not included because
// they depend on other options (variant, preset).
std::string StatedJson(const OptionSet& options);

// Checks the options as far as possible without a model. Throws Error (usage).
void CheckChannelOptions(const OptionSet& options);

// Values that several options determine together.

// The defaults of a preset; options on the command line override them.
struct ChannelPreset {
  int64_t prompts = 24;
  std::string validate = "list";
  std::string pairs = "10";
  std::string key_value_places;  // "": the task's default
  int64_t list_examples = 100;
  int64_t key_value_examples = 40;
};

// Whether the option has no effect without a validation.
bool IsOfTrials(const std::string& option);
ChannelPreset ReadPreset(const OptionSet& options);
// Throws Error (usage) if they are not a list of numbers. `is_code`: the variant is the public
// code.
std::vector<double> ReadFactors(const OptionSet& options, bool is_code);
PromptFormat ReadFormat(const OptionSet& options);
// Returns the kind of validation; the ablation without a validation set has none.
std::string ValidationKind(const OptionSet& options);

}  // namespace midscope
