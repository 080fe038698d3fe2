// SPDX-License-Identifier: MIT
// ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) as F scores, in the two forms that published numbers
// come from; they differ by many points on the same pair.
#pragma once

#include <span>
#include <string_view>

namespace midscope {

struct RougeScores {
  double rouge1 = 0;
  double rouge2 = 0;
  double rouge_l = 0;
};

// The Python package `rouge` (1.0.1), which LongBench uses: case and punctuation count, sentences
// end at every '.', n-grams are counted once each, ROUGE-L is of whole summaries and on sets of
// words. All 0 if a text has no sentence. The package's recursion fails on sentences of more than
// about a thousand words, for which LongBench notes 0; here they are scored.
RougeScores RougeOfSets(std::string_view prediction, std::string_view reference);

// The Python package `rouge-score` (0.1.2) without its stemmer, which ZeroSCROLLS uses: words are
// runs of [a-z0-9] after lower casing, n-grams are counted with repetition, ROUGE-L is of the whole
// text as one sentence.
RougeScores RougeOfCounts(std::string_view prediction, std::string_view reference);

// Geometric mean of the three scores of one pair.
double GeometricMean(const RougeScores& scores);

// The figure of ZeroSCROLLS' table: each of the three is averaged over the pairs first. Not the
// mean of GeometricMean() over pairs, which is lower or equal. 0 for no pairs.
double GeometricMeanOfMeans(std::span<const RougeScores> scores);

}  // namespace midscope
