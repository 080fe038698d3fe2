// SPDX-License-Identifier: MIT
// Scores of L-Eval's closed-ended tasks (An et al. 2023, arXiv 2307.11088; Evaluation/auto_eval.py
// and em.py of github.com/OpenLMLab/LEval), each from 0 to 1.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// Returns the letters A to D that L-Eval's public code reads from a prediction. Without `several`:
// the first one, "A" if there is none. With `several`: all at the beginning of the text; if that is
// at most one, also every one before white space, '.' or ')', sorted.
std::string LEvalLetters(std::string_view prediction, bool several);

// Returns 1 if LEvalLetters of the prediction are the letters of the reference's first word, 0.25
// if they are a part of these letters, otherwise 0. A prediction without a letter is scored as "A",
// as in the public code.
double LEvalLetterScore(std::string_view prediction, std::string_view reference);
double LEvalLettersScore(std::string_view prediction, std::string_view reference);

// Returns the digits of a text's answer: those before a '.' in the word after "The answer is" or,
// without that phrase, in the first paragraph's last word with a digit; "" if there are none.
std::string LEvalNumber(std::string_view text);
// Returns 1 if LEvalNumber returns the same number for both texts, else 0.
double LEvalNumberScore(std::string_view prediction, std::string_view reference);

// Returns 1 if the prediction's first line of more than one character contains the reference,
// ignoring case and spaces; else 0.
double LEvalLineScore(std::string_view prediction, std::string_view reference);

}  // namespace midscope
