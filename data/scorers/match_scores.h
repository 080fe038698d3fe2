// SPDX-License-Identifier: MIT
// Scores by the overlap of prediction and reference, 0 to 1 each.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// Key-value retrieval of "Lost in the Middle": the reference, in lower case, occurs anywhere in the
// prediction. A model that repeats many records also scores.
double SubstringMatch(std::string_view prediction, std::string_view reference);

// best_subspan_em of "Lost in the Middle": the normalised reference occurs in the normalised
// prediction, not necessarily at word boundaries. A reference that normalises to nothing always
// matches.
double SubspanExactMatch(std::string_view prediction, std::string_view reference);

// The words of the text, capitals kept, without the ASCII punctuation around them; a word of
// punctuation alone stays.
std::vector<std::string> BareWords(std::string_view text);

// 1 where the reference's BareWords occur in the prediction's, one behind the other: for references
// that normalise to nothing.
double WholeWordsMatch(std::string_view prediction, std::string_view reference);

// Normalised texts are equal (SQuAD).
double ExactMatch(std::string_view prediction, std::string_view reference);

// Harmonic mean of precision and recall over the normalised words, counted with repetition (SQuAD,
// LongBench). 0 where no word is shared, also where both are empty.
double TokenF1(std::string_view prediction, std::string_view reference);

// The same over words that are given.
double WordsF1(std::span<const std::string> prediction, std::span<const std::string> reference);

// Of the reference's words, in lower case and each counted once, the share that the prediction has:
// the rule-based score of a needle in a haystack (Fu et al. 2024, arXiv 2402.10171; visualize.py of
// github.com/FranxYao/Long-Context-Data-Engineering). Punctuation belongs to its word. 0 where the
// reference has none.
double WordRecall(std::string_view prediction, std::string_view reference);

}  // namespace midscope
