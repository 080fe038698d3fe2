// SPDX-License-Identifier: MIT
#include "data/scorers/rouge.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "data/scorers/answer_text.h"

namespace midscope {
namespace {

using Words = std::vector<std::string>;

// Returns lengths[i * (y.size() + 1) + j]: the length of the longest common subsequence of the
// first i words of x and the first j words of y.
std::vector<int32_t> SubsequenceLengths(const Words& x, const Words& y) {
  const size_t width = y.size() + 1;
  std::vector<int32_t> lengths((x.size() + 1) * width);
  for (size_t i = 1; i <= x.size(); ++i) {
    for (size_t j = 1; j <= y.size(); ++j) {
      lengths[i * width + j] =
          x[i - 1] == y[j - 1] ? lengths[(i - 1) * width + j - 1] + 1
                               : std::max(lengths[(i - 1) * width + j], lengths[i * width + j - 1]);
    }
  }
  return lengths;
}

double FScore(double precision, double recall, double guard) {
  const double sum = precision + recall + guard;
  return sum > 0 ? 2 * precision * recall / sum : 0;
}

// Added to the denominator, as by the package `rouge`; keeps a perfect score below 1.
constexpr double kSetGuard = 1e-8;

double SetFScore(size_t common, size_t predicted, size_t wanted) {
  const auto share = [common](size_t of) {
    return of == 0 ? 0.0 : static_cast<double>(common) / static_cast<double>(of);
  };
  return FScore(share(predicted), share(wanted), kSetGuard);
}

// Splits a text into sentences and returns the words of each sentence. As in the package `rouge`, a
// sentence of only white space has one empty word.
std::vector<Words> Sentences(std::string_view text) {
  std::vector<Words> sentences;
  while (true) {
    const size_t stop = text.find('.');
    const std::string_view sentence = text.substr(0, stop);
    if (!sentence.empty()) {
      Words words = SplitWords(sentence);
      if (words.empty()) words.emplace_back();
      sentences.push_back(std::move(words));
    }
    if (stop == std::string_view::npos) return sentences;
    text.remove_prefix(stop + 1);
  }
}

Words Joined(const std::vector<Words>& sentences) {
  Words all;
  for (const Words& words : sentences) all.insert(all.end(), words.begin(), words.end());
  return all;
}

std::map<Words, int> NGrams(const Words& words, size_t length) {
  std::map<Words, int> grams;
  for (size_t i = 0; i + length <= words.size(); ++i) {
    const auto begin = words.begin() + static_cast<std::ptrdiff_t>(i);
    ++grams[Words(begin, begin + static_cast<std::ptrdiff_t>(length))];
  }
  return grams;
}

double SetNGramScore(const Words& predicted, const Words& wanted, size_t length) {
  const auto predicted_grams = NGrams(predicted, length);
  const auto wanted_grams = NGrams(wanted, length);
  size_t common = 0;
  for (const auto& gram : predicted_grams) common += wanted_grams.contains(gram.first) ? 1 : 0;
  return SetFScore(common, predicted_grams.size(), wanted_grams.size());
}

// Adds the words of the longest common subsequence of two sentences to `words`; if several are
// equally long, of the one that the package `rouge` finds.
void AddSubsequence(const Words& reference, const Words& predicted, std::set<std::string>& words) {
  const std::vector<int32_t> lengths = SubsequenceLengths(reference, predicted);
  const size_t width = predicted.size() + 1;
  size_t i = reference.size();
  size_t j = predicted.size();
  while (i > 0 && j > 0) {
    if (reference[i - 1] == predicted[j - 1]) {
      words.insert(reference[i - 1]);
      --i;
      --j;
    } else if (lengths[(i - 1) * width + j] > lengths[i * width + j - 1]) {
      --i;
    } else {
      --j;
    }
  }
}

// Returns the words of a text for rouge-score: runs of ASCII letters and digits, in lower case.
Words PlainWords(std::string_view text) {
  Words words;
  bool inside = false;
  for (const char character : LowerText(text)) {
    const bool part =
        (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9');
    if (part && !inside) words.emplace_back();
    if (part) words.back() += character;
    inside = part;
  }
  return words;
}

double CountFScore(int64_t common, size_t predicted, size_t wanted) {
  // As in the package rouge-score, the divisor is at least 1.
  const auto share = [common](size_t of) {
    return static_cast<double>(common) / static_cast<double>(std::max<size_t>(of, 1));
  };
  return FScore(share(predicted), share(wanted), 0);
}

double CountNGramScore(const Words& predicted, const Words& wanted, size_t length) {
  const auto predicted_grams = NGrams(predicted, length);
  int64_t common = 0;
  for (const auto& [gram, count] : NGrams(wanted, length)) {
    const auto found = predicted_grams.find(gram);
    if (found != predicted_grams.end()) common += std::min(count, found->second);
  }
  const auto grams = [length](const Words& words) {
    return words.size() < length ? 0 : words.size() - length + 1;
  };
  return CountFScore(common, grams(predicted), grams(wanted));
}

}  // namespace

RougeScores RougeOfSets(std::string_view prediction, std::string_view reference) {
  const std::vector<Words> predicted = Sentences(prediction);
  const std::vector<Words> wanted = Sentences(reference);
  if (predicted.empty() || wanted.empty()) return {};
  const Words predicted_words = Joined(predicted);
  const Words wanted_words = Joined(wanted);
  std::set<std::string> common;
  for (const Words& reference_sentence : wanted) {
    for (const Words& sentence : predicted) AddSubsequence(reference_sentence, sentence, common);
  }
  const auto distinct = [](const Words& words) {
    return std::set<std::string>(words.begin(), words.end()).size();
  };
  return {SetNGramScore(predicted_words, wanted_words, 1),
          SetNGramScore(predicted_words, wanted_words, 2),
          SetFScore(common.size(), distinct(predicted_words), distinct(wanted_words))};
}

RougeScores RougeOfCounts(std::string_view prediction, std::string_view reference) {
  const Words predicted = PlainWords(prediction);
  const Words wanted = PlainWords(reference);
  return {
      CountNGramScore(predicted, wanted, 1), CountNGramScore(predicted, wanted, 2),
      CountFScore(SubsequenceLengths(wanted, predicted).back(), predicted.size(), wanted.size())};
}

double GeometricMean(const RougeScores& scores) {
  return std::cbrt(scores.rouge1 * scores.rouge2 * scores.rouge_l);
}

}  // namespace midscope
