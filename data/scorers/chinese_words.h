// SPDX-License-Identifier: MIT
// Splits Chinese text into words as the Python package jieba 0.42.1 does (its accurate mode, by
// which LongBench scores its Chinese sets), with that package's own data.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace midscope {

// The likeliest split by the frequencies of a dictionary's words; runs of single characters between
// them are split by a hidden Markov model over begin, middle, end of a word, or a word alone.
//
//   const ChineseWords& words = ChineseWords::Installed();
//   words.Split("南京市长江大桥");  // 南京市, 长江大桥
class ChineseWords {
 public:
  // `folder`: that of the Python package: dict.txt ("word frequency tag" a line) and
  // finalseg/prob_emit.py. Throws Error (failure) where one can't be read, is larger than 64 MiB or
  // of another form.
  explicit ChineseWords(const std::string& folder);

  // That of $MIDSCOPE_JIEBA, else of Debian's package python3-jieba; read at the first call. Throws
  // Error (failure) where there is none, with what to install, and as the constructor.
  static const ChineseWords& Installed();

  // The pieces, white space among them, are the text when joined. Bytes that are no character are
  // pieces of their own.
  std::vector<std::string> Split(std::string_view text) const;

 private:
  struct Character {
    char32_t code;
    std::string_view bytes;
  };
  using Characters = std::vector<Character>;

  void ReadDictionary(const std::string& path);
  void ReadEmissions(const std::string& path);
  // Frequency of the characters [begin, end) as a word: 0 for the beginning of longer words alone,
  // -1 for none.
  int64_t Frequency(const Characters& text, size_t begin, size_t end) const;
  // [begin]: the end of the first word of the likeliest split of the characters from `begin` on.
  std::vector<size_t> LikeliestEnds(const Characters& text) const;
  void SplitRun(const Characters& text, std::vector<std::string>& words) const;
  // Characters of which the dictionary made no word.
  void SplitUnknown(const Characters& text, std::vector<std::string>& words) const;
  void SplitByModel(const Characters& text, std::vector<std::string>& words) const;
  std::vector<int> LikeliestStates(const Characters& text) const;

  std::unordered_map<std::string, int64_t> frequencies_;
  double log_total_ = 0;
  // [state] log probability of a character; states B, E, M, S in this order.
  std::array<std::unordered_map<char32_t, double>, 4> emissions_;
};

}  // namespace midscope
