// SPDX-License-Identifier: MIT
// The known word that a mistyped one most likely meant, for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// The word of `known` that is fewest edits (insert, delete, replace, swap of neighbours) away from
// `word`, or "" where none is nearer than half of the word's length.
std::string NearestWord(std::string_view word, const std::vector<std::string>& known);

// "did you mean 'ms-poe'? known: none, pi, ms-poe"
std::string KnownWordsHint(std::string_view word, const std::vector<std::string>& known);

}  // namespace midscope
