// SPDX-License-Identifier: MIT
// Scores by the overlap of prediction and reference, 0 to 1 each.
#pragma once

#include <optional>
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

// 1 if the reference's BareWords occur in the prediction's, one behind the other: for references
// that normalise to nothing.
double WholeWordsMatch(std::string_view prediction, std::string_view reference);

// Normalised texts are equal (SQuAD).
double ExactMatch(std::string_view prediction, std::string_view reference);

// Harmonic mean of precision and recall over the normalised words, counted with repetition (SQuAD,
// LongBench). 0 if no word is shared, also if both are empty.
double TokenF1(std::string_view prediction, std::string_view reference);

// As TokenF1, over the given words.
double WordsF1(std::span<const std::string> prediction, std::span<const std::string> reference);

// Share of the reference's words, in lower case and each counted once, that the prediction has: the
// rule-based score of a needle in a haystack (Fu et al. 2024, arXiv 2402.10171; visualize.py of
// github.com/FranxYao/Long-Context-Data-Engineering). Punctuation belongs to its word. 0 if the
// reference has none.
double WordRecall(std::string_view prediction, std::string_view reference);

// Scores for answers that are a class, a number or a letter, 0 to 1 each.

// LongBench's classes (trec, lsht): 1 / (number of classes that the prediction names) where the
// reference is among them, else 0. A class that is part of the reference does not count as named.
// The public code removes such classes from a list while it iterates over it, and so keeps every
// second one of a run; `as_public_code` does the same.
double ClassScore(std::string_view prediction, std::string_view reference,
                  std::span<const std::string> classes, bool as_public_code = true);

// LongBench's passage retrieval: the share of the prediction's numbers that equal the one in the
// reference's "Paragraph 17" ("段落17" in its Chinese set), as text; 0 without numbers. Throws
// Error (failure) if the reference holds no such number.
double RetrievalScore(std::string_view prediction, std::string_view reference);

// LongBench's counts: the share of the prediction's numbers that equal the reference, as text.
double CountScore(std::string_view prediction, std::string_view reference);

// The runs of digits at either end, without leading zeros; nullopt if there are none. Passkey and
// the lines task as CREAM scores it use the first, LongChat's lines task the last.
std::optional<std::string> FirstInteger(std::string_view text);
std::optional<std::string> LastInteger(std::string_view text);

// 1 if that integer equals the reference's.
double FirstIntegerMatch(std::string_view prediction, std::string_view reference);
double LastIntegerMatch(std::string_view prediction, std::string_view reference);

// ZeroSCROLLS' multiple choice (QuALITY): the first of A, B, C, D that is a separate word.
double ChoiceLetterMatch(std::string_view prediction, std::string_view reference);

}  // namespace midscope
