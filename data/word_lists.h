// SPDX-License-Identifier: MIT
// The list task's own words: common first names, and things that a person may buy.
#pragma once

#include <string>
#include <vector>

namespace midscope {

const std::vector<std::string>& FirstNames();
const std::vector<std::string>& ThingsToBuy();

}  // namespace midscope
