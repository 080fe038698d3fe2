// SPDX-License-Identifier: MIT
// Parses lists of integers: "1,5,10", "96-103", "1,5-7".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace midscope {

// Returns the numbers in the given order; ranges are inclusive. Throws Error (usage) if the text is
// not a list or has duplicates or numbers outside [minimum, maximum]. The message names `thing`,
// and its remedy ends with `or_else`.
std::vector<int64_t> ParseNumberList(std::string_view thing, std::string_view text, int64_t minimum,
                                     int64_t maximum, std::string_view or_else = "");

}  // namespace midscope
