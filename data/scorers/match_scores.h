// SPDX-License-Identifier: MIT
// Scores for the overlap of prediction and reference, each from 0 to 1.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// Score of key-value retrieval in "Lost in the Middle": the reference, in lower case, occurs
// anywhere in the prediction. A model that repeats many records also scores.
double SubstringMatch(std::string_view prediction, std::string_view reference);

// best_subspan_em of "Lost in the Middle": the normalised reference occurs in the normalised
// prediction, not necessarily at word boundaries. A reference that normalises to nothing always
// matches.
double SubspanExactMatch(std::string_view prediction, std::string_view reference);

// Returns the words of the text, case kept, without ASCII punctuation at their ends; a word that is
// only punctuation stays.
std::vector<std::string> BareWords(std::string_view text);

// Returns 1 if the reference's BareWords occur consecutively in the prediction's. For references
// that normalise to nothing.
double WholeWordsMatch(std::string_view prediction, std::string_view reference);

// Whether the normalised texts are equal (SQuAD).
double ExactMatch(std::string_view prediction, std::string_view reference);

// Harmonic mean of precision and recall over the normalised words, counted with repetition (SQuAD,
// LongBench). 0 if they share no word, even if both are empty.
double TokenF1(std::string_view prediction, std::string_view reference);

// As TokenF1, but for the given words.
double WordsF1(std::span<const std::string> prediction, std::span<const std::string> reference);

// Share of the reference's distinct words, in lower case, that occur in the prediction: the
// rule-based score of a needle in a haystack (Fu et al. 2024, arXiv 2402.10171; visualize.py of
// github.com/FranxYao/Long-Context-Data-Engineering). Punctuation counts as part of its word. 0 if
// the reference has no words.
double WordRecall(std::string_view prediction, std::string_view reference);

// Scores for answers that are a class, a number or a letter, each from 0 to 1.

// LongBench's score for classes (trec, lsht): 1 / (number of classes that the prediction names) if
// the reference is among them, else 0. A class that is a substring of the reference does not count
// as named. The public code removes such classes from a list while iterating over it, and so keeps
// every second of consecutive ones; `as_public_code` does the same.
double ClassScore(std::string_view prediction, std::string_view reference,
                  std::span<const std::string> classes, bool as_public_code = true);

// LongBench's score for passage retrieval: the share of the prediction's numbers that equal, as
// text, the number in the reference's "Paragraph 17" ("段落17" in its Chinese set); 0 if it has no
// numbers. Throws Error (failure) if the reference has no such number.
double RetrievalScore(std::string_view prediction, std::string_view reference);

// LongBench's score for counts: the share of the prediction's numbers that equal the reference, as
// text.
double CountScore(std::string_view prediction, std::string_view reference);

// Returns the first (last) run of digits of the text, without leading zeros; nullopt if it has
// none. Passkey and CREAM's scoring of the lines task use the first, LongChat's lines task the
// last.
std::optional<std::string> FirstInteger(std::string_view text);
std::optional<std::string> LastInteger(std::string_view text);

// Returns 1 if that integer of the prediction equals that of the reference.
double FirstIntegerMatch(std::string_view prediction, std::string_view reference);
double LastIntegerMatch(std::string_view prediction, std::string_view reference);

// ZeroSCROLLS' score for multiple choice (QuALITY): compares the first of A, B, C, D that is a
// separate word.
double ChoiceLetterMatch(std::string_view prediction, std::string_view reference);

}  // namespace midscope
