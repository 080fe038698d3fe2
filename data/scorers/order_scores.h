// SPDX-License-Identifier: MIT
// Scores for orderings and percentages, 0 to 1 each.
#pragma once

#include <string_view>

namespace midscope {

// ZeroSCROLLS' BookSumSort: the share of pairs of items that the prediction puts in the reference's
// order (the concordance index). Texts are lists of integers ("3, 1, 2"; everything but digits,
// white space and commas is dropped). 0 if the two are not permutations of 1 to n, and 1 for a
// right list of one item, which has no pairs.
double OrderConcordance(std::string_view prediction, std::string_view reference);

// 1 if the whole order is correct: the only score that fits the channel paper's timeline reorder
// numbers, which are all multiples of 1/96. Where the reference is in Roman numerals ("II,I,III",
// as in LooGLE) the prediction's Roman numerals are compared, because its dates are Arabic; else
// its Arabic ones.
double OrderMatch(std::string_view prediction, std::string_view reference);

// ZeroSCROLLS' SpaceDigest: 2^(-|difference| / 10), difference in percentage points between the
// first "NN%" of each; 0 if the prediction has none. Throws Error (failure) if the reference has
// none.
double PercentageSimilarity(std::string_view prediction, std::string_view reference);

}  // namespace midscope
