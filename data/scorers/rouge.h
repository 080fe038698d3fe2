// SPDX-License-Identifier: MIT
// ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004) as F scores, as computed by two Python packages that
// published numbers come from. For the same pair of texts, the packages differ by many points.
#pragma once

#include <string_view>

namespace midscope {

struct RougeScores {
  double rouge1 = 0;
  double rouge2 = 0;
  double rouge_l = 0;
};

// Scores of the Python package `rouge` (1.0.1), which LongBench uses: case and punctuation matter,
// sentences end at every '.', each distinct n-gram is counted once, ROUGE-L is the summary-level
// variant, on sets of words. All scores are 0 if a text has no sentence. The package's recursion
// fails on sentences of more than about a thousand words, for which LongBench records 0; here they
// are scored.
RougeScores RougeOfSets(std::string_view prediction, std::string_view reference);

// Scores of the Python package `rouge-score` (0.1.2) without its stemmer, as ZeroSCROLLS uses it:
// words are runs of [a-z0-9] after conversion to lower case, n-grams are counted with repetition,
// ROUGE-L treats the whole text as one sentence.
RougeScores RougeOfCounts(std::string_view prediction, std::string_view reference);

// Returns the geometric mean of the three scores of one pair of texts. The table of ZeroSCROLLS
// instead lists the geometric mean of the mean scores over all pairs, which is at least as high.
double GeometricMean(const RougeScores& scores);

}  // namespace midscope
