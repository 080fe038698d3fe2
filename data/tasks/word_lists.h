// SPDX-License-Identifier: MIT
// Word lists for generated tasks: common first names, things that a person may buy, and plain
// adjectives and nouns for line names and filler text.
#pragma once

#include <string>
#include <vector>

namespace midscope {

const std::vector<std::string>& FirstNames();
const std::vector<std::string>& ThingsToBuy();
const std::vector<std::string>& PlainAdjectives();
const std::vector<std::string>& PlainNouns();

}  // namespace midscope
