// SPDX-License-Identifier: MIT
// Options of the prompt format (probes/prompt/prompt_format.h), for command lines and forms.
#pragma once

#include <vector>

#include "core/base/options.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// chat, chat-template, chat-option, chat-date, system, bos.
std::vector<Parameter> PromptFormatOptions();

// Reads the file that --chat-template names. Throws Error (usage): an invalid template, a chat
// option without --chat.
PromptFormat ReadPromptFormat(const OptionSet& options);

// The options that parse to this format; options at their defaults are not set.
OptionSet OptionsOf(const PromptFormat& format);

}  // namespace midscope
