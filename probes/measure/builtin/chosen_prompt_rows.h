// SPDX-License-Identifier: MIT
// Parses options of probes that select rows of a prompt.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/tokenizer/prompt.h"

namespace midscope {

// Describes the accepted values of an option that selects prompt rows, for its help.
inline constexpr const char* kPromptRowsText =
    "tokens from 0, ranges and passages, such as 0-3,17,gold";

// Returns the prompt rows that `text` names, ascending, without duplicates. `option`: name of the
// option, for errors. Throws Error (usage) if an item is neither a number nor a passage of the
// prompt, or a row is outside the prompt.
std::vector<int64_t> ChosenPromptRows(const Prompt& prompt, const std::string& text,
                                      const std::string& option);

}  // namespace midscope
