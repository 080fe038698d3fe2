// SPDX-License-Identifier: MIT
// LongBench's score for code completion.
#pragma once

#include <string_view>

namespace midscope {

// Returns Ratcliff and Obershelp's ratio 2 M / T of two texts by characters (M: matching ones, T:
// all of both texts), as Python's difflib computes it, including its "popular characters" rule for
// a second text of 200 or more. Returns 1 for two empty texts.
double MatchingRatio(std::string_view first, std::string_view second);

// Compares the prediction's first line that has no backtick, '#' or "//" (after leading newlines)
// with the reference, by fuzzywuzzy's ratio: a whole percentage, rounded half to even. That package
// returns other numbers if python-Levenshtein is installed; LongBench does not require it.
double CodeSimilarity(std::string_view prediction, std::string_view reference);

}  // namespace midscope
