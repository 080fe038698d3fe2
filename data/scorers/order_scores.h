// SPDX-License-Identifier: MIT
// Scores for orderings and percentages, each from 0 to 1.
#pragma once

#include <string_view>

namespace midscope {

// ZeroSCROLLS' BookSumSort: the share of pairs of items that the prediction puts in the same order
// as the reference (the concordance index). Both texts are lists of integers ("3, 1, 2");
// everything except digits, white space and commas is dropped. Returns 0 unless both are
// permutations of 1 to n, and 1 for a correct list of one item, which has no pairs.
double OrderConcordance(std::string_view prediction, std::string_view reference);

// Returns 1 if the whole order is correct, else 0. Only this score is consistent with the channel
// paper's numbers for timeline reorder, which are all multiples of 1/96. If the reference is in
// Roman numerals ("II,I,III", as in LooGLE), the prediction's Roman numerals are compared, because
// Arabic ones are dates; otherwise its Arabic numerals.
double OrderMatch(std::string_view prediction, std::string_view reference);

// ZeroSCROLLS' score for SpaceDigest: 2^(-|d| / 10), where d is the difference in percentage points
// between the first "NN%" of each text; returns 0 if the prediction has no percentage. Throws Error
// (failure) if the reference has no percentage.
double PercentageSimilarity(std::string_view prediction, std::string_view reference);

}  // namespace midscope
