// SPDX-License-Identifier: MIT
// LongBench's score for code completion.
#pragma once

#include <string_view>

namespace midscope {

// Returns Ratcliff and Obershelp's similarity 2 M / T of two texts (M: matching characters, T:
// characters of both texts), as Python's difflib computes it, with its rule for "popular
// characters" of second texts of 200 or more characters. Returns 1 for two empty texts.
double MatchingRatio(std::string_view first, std::string_view second);

// Returns the MatchingRatio of the reference and the prediction's first line (after leading
// newlines) that has no backtick, '#' or "//", rounded half to even to whole percent, as the Python
// package fuzzywuzzy. With python-Levenshtein, which LongBench does not require, that package
// returns other numbers.
double CodeSimilarity(std::string_view prediction, std::string_view reference);

}  // namespace midscope
