// SPDX-License-Identifier: MIT
#include "data/scorers/answer_text.h"

#include <algorithm>

#include "core/tokenizer/unicode_text.h"

namespace midscope {
namespace {

// Whether str.isspace() of Python holds: as Unicode's White_Space, plus the four ASCII separators.
bool IsPythonSpace(char32_t code) {
  return IsWhiteSpace(code) || (code >= U'\x1c' && code <= U'\x1f');
}

// Whether Python's regular expression \w matches. Underscores must have been deleted before.
bool IsPythonWord(char32_t code) {
  return (IsWord(code) && !IsMark(code) && !IsPunctuation(code)) || IsNumeric(code);
}

bool IsAsciiPunctuation(char character) {
  return (character >= '!' && character <= '/') || (character >= ':' && character <= '@') ||
         (character >= '[' && character <= '`') || (character >= '{' && character <= '~');
}

// Whether the first character that Unicode's rule Final_Sigma does not skip is a cased letter.
bool BeginsCased(std::string_view text) {
  bool found = false;
  bool cased = false;
  ForEachCharacter(text.substr(0, text.find_first_of(" \n")), [&](char32_t code, std::string_view) {
    if (found || IsCaseIgnorable(code)) return;
    found = true;
    cased = IsCased(code);
  });
  return cased;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

}  // namespace

std::string CutAnswer(std::string_view generated, AnswerCut cut) {
  switch (cut) {
    case AnswerCut::kWhole:
      return std::string(generated);
    case AnswerCut::kFirstLine:
      return std::string(FirstLine(generated));
    case AnswerCut::kStrippedFirstLine:
      return std::string(FirstLine(StripText(generated)));
    case AnswerCut::kFirstLineAfterNewlines: {
      const size_t begin = std::min(generated.find_first_not_of('\n'), generated.size());
      return std::string(FirstLine(generated.substr(begin)));
    }
  }
  return std::string(generated);
}

bool AnswerIsWhole(std::string_view generated, AnswerCut cut) {
  return cut != AnswerCut::kWhole &&
         CutAnswer(generated, cut) == CutAnswer(std::string(generated) + "x", cut);
}

std::string StripText(std::string_view text) {
  size_t begin = text.size();
  size_t end = 0;
  size_t offset = 0;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    if (!IsPythonSpace(code)) {
      begin = std::min(begin, offset);
      end = offset + bytes.size();
    }
    offset += bytes.size();
  });
  return begin < end ? std::string(text.substr(begin, end - begin)) : "";
}

std::string LowerText(std::string_view text) {
  std::string lower;
  lower.reserve(text.size());
  bool after_cased = false;  // whether the last not ignorable character is cased
  size_t offset = 0;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    offset += bytes.size();
    const bool byte = bytes.size() == 1 && code >= 0x80;  // an invalid byte
    const bool final_sigma = code == U'\u03a3' && after_cased && !BeginsCased(text.substr(offset));
    lower += byte ? std::string(bytes) : final_sigma ? "\u03c2" : LowerCase(code);
    if (byte || !IsCaseIgnorable(code)) after_cased = !byte && IsCased(code);
  });
  return lower;
}

std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    const bool space = IsPythonSpace(code);
    if (!space && !inside) words.emplace_back();
    if (!space) words.back() += bytes;
    inside = !space;
  });
  return words;
}

std::string NormaliseAnswer(std::string_view text) {
  std::string kept = LowerText(text);
  std::erase_if(kept, IsAsciiPunctuation);
  // Replaces articles that are whole words as for \b in Python: a curly quote also ends a word.
  std::string without_articles;
  std::string word;
  const auto end_word = [&] {
    const bool article = word == "a" || word == "an" || word == "the";
    without_articles += article ? " " : word;
    word.clear();
  };
  ForEachCharacter(kept, [&](char32_t code, std::string_view bytes) {
    if (IsPythonWord(code)) {
      word += bytes;
      return;
    }
    end_word();
    without_articles += bytes;
  });
  end_word();
  std::string collapsed;
  for (const std::string& part : SplitWords(without_articles)) {
    if (!collapsed.empty()) collapsed += ' ';
    collapsed += part;
  }
  return collapsed;
}

}  // namespace midscope
