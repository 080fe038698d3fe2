// SPDX-License-Identifier: MIT
#include "data/scorers/leval_scores.h"

#include <algorithm>
#include <set>
#include <vector>

#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/scorers/answer_text.h"

namespace midscope {
namespace {

constexpr std::string_view kChoiceLetters = "ABCD";

bool IsChoiceLetter(char character) {
  return kChoiceLetters.find(character) != std::string_view::npos;
}

bool HasDigit(std::string_view text) { return std::any_of(text.begin(), text.end(), IsDigit); }

std::string Sorted(const std::string& letters) {
  const std::set<char> each(letters.begin(), letters.end());
  return {each.begin(), each.end()};
}

// Returns all letters A to D before white space, '.' or ')', up to the first "Question".
std::string LettersBefore(std::string_view text) {
  constexpr std::string_view kEnds = " \t\n\r\f\v.)";
  text = text.substr(0, text.find("Question"));
  std::string letters;
  for (size_t i = 0; i + 1 < text.size(); ++i) {
    if (IsChoiceLetter(text[i]) && kEnds.find(text[i + 1]) != std::string_view::npos) {
      letters += text[i];
    }
  }
  return letters;
}

std::string ReferenceLetters(std::string_view reference) {
  const std::vector<std::string> words = SplitWords(reference);
  std::string letters = words.empty() ? "" : words.front();
  std::erase_if(letters, [](char character) { return !IsChoiceLetter(character); });
  return letters.empty() ? "A" : letters;
}

double Compare(const std::string& predicted, std::string_view reference) {
  const std::string right = ReferenceLetters(reference);
  if (predicted == right) return 1;
  const bool some = std::all_of(predicted.begin(), predicted.end(), [&](char letter) {
    return right.find(letter) != std::string::npos;
  });
  constexpr double kSome = 0.25;
  return some ? kSome : 0;
}

std::string WithoutSpaces(std::string_view text) {
  std::string lower = LowerText(text);
  std::erase(lower, ' ');
  return lower;
}

}  // namespace

std::string LEvalLetters(std::string_view prediction, bool several) {
  if (kChoiceLetters.find(prediction) != std::string_view::npos) return std::string(prediction);
  const size_t first = prediction.find_first_of(kChoiceLetters);
  if (!several) return first == std::string_view::npos ? "A" : std::string(1, prediction[first]);
  const size_t begin = std::min(prediction.find_first_not_of(kChoiceLetters), prediction.size());
  std::string letters(prediction.substr(0, begin));
  if (letters.size() > 1) return Sorted(letters);
  letters = Sorted(letters + LettersBefore(prediction.substr(begin)));
  return letters.empty() ? "A" : letters;
}

double LEvalLetterScore(std::string_view prediction, std::string_view reference) {
  return Compare(LEvalLetters(prediction, false), reference);
}

double LEvalLettersScore(std::string_view prediction, std::string_view reference) {
  return Compare(LEvalLetters(prediction, true), reference);
}

std::string LEvalNumber(std::string_view text) {
  constexpr std::string_view kMark = "The answer is ";
  std::string word;
  for (size_t at = text.find(kMark); at != std::string_view::npos; at = text.find(kMark, at + 1)) {
    const std::string_view behind = text.substr(at + kMark.size());
    const size_t end = behind.find_first_of(" \t\n\r\f\v");
    word = std::string(behind.substr(0, end));
    if (!word.empty()) break;
  }
  if (word.empty()) {
    const std::string_view paragraph = text.substr(0, text.find("\n\n"));
    size_t end = paragraph.size();
    while (!HasDigit(word)) {
      const size_t space = end == 0 ? std::string_view::npos : paragraph.rfind(' ', end - 1);
      const size_t begin = space == std::string_view::npos ? 0 : space + 1;
      word = std::string(paragraph.substr(begin, end - begin));
      if (begin == 0) break;
      end = begin - 1;
    }
  }
  std::string digits = word.substr(0, word.find('.'));
  std::erase_if(digits, [](char character) { return !IsDigit(character); });
  return digits;
}

double LEvalNumberScore(std::string_view prediction, std::string_view reference) {
  const auto without_zeros = [](std::string digits) {
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    return digits;
  };
  const std::string predicted = LEvalNumber(prediction);
  const bool same =
      !predicted.empty() && without_zeros(predicted) == without_zeros(LEvalNumber(reference));
  return same ? 1 : 0;
}

double LEvalLineScore(std::string_view prediction, std::string_view reference) {
  std::string_view line = prediction;
  for (std::string_view rest = prediction; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    if (CountCharacters(rest.substr(0, end)) > 1) {
      line = rest.substr(0, end);
      break;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return WithoutSpaces(line).find(WithoutSpaces(reference)) != std::string::npos ? 1 : 0;
}

}  // namespace midscope
