// SPDX-License-Identifier: MIT
// ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) as F scores, in the two variants behind published
// numbers, which differ by many points for the same pair.
#pragma once

#include <string_view>

namespace midscope {

struct RougeScores {
  double rouge1 = 0;
  double rouge2 = 0;
  double rouge_l = 0;
};

// Scores of the Python package `rouge` (1.0.1), which LongBench uses: case and punctuation matter,
// sentences end at every '.', each distinct n-gram is counted once, ROUGE-L is computed for whole
// summaries, on sets of words. All are 0 if a text has no sentence. The package's recursion fails
// on sentences of more than about a thousand words, for which LongBench records 0; here they are
// scored.
RougeScores RougeOfSets(std::string_view prediction, std::string_view reference);

// Scores of the Python package `rouge-score` (0.1.2) without its stemmer, as ZeroSCROLLS uses it:
// words are runs of [a-z0-9] after conversion to lower case, n-grams are counted with repetition,
// ROUGE-L treats the whole text as one sentence.
RougeScores RougeOfCounts(std::string_view prediction, std::string_view reference);

// Geometric mean of the three scores of one pair of texts. ZeroSCROLLS' table has the geometric
// mean of the three scores' means over pairs, which is higher or equal.
double GeometricMean(const RougeScores& scores);

}  // namespace midscope
