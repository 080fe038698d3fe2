// SPDX-License-Identifier: MIT
#include "data/scorers/match_scores.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/trimmed.h"
#include "data/scorers/answer_text.h"

namespace midscope {

double SubstringMatch(std::string_view prediction, std::string_view reference) {
  return LowerText(prediction).find(LowerText(reference)) != std::string::npos ? 1 : 0;
}

double SubspanExactMatch(std::string_view prediction, std::string_view reference) {
  const std::string wanted = NormaliseAnswer(reference);
  return NormaliseAnswer(prediction).find(wanted) != std::string::npos ? 1 : 0;
}

std::vector<std::string> BareWords(std::string_view text) {
  constexpr std::string_view kPunctuation = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
  std::vector<std::string> words = SplitWords(text);
  for (std::string& word : words) {
    const std::string_view bare = Trimmed(word, kPunctuation);
    if (!bare.empty()) word = std::string(bare);
  }
  return words;
}

double WholeWordsMatch(std::string_view prediction, std::string_view reference) {
  const std::vector<std::string> words = BareWords(prediction);
  const std::vector<std::string> wanted = BareWords(reference);
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end() ? 1
                                                                                              : 0;
}

double ExactMatch(std::string_view prediction, std::string_view reference) {
  return NormaliseAnswer(prediction) == NormaliseAnswer(reference) ? 1 : 0;
}

double TokenF1(std::string_view prediction, std::string_view reference) {
  return WordsF1(SplitWords(NormaliseAnswer(prediction)), SplitWords(NormaliseAnswer(reference)));
}

double WordsF1(std::span<const std::string> prediction, std::span<const std::string> reference) {
  std::map<std::string, int> left;
  for (const std::string& word : reference) ++left[word];
  int common = 0;
  for (const std::string& word : prediction) {
    if (const auto found = left.find(word); found != left.end() && found->second-- > 0) ++common;
  }
  if (common == 0) return 0;
  const double precision = static_cast<double>(common) / static_cast<double>(prediction.size());
  const double recall = static_cast<double>(common) / static_cast<double>(reference.size());
  return 2 * precision * recall / (precision + recall);
}

double WordRecall(std::string_view prediction, std::string_view reference) {
  const std::vector<std::string> predicted = SplitWords(LowerText(prediction));
  const std::vector<std::string> wanted = SplitWords(LowerText(reference));
  const std::set<std::string> has(predicted.begin(), predicted.end());
  const std::set<std::string> needs(wanted.begin(), wanted.end());
  if (needs.empty()) return 0;
  const auto found = std::count_if(needs.begin(), needs.end(),
                                   [&](const std::string& word) { return has.contains(word); });
  return static_cast<double>(found) / static_cast<double>(needs.size());
}

}  // namespace midscope
