// SPDX-License-Identifier: MIT
#include "data/scorers/chinese_scores.h"

#include <map>
#include <string>
#include <vector>

#include "data/scorers/answer_text.h"
#include "data/scorers/chinese_words.h"
#include "data/scorers/loose_utf8.h"
#include "data/scorers/match_scores.h"
#include "data/scorers/rouge.h"

namespace midscope {
namespace {

constexpr std::string_view kPunctuation =
    "！？｡。＂＃＄％＆＇（）＊＋，－／：；＜＝＞＠［＼］＾＿｀｛｜｝～｟｠｢｣､、〃》「」『』【】〔〕"
    "〖〗〘〙〚"
    "〛〜〝〞〟〰〾〿–—‘’‛“”„‟…‧﹏!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

// "" for punctuation and white space alone.
std::string Normalised(const std::string& word) {
  std::string kept;
  ForEachCharacter(LowerText(word), [&](char32_t /*code*/, std::string_view bytes) {
    if (kPunctuation.find(bytes) == std::string_view::npos) kept += bytes;
  });
  std::string joined;
  for (const std::string& part : SplitWords(kept)) joined += part;
  return joined;
}

std::vector<std::string> WordsOf(std::string_view text) {
  std::vector<std::string> words;
  for (const std::string& word : ChineseWords::Installed().Split(text)) {
    std::string normalised = Normalised(word);
    if (!normalised.empty()) words.push_back(std::move(normalised));
  }
  return words;
}

std::string Spaced(std::string_view text) {
  std::string spaced;
  for (const std::string& word : ChineseWords::Installed().Split(text)) {
    spaced += (spaced.empty() ? "" : " ") + word;
  }
  return spaced;
}

}  // namespace

double ChineseF1(std::string_view prediction, std::string_view reference) {
  return WordsF1(WordsOf(prediction), WordsOf(reference));
}

double ChineseRouge(std::string_view prediction, std::string_view reference) {
  return RougeOfSets(Spaced(prediction), Spaced(reference)).rouge_l;
}

}  // namespace midscope
