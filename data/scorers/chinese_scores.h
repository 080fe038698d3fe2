// SPDX-License-Identifier: MIT
// LongBench's scores of Chinese text (metrics.py of its public code), over the words of
// ChineseWords::Installed(), whose errors they throw. 0 to 1 each.
#pragma once

#include <string_view>

namespace midscope {

// Harmonic mean of precision and recall over the words, counted with repetition, in lower case and
// without punctuation, Chinese and ASCII. 0 where no word is shared.
double ChineseF1(std::string_view prediction, std::string_view reference);

// ROUGE-L of the package rouge (RougeOfSets) over the words joined by spaces.
double ChineseRouge(std::string_view prediction, std::string_view reference);

}  // namespace midscope
