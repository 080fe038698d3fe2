// SPDX-License-Identifier: MIT
// Prepares generated text for comparison with a reference: cut, stripped, normalised, as Python's
// str methods, by which the published scores were computed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// The part of the generated text that is scored. The sources differ: the Llama-2 script of "Lost in
// the Middle" strips first, its other scripts and Ms-PoE's do not, so that an answer that begins
// with a newline is lost; LongBench only drops leading newlines.
enum class AnswerCut {
  kWhole,
  kFirstLine,               // up to the first newline
  kStrippedFirstLine,       // strips white space at both ends, then up to the first newline
  kFirstLineAfterNewlines,  // drops leading newlines, then up to the first newline
};

std::string CutAnswer(std::string_view generated, AnswerCut cut);

// Whether CutAnswer of the text is final, whatever is generated after it.
bool AnswerIsWhole(std::string_view generated, AnswerCut cut);

// Without white space at both ends (str.strip()).
std::string StripText(std::string_view text);

// Lower case as Python's str.lower(): a Greek capital sigma that ends a word becomes a final one
// (Unicode's Final_Sigma).
std::string LowerText(std::string_view text);

// Splits at runs of white space (str.split()).
std::vector<std::string> SplitWords(std::string_view text);

// The normaliser of SQuAD, "Lost in the Middle" and LongBench, in its order: lower case; ASCII
// punctuation deleted (not replaced); the words a, an, the replaced by a space; white space
// collapsed. "The U.S.-A!" -> "usa"; "a an the" -> "". Other punctuation and accents are kept.
std::string NormaliseAnswer(std::string_view text);

}  // namespace midscope
