// SPDX-License-Identifier: MIT
// Scores for the overlap of prediction and reference, each from 0 to 1.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// Score of key-value retrieval in "Lost in the Middle": 1 if the reference occurs anywhere in the
// prediction, both in lower case; else 0. A model that repeats many records also scores.
double SubstringMatch(std::string_view prediction, std::string_view reference);

// Score best_subspan_em of "Lost in the Middle": 1 if the normalised reference (NormaliseAnswer)
// occurs in the normalised prediction, not necessarily at word boundaries; else 0. A reference that
// normalises to an empty text always matches.
double SubspanExactMatch(std::string_view prediction, std::string_view reference);

// Returns the words of the text, case kept, without ASCII punctuation at their ends; a word that is
// only punctuation stays.
std::vector<std::string> BareWords(std::string_view text);

// Returns 1 if the BareWords of the reference occur consecutively among those of the prediction,
// else 0. Used for references that NormaliseAnswer makes empty, such as "The".
double WholeWordsMatch(std::string_view prediction, std::string_view reference);

// Returns 1 if the texts are equal after NormaliseAnswer (SQuAD's exact match), else 0.
double ExactMatch(std::string_view prediction, std::string_view reference);

// Returns the F1 of SQuAD and LongBench: the harmonic mean of precision and recall over the words
// of the normalised texts, with repetition. It is 0 without common words, even if both are empty.
double TokenF1(std::string_view prediction, std::string_view reference);

// Returns the same F1 as TokenF1, for texts that are already split into words.
double WordsF1(std::span<const std::string> prediction, std::span<const std::string> reference);

// Returns the share of the reference's distinct words, in lower case, that occur in the prediction:
// the rule-based score of a needle in a haystack (Fu et al. 2024, arXiv 2402.10171; visualize.py of
// github.com/FranxYao/Long-Context-Data-Engineering). Punctuation is part of the word that it
// touches. Returns 0 if the reference has no words.
double WordRecall(std::string_view prediction, std::string_view reference);

// Scores for answers that are a class, a number or a letter, each from 0 to 1.

// LongBench's score for classification (trec, lsht): 1 / (number of classes that occur in the
// prediction) if the reference is among them, else 0. Classes that are substrings of the reference
// are not counted. The public code removes these from a list while iterating over it, and so keeps
// every second of consecutive ones; `as_public_code` reproduces this.
double ClassScore(std::string_view prediction, std::string_view reference,
                  std::span<const std::string> classes, bool as_public_code = true);

// LongBench's score for passage retrieval: the share of the prediction's numbers that equal, as
// text, the number in the reference's "Paragraph 17" ("段落17" in its Chinese set); 0 if it has no
// numbers. Throws Error (failure) if the reference has no such number.
double RetrievalScore(std::string_view prediction, std::string_view reference);

// LongBench's score for counting (passage_count): the share of the prediction's numbers that equal
// the reference, as text.
double CountScore(std::string_view prediction, std::string_view reference);

// FirstInteger (LastInteger) returns the first (last) run of digits in the text, without leading
// zeros; nullopt if there is none. Passkey and CREAM's scoring of the lines task use the first,
// LongChat's lines task the last.
std::optional<std::string> FirstInteger(std::string_view text);
std::optional<std::string> LastInteger(std::string_view text);

// Returns 1 if the first (last) integer of the prediction equals that of the reference, else 0.
double FirstIntegerMatch(std::string_view prediction, std::string_view reference);
double LastIntegerMatch(std::string_view prediction, std::string_view reference);

// ZeroSCROLLS' score for multiple choice (QuALITY): 1 if the first A, B, C or D that is a separate
// word is the same letter in both texts, else 0.
double ChoiceLetterMatch(std::string_view prediction, std::string_view reference);

}  // namespace midscope
