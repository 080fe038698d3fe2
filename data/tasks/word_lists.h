// SPDX-License-Identifier: MIT
// Words for generated tasks: common first names, things that a person may buy, and plain words for
// line names and filler.
#pragma once

#include <string>
#include <vector>

namespace midscope {

const std::vector<std::string>& FirstNames();
const std::vector<std::string>& ThingsToBuy();
const std::vector<std::string>& PlainAdjectives();
const std::vector<std::string>& PlainNouns();

}  // namespace midscope
