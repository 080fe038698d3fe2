// SPDX-License-Identifier: MIT
// How command lines and forms say in which format prompts are put to the model
// (probes/prompt/prompt_format.h).
#pragma once

#include <vector>

#include "core/base/options.h"
#include "probes/prompt/prompt_format.h"

namespace midscope {

// chat, chat-template, chat-option, chat-date, system, bos.
std::vector<OptionDescription> PromptFormatOptions();

// Reads a file that --chat-template names. Throws Error (usage): a template that is none, an option
// of chats without --chat.
PromptFormat ReadPromptFormat(const OptionSet& options);

// The options that read as this format, those at their defaults not set.
OptionSet OptionsOf(const PromptFormat& format);

}  // namespace midscope
