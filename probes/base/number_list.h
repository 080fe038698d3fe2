// SPDX-License-Identifier: MIT
// Lists of whole numbers as people write them: "1,5,10", "96-103", "1,5-7".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace midscope {

// The numbers in the order given; ranges are inclusive. Throws Error (usage) that names `thing`
// for what is no such list, a number outside [minimum, maximum] and one that stands twice.
std::vector<int64_t> ParseNumberList(std::string_view thing, std::string_view text, int64_t minimum,
                                     int64_t maximum);

}  // namespace midscope
