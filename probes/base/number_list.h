// SPDX-License-Identifier: MIT
// Lists of integers: "1,5,10", "96-103", "1,5-7".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace midscope {

// Returns the numbers in the given order; ranges are inclusive. Throws Error (usage) that names
// `thing` for a text that is not a list, a number outside [minimum, maximum] and a duplicate; the
// remedy ends with `or_else`.
std::vector<int64_t> ParseNumberList(std::string_view thing, std::string_view text, int64_t minimum,
                                     int64_t maximum, std::string_view or_else = "");

}  // namespace midscope
