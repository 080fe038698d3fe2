// SPDX-License-Identifier: MIT
// Scores of L-Eval's closed-ended tasks (An et al. 2023, arXiv 2307.11088; Evaluation/auto_eval.py
// and em.py of github.com/OpenLMLab/LEval), each from 0 to 1.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// Returns the letters A to D that the public code reads from a prediction: the first one anywhere,
// "A" if there is none. `several`: all those that the text begins with; if it begins with at most
// one, that one and every letter followed by white space, '.' or ')', sorted.
std::string LEvalLetters(std::string_view prediction, bool several);

// Returns 1 if LEvalLetters of the prediction are the letters of the reference's first word, 0.25
// if they are some of them. Counting a prediction without a letter as "A" is the public code's
// guess.
double LEvalLetterScore(std::string_view prediction, std::string_view reference);
double LEvalLettersScore(std::string_view prediction, std::string_view reference);

// Returns the digits before a '.' in the word after "The answer is"; without that phrase, in the
// last word with a digit of the first paragraph; "" if there are none.
std::string LEvalNumber(std::string_view text);
// Returns 1 if LEvalNumber of both texts is the same number.
double LEvalNumberScore(std::string_view prediction, std::string_view reference);

// Returns 1 if the prediction's first line of more than one character contains the reference,
// ignoring case and spaces.
double LEvalLineScore(std::string_view prediction, std::string_view reference);

}  // namespace midscope
