// SPDX-License-Identifier: MIT
#include "data/scorers/code_similarity.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "data/scorers/answer_text.h"

namespace midscope {
namespace {

std::u32string Codes(std::string_view text) {
  std::u32string codes;
  ForEachCharacter(text, [&](char32_t code, std::string_view /*bytes*/) { codes += code; });
  return codes;
}

struct Block {
  size_t first = 0;
  size_t second = 0;
  size_t size = 0;
};

struct Range {
  size_t first_begin, first_end, second_begin, second_end;
};

class Matcher {
 public:
  Matcher(std::u32string first, std::u32string second)
      : first_(std::move(first)), second_(std::move(second)) {
    for (size_t i = 0; i < second_.size(); ++i) places_[second_[i]].push_back(i);
    if (second_.size() < kPopularFrom) return;
    const size_t most = second_.size() / 100 + 1;
    std::erase_if(places_, [most](const auto& entry) { return entry.second.size() > most; });
  }

  size_t MatchedCharacters() const {
    size_t matched = 0;
    std::vector<Range> open = {{0, first_.size(), 0, second_.size()}};
    while (!open.empty()) {
      const Range range = open.back();
      open.pop_back();
      const Block block = Longest(range);
      if (block.size == 0) continue;
      matched += block.size;
      open.push_back({range.first_begin, block.first, range.second_begin, block.second});
      open.push_back(
          {block.first + block.size, range.first_end, block.second + block.size, range.second_end});
    }
    return matched;
  }

 private:
  static constexpr size_t kPopularFrom = 200;

  // Returns the longest common substring in the range; for ties, the earliest in the first text,
  // then in the second. Popular characters (as in Python's difflib) can only extend a match.
  Block Longest(const Range& range) const {
    Block best = {range.first_begin, range.second_begin, 0};
    std::unordered_map<size_t, size_t> ending;  // by end position: length of the match
    for (size_t i = range.first_begin; i < range.first_end; ++i) {
      std::unordered_map<size_t, size_t> next;
      const auto found = places_.find(first_[i]);
      if (found != places_.end()) {
        for (const size_t j : found->second) {
          if (j < range.second_begin) continue;
          if (j >= range.second_end) break;
          const auto before = j > 0 ? ending.find(j - 1) : ending.end();
          const size_t size = (before == ending.end() ? 0 : before->second) + 1;
          next[j] = size;
          if (size > best.size) best = {i + 1 - size, j + 1 - size, size};
        }
      }
      ending = std::move(next);
    }
    while (best.first > range.first_begin && best.second > range.second_begin &&
           first_[best.first - 1] == second_[best.second - 1]) {
      --best.first;
      --best.second;
      ++best.size;
    }
    while (best.first + best.size < range.first_end && best.second + best.size < range.second_end &&
           first_[best.first + best.size] == second_[best.second + best.size]) {
      ++best.size;
    }
    return best;
  }

  std::u32string first_;
  std::u32string second_;
  std::map<char32_t, std::vector<size_t>> places_;  // by character: positions in the second text
};

}  // namespace

double MatchingRatio(std::string_view first, std::string_view second) {
  const std::u32string a = Codes(first);
  const std::u32string b = Codes(second);
  const size_t total = a.size() + b.size();
  if (total == 0) return 1;
  return 2 * static_cast<double>(Matcher(a, b).MatchedCharacters()) / static_cast<double>(total);
}

double CodeSimilarity(std::string_view prediction, std::string_view reference) {
  std::string_view rest =
      prediction.substr(std::min(prediction.find_first_not_of('\n'), prediction.size()));
  std::string_view code;
  while (true) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (line.find_first_of("`#") == std::string_view::npos &&
        line.find("//") == std::string_view::npos) {
      code = line;
      break;
    }
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  return std::nearbyint(100 * MatchingRatio(code, reference)) / 100;
}

}  // namespace midscope
