// SPDX-License-Identifier: MIT
#include "data/scorers/order_scores.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"
#include "data/scorers/answer_text.h"

namespace midscope {
namespace {

constexpr int64_t kTooLarge = -1;  // no list contains this number

int64_t Rank(const std::string& digits) {
  constexpr size_t kMostDigits = 9;
  return digits.size() > kMostDigits ? kTooLarge : std::stoll(digits);
}

// Returns the integers in a text, after removing everything except digits, white space and commas.
// As in the public code, "1) 2" is 1, 2 but "1-2" is 12.
std::vector<int64_t> ListedIntegers(std::string_view text) {
  std::string kept;
  for (const char character : text) {
    if (IsDigit(character)) kept += character;
    if (character == ',' || character == ' ' || (character >= '\t' && character <= '\r')) {
      kept += ' ';
    }
  }
  std::vector<int64_t> numbers;
  for (const std::string& word : SplitWords(kept)) numbers.push_back(Rank(word));
  return numbers;
}

// Returns the inverse permutation; nullopt if the list is not a permutation of 1 to n.
std::optional<std::vector<size_t>> PlacesOf(const std::vector<int64_t>& list) {
  std::vector<size_t> places(list.size(), list.size());
  for (size_t i = 0; i < list.size(); ++i) {
    const int64_t item = list[i];
    if (item < 1 || item > static_cast<int64_t>(list.size())) return std::nullopt;
    size_t& place = places[static_cast<size_t>(item - 1)];
    if (place != list.size()) return std::nullopt;
    place = i;
  }
  return places;
}

int64_t RomanDigit(char letter) {
  switch (letter) {
    case 'I':
      return 1;
    case 'V':
      return 5;
    case 'X':
      return 10;
    case 'L':
      return 50;
    case 'C':
      return 100;
    case 'D':
      return 500;
    case 'M':
      return 1000;
    default:
      return 0;
  }
}

int64_t RomanNumber(const std::string& word) {
  int64_t sum = 0;
  for (size_t i = 0; i < word.size(); ++i) {
    const int64_t value = RomanDigit(word[i]);
    const bool subtract = i + 1 < word.size() && RomanDigit(word[i + 1]) > value;
    sum += subtract ? -value : value;
  }
  return sum;
}

struct Numbers {
  std::vector<int64_t> arabic;  // words that consist of digits
  std::vector<int64_t> roman;   // words of Roman digits, including the word I, as in LooGLE
};

Numbers WordNumbers(std::string_view text) {
  Numbers numbers;
  std::string word;
  const auto end_word = [&] {
    if (word.empty()) return;
    if (std::all_of(word.begin(), word.end(), IsDigit)) numbers.arabic.push_back(Rank(word));
    if (std::all_of(word.begin(), word.end(), [](char c) { return RomanDigit(c) > 0; })) {
      numbers.roman.push_back(RomanNumber(word));
    }
    word.clear();
  };
  for (const char character : text) {
    const bool part = IsDigit(character) || (character >= 'a' && character <= 'z') ||
                      (character >= 'A' && character <= 'Z') || character == '_' ||
                      static_cast<unsigned char>(character) >= 0x80;
    if (part) {
      word += character;
    } else {
      end_word();
    }
  }
  end_word();
  return numbers;
}

// Returns the first percentage in the text, "12%" or "12.5%"; nullopt if there is none.
std::optional<double> FirstPercentage(std::string_view text) {
  for (size_t begin = 0; begin < text.size(); ++begin) {
    if (!IsDigit(text[begin])) continue;
    size_t end = begin;
    while (end < text.size() && IsDigit(text[end])) ++end;
    size_t last = end;
    if (last < text.size() && text[last] == '.') {
      ++last;
      while (last < text.size() && IsDigit(text[last])) ++last;
    }
    if (last < text.size() && text[last] == '%') {
      double value = 0;
      std::from_chars(text.data() + begin, text.data() + last, value);
      return value;
    }
    begin = end - 1;
  }
  return std::nullopt;
}

}  // namespace

double OrderConcordance(std::string_view prediction, std::string_view reference) {
  const auto predicted = PlacesOf(ListedIntegers(prediction));
  const auto wanted = PlacesOf(ListedIntegers(reference));
  if (!predicted || !wanted || predicted->size() != wanted->size() || wanted->empty()) return 0;
  const size_t count = wanted->size();
  if (count == 1) return 1;
  size_t agreeing = 0;
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      const bool same = ((*predicted)[a] < (*predicted)[b]) == ((*wanted)[a] < (*wanted)[b]);
      agreeing += same ? 1 : 0;
    }
  }
  const size_t pairs = count * (count - 1) / 2;
  return static_cast<double>(agreeing) / static_cast<double>(pairs);
}

double OrderMatch(std::string_view prediction, std::string_view reference) {
  const Numbers wanted = WordNumbers(reference);
  const Numbers predicted = WordNumbers(prediction);
  if (!wanted.roman.empty()) return predicted.roman == wanted.roman ? 1 : 0;
  return !wanted.arabic.empty() && predicted.arabic == wanted.arabic ? 1 : 0;
}

double PercentageSimilarity(std::string_view prediction, std::string_view reference) {
  const auto wanted = FirstPercentage(reference);
  if (!wanted)
    throw Failure("reference " + Quote(reference), "it must contain a percentage such as 60%");
  const auto predicted = FirstPercentage(prediction);
  return predicted ? std::exp2(-std::abs(*wanted - *predicted) / 10) : 0;
}

}  // namespace midscope
