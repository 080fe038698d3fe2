// SPDX-License-Identifier: MIT
// Rows of a prompt as options of probes name them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tokenizer/prompt.h"

namespace midscope {

// Accepted values of such an option, for its help: "tokens from 0, ranges and passages, such as
// ...".
inline constexpr const char* kPromptRowsText =
    "tokens from 0, ranges and passages, such as 0-3,17,gold";

// The rows of the prompt that `text` names, ascending, each once. `option`: its name, for errors.
// Throws Error (usage): what is neither a number nor a passage of the prompt, a row outside it.
std::vector<int64_t> ChosenPromptRows(const Prompt& prompt, const std::string& text,
                                      const std::string& option);

}  // namespace midscope
