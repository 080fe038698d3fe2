// SPDX-License-Identifier: MIT
// Generated text made comparable with a reference: cut, stripped, normalised. What Python's str
// methods do, since the published scores were computed with them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace midscope {

// How much of the generated text counts. The sources differ: the Llama-2 script of "Lost in the
// Middle" strips first, its other scripts and Ms-PoE's do not, so that an answer that begins with a
// newline is lost; LongBench drops leading newlines alone.
enum class AnswerCut {
  kWhole,
  kFirstLine,               // up to the first newline
  kStrippedFirstLine,       // white space at both ends off, then up to the first newline
  kFirstLineAfterNewlines,  // leading newlines off, then up to the first newline
};

std::string CutAnswer(std::string_view generated, AnswerCut cut);

// Whether CutAnswer of the text stays the same whatever is generated after it.
bool AnswerIsWhole(std::string_view generated, AnswerCut cut);

// Without white space at both ends (str.strip()).
std::string StripText(std::string_view text);

// Lower case, character by character: of str.lower() it lacks the final sigma.
std::string LowerText(std::string_view text);

// At runs of white space (str.split()).
std::vector<std::string> SplitWords(std::string_view text);

// The normaliser of SQuAD, "Lost in the Middle" and LongBench, in its order: lower case; ASCII
// punctuation deleted (nothing put in its place); the words a, an, the replaced by a space; white
// space collapsed. "The U.S.-A!" -> "usa"; "a an the" -> "". Other punctuation and accents stay.
std::string NormaliseAnswer(std::string_view text);

}  // namespace midscope
