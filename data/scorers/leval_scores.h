// SPDX-License-Identifier: MIT
// Scores of L-Eval's closed-ended tasks (An et al. 2023, arXiv 2307.11088; Evaluation/auto_eval.py
// and em.py of github.com/OpenLMLab/LEval), 0 to 1 each.
#pragma once

#include <string>
#include <string_view>

namespace midscope {

// The letters A to D that the code reads out of a prediction: the first one anywhere ("A" if there
// is none), in its order. several: those that the text begins with, or, where it begins with none
// or one, that one and all those before white space, '.' or ')', sorted.
std::string LEvalLetters(std::string_view prediction, bool several);

// 1 if they are the letters of the reference's first word; 0.25 if they are some of these. That a
// prediction without a letter counts as "A" is the code's guess.
double LEvalLetterScore(std::string_view prediction, std::string_view reference);
double LEvalLettersScore(std::string_view prediction, std::string_view reference);

// The digits before a '.' in the word behind "The answer is", else in the last word of the first
// paragraph that has a digit; "" for none.
std::string LEvalNumber(std::string_view text);
// 1 if both are the same number.
double LEvalNumberScore(std::string_view prediction, std::string_view reference);

// 1 if the first line of more than one character contains the reference, ignoring case and spaces.
double LEvalLineScore(std::string_view prediction, std::string_view reference);

}  // namespace midscope
