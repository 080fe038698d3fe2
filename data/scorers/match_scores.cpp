// SPDX-License-Identifier: MIT
#include "data/scorers/match_scores.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "core/tokenizer/unicode_text.h"
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

namespace {

std::vector<std::string> DigitRuns(std::string_view text) {
  std::vector<std::string> runs;
  bool inside = false;
  for (const char character : text) {
    const bool digit = IsDigit(character);
    if (digit && !inside) runs.emplace_back();
    if (digit) runs.back() += character;
    inside = digit;
  }
  return runs;
}

double ShareOfNumbers(std::string_view prediction, std::string_view wanted) {
  const std::vector<std::string> numbers = DigitRuns(prediction);
  if (numbers.empty()) return 0;
  const auto equal = std::count(numbers.begin(), numbers.end(), wanted);
  return static_cast<double>(equal) / static_cast<double>(numbers.size());
}

std::string WithoutLeadingZeros(const std::string& digits) {
  const size_t first = digits.find_first_not_of('0');
  return first == std::string::npos ? "0" : digits.substr(first);
}

bool WordAt(std::string_view text, size_t offset) {
  const auto byte = static_cast<unsigned char>(text[offset]);
  if (byte >= 0x80) return true;  // not ASCII: probably part of a letter
  return IsWord(byte);
}

std::optional<char> ChoiceLetter(std::string_view text) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] < 'A' || text[i] > 'D') continue;
    if (i > 0 && WordAt(text, i - 1)) continue;
    if (i + 1 < text.size() && WordAt(text, i + 1)) continue;
    return text[i];
  }
  return std::nullopt;
}

}  // namespace

double ClassScore(std::string_view prediction, std::string_view reference,
                  std::span<const std::string> classes, bool as_public_code) {
  std::vector<std::string> named;
  for (const std::string& name : classes) {
    if (prediction.find(name) != std::string_view::npos) named.push_back(name);
  }
  const auto part_of_reference = [&](const std::string& name) {
    return name != reference && reference.find(name) != std::string_view::npos;
  };
  for (size_t i = 0; i < named.size();) {
    const std::string name = named[i];
    if (part_of_reference(name)) {
      named.erase(std::find(named.begin(), named.end(), name));
      if (as_public_code) ++i;
    } else {
      ++i;
    }
  }
  if (std::find(named.begin(), named.end(), reference) == named.end()) return 0;
  return 1 / static_cast<double>(named.size());
}

double RetrievalScore(std::string_view prediction, std::string_view reference) {
  for (const std::string_view label : {"Paragraph ", "段落"}) {
    for (size_t at = reference.find(label); at != std::string_view::npos;
         at = reference.find(label, at + 1)) {
      const std::string_view rest = reference.substr(at + label.size());
      if (rest.empty() || !IsDigit(rest.front())) continue;
      return ShareOfNumbers(prediction, DigitRuns(rest).front());
    }
  }
  throw Failure("reference " + Quote(reference), "it names no paragraph",
                "Passage retrieval needs answers such as 'Paragraph 17'");
}

double CountScore(std::string_view prediction, std::string_view reference) {
  return ShareOfNumbers(prediction, reference);
}

std::optional<std::string> FirstInteger(std::string_view text) {
  const std::vector<std::string> runs = DigitRuns(text);
  if (runs.empty()) return std::nullopt;
  return WithoutLeadingZeros(runs.front());
}

std::optional<std::string> LastInteger(std::string_view text) {
  const std::vector<std::string> runs = DigitRuns(text);
  if (runs.empty()) return std::nullopt;
  return WithoutLeadingZeros(runs.back());
}

double FirstIntegerMatch(std::string_view prediction, std::string_view reference) {
  const auto found = FirstInteger(prediction);
  return found && found == FirstInteger(reference) ? 1 : 0;
}

double LastIntegerMatch(std::string_view prediction, std::string_view reference) {
  const auto found = LastInteger(prediction);
  return found && found == LastInteger(reference) ? 1 : 0;
}

double ChoiceLetterMatch(std::string_view prediction, std::string_view reference) {
  const auto found = ChoiceLetter(prediction);
  return found && found == ChoiceLetter(reference) ? 1 : 0;
}

}  // namespace midscope
