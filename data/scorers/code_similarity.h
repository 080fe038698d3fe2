// SPDX-License-Identifier: MIT
// LongBench's score for code completion.
#pragma once

#include <string_view>

namespace midscope {

// Ratcliff and Obershelp's ratio 2 M / T of two texts by characters, as Python's difflib computes
// it, its "popular characters" rule for a second text of 200 and more included. 1 for two empty
// texts.
double MatchingRatio(std::string_view first, std::string_view second);

// The first line of the prediction (leading newlines left out) without a backtick, '#' or "//",
// against the reference: fuzzywuzzy's ratio, whole percents, rounded half to even. The package
// returns other numbers where python-Levenshtein is installed; LongBench does not require it.
double CodeSimilarity(std::string_view prediction, std::string_view reference);

}  // namespace midscope
