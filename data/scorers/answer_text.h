// SPDX-License-Identifier: MIT
// Prepares generated text for comparison with a reference: cuts, strips and normalises it as the
// public scoring scripts do with Python's str methods.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/utf8.h"
#include "core/tokenizer/unicode_text.h"

namespace midscope {

// Calls visit(code, bytes) with the code point and the UTF-8 bytes of each character of the text.
// Generated text may end in the middle of a character: each byte that is not part of a valid
// character gets the code point 0xDC00 + byte, as in Python's surrogateescape.
template <typename Visit>
void ForEachCharacter(std::string_view text, const Visit& visit) {
  constexpr char32_t kEscape = 0xDC00;
  for (size_t offset = 0; offset < text.size();) {
    const auto lead = static_cast<unsigned char>(text[offset]);
    const size_t length = lead < 0x80 ? 1 : lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
    const std::string_view bytes = text.substr(offset, length);
    if (lead >= 0x80 && FindInvalidUtf8(bytes)) {
      visit(kEscape + lead, text.substr(offset, 1));
      ++offset;
    } else {
      visit(CharacterAt(text, offset).code, bytes);
      offset += length;
    }
  }
}

// The part of the generated text that is scored. Public scripts differ: the Llama-2 script of "Lost
// in the Middle" strips white space first; the other scripts of that paper and the script of Ms-PoE
// do not, and so lose an answer that begins with a newline; LongBench only drops leading newlines.
enum class AnswerCut {
  kWhole,
  kFirstLine,               // up to the first newline
  kStrippedFirstLine,       // strips white space at both ends, then up to the first newline
  kFirstLineAfterNewlines,  // drops leading newlines, then up to the first newline
};

std::string CutAnswer(std::string_view generated, AnswerCut cut);

// Whether the scored part (CutAnswer) is complete: further generated text can't change it.
bool AnswerIsWhole(std::string_view generated, AnswerCut cut);

// Removes white space at both ends of the text, as Python's str.strip() does.
std::string StripText(std::string_view text);

// Converts the text to lower case as Python's str.lower() does: a Greek capital sigma at the end of
// a word becomes a final sigma (Unicode's Final_Sigma).
std::string LowerText(std::string_view text);

// Splits the text at runs of white space, as Python's str.split() does.
std::vector<std::string> SplitWords(std::string_view text);

// Normalises text as SQuAD, "Lost in the Middle" and LongBench do, in this order: lower case; ASCII
// punctuation deleted (not replaced); the words a, an, the replaced by a space; white space
// collapsed. "The U.S.-A!" -> "usa"; "a an the" -> "". Other punctuation and accents are kept.
std::string NormaliseAnswer(std::string_view text);

}  // namespace midscope
