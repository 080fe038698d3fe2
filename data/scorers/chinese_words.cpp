// SPDX-License-Identifier: MIT
#include "data/scorers/chinese_words.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <utility>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/file_access.h"
#include "data/scorers/loose_utf8.h"

namespace midscope {
namespace {

constexpr const char* kDebianFolder = "/usr/lib/python3/dist-packages/jieba";
constexpr uintmax_t kLargestFile = uintmax_t{64} << 20;

// Of the package's Markov model (finalseg/prob_start.py, prob_trans.py); states B, E, M, S, in the
// order of their letters, by which it chooses among equal ones.
constexpr int kStates = 4;
constexpr int kBegin = 0;
constexpr int kEnd = 1;
constexpr int kMiddle = 2;
constexpr int kSingle = 3;
constexpr double kNever = -3.14e100;
constexpr std::array<double, kStates> kStart = {-0.26268660809250016, kNever, kNever,
                                                -1.4652633398537678};
// [from][to]
constexpr std::array<std::array<double, kStates>, kStates> kTransitions = {
    {{kNever, -0.510825623765990, -0.916290731874155, kNever},
     {-0.5897149736854513, kNever, kNever, -0.8085250474669937},
     {kNever, -0.33344856811948514, -1.2603623820268226, kNever},
     {-0.7211965654669841, kNever, kNever, -0.6658631448798212}}};
// [to] the two states before, the smaller letter first.
constexpr std::array<std::array<int, 2>, kStates> kBefore = {
    {{kEnd, kSingle}, {kBegin, kMiddle}, {kBegin, kMiddle}, {kEnd, kSingle}}};

bool IsLetterOrDigit(char32_t code) {
  return (code >= U'a' && code <= U'z') || (code >= U'A' && code <= U'Z') ||
         (code >= U'0' && code <= U'9');
}

bool IsDigit(char32_t code) { return code >= U'0' && code <= U'9'; }

bool IsChinese(char32_t code) { return code >= 0x4E00 && code <= 0x9FD5; }

// What may be part of a word.
bool IsWordCharacter(char32_t code) {
  return IsChinese(code) || IsLetterOrDigit(code) ||
         std::u32string_view(U"+#&._%-").find(code) != std::u32string_view::npos;
}

std::string ReadWhole(const std::string& path) {
  return ReadWholeFile(path, kLargestFile, "64 MiB");
}

template <typename Characters>
std::string Joined(const Characters& text, size_t begin, size_t end) {
  std::string joined;
  for (size_t i = begin; i < end; ++i) joined += text[i].bytes;
  return joined;
}

// Of [a-zA-Z0-9]+(.digits)?%? from `begin` on: its end, `begin` where it does not match.
template <typename Characters>
size_t LatinEnd(const Characters& text, size_t begin) {
  size_t end = begin;
  while (end < text.size() && IsLetterOrDigit(text[end].code)) ++end;
  if (end == begin) return begin;
  size_t decimals = end + 1;
  while (decimals < text.size() && IsDigit(text[decimals].code)) ++decimals;
  if (end < text.size() && text[end].code == U'.' && decimals > end + 1) end = decimals;
  if (end < text.size() && text[end].code == U'%') ++end;
  return end;
}

}  // namespace

ChineseWords::ChineseWords(const std::string& folder) {
  ReadDictionary(folder + "/dict.txt");
  ReadEmissions(folder + "/finalseg/prob_emit.py");
}

const ChineseWords& ChineseWords::Installed() {
  static const ChineseWords words = [] {
    const std::string given = Environment("MIDSCOPE_JIEBA");
    const std::string folder = given.empty() ? kDebianFolder : given;
    if (!std::filesystem::exists(folder + "/dict.txt")) {
      throw Failure(
          "'" + folder + "'", "there is no dictionary to split Chinese text into words",
          "Install Debian's package python3-jieba, or set MIDSCOPE_JIEBA to the folder of "
          "the Python package jieba");
    }
    return ChineseWords(folder);
  }();
  return words;
}

void ChineseWords::ReadDictionary(const std::string& path) {
  const std::string text = ReadWhole(path);
  int64_t total = 0;
  int64_t line = 0;
  for (size_t begin = 0; begin < text.size(); ++line) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row(text.data() + begin, end - begin);
    begin = end + 1;
    const size_t space = row.find(' ');
    int64_t frequency = -1;
    if (space != std::string_view::npos && space > 0) {
      std::from_chars(row.data() + space + 1, row.data() + row.size(), frequency);
    }
    constexpr int64_t kMost = int64_t{1} << 40;
    if (frequency < 0 || frequency > kMost) {
      throw Failure(path, "line " + std::to_string(line + 1) + " is no 'word frequency tag'");
    }
    total += frequency;
    std::string word;
    ForEachCharacter(row.substr(0, space), [&](char32_t /*code*/, std::string_view bytes) {
      word += bytes;
      frequencies_.try_emplace(word, 0);
    });
    frequencies_[word] = frequency;
  }
  if (total <= 0) throw Failure(path, "it has no words");
  log_total_ = std::log(static_cast<double>(total));
}

// A Python dictionary of dictionaries: {'B': {'\u4e00': -3.65, ...}, 'E': ...
void ChineseWords::ReadEmissions(const std::string& path) {
  const std::string text = ReadWhole(path);
  constexpr std::string_view kLetters = "BEMS";
  size_t state = kLetters.size();
  for (size_t at = text.find('\''); at != std::string::npos; at = text.find('\'', at)) {
    const size_t close = text.find("': ", at + 1);
    if (close == std::string::npos) break;
    const std::string_view key(text.data() + at + 1, close - at - 1);
    at = close + 3;
    if (key.size() == 1 && at < text.size() && text[at] == '{') {
      state = std::min(kLetters.find(key[0]), kLetters.size());
      continue;
    }
    uint32_t code = 0;
    double value = 0;
    const bool escaped = key.size() == 6 && key.starts_with("\\u");
    const bool whole =
        escaped && std::from_chars(key.data() + 2, key.data() + 6, code, 16).ptr == key.end() &&
        std::from_chars(text.data() + at, text.data() + text.size(), value).ec == std::errc();
    if (!whole || state == kLetters.size()) {
      throw Failure(path, "it is not the package's table of probabilities");
    }
    emissions_[state][code] = value;
  }
  for (const auto& table : emissions_) {
    if (table.empty()) throw Failure(path, "it is not the package's table of probabilities");
  }
}

std::vector<std::string> ChineseWords::Split(std::string_view text) const {
  std::vector<std::string> words;
  Characters run;
  const auto end_run = [&] {
    if (!run.empty()) SplitRun(run, words);
    run.clear();
  };
  ForEachCharacter(text, [&](char32_t code, std::string_view bytes) {
    if (IsWordCharacter(code)) {
      run.push_back({code, bytes});
      return;
    }
    end_run();
    // The package keeps a line end of two characters together.
    if (bytes == "\n" && !words.empty() && words.back() == "\r") {
      words.back() += bytes;
    } else {
      words.emplace_back(bytes);
    }
  });
  end_run();
  return words;
}

int64_t ChineseWords::Frequency(const Characters& text, size_t begin, size_t end) const {
  const auto found = frequencies_.find(Joined(text, begin, end));
  return found == frequencies_.end() ? -1 : found->second;
}

std::vector<size_t> ChineseWords::LikeliestEnds(const Characters& text) const {
  const size_t count = text.size();
  std::vector<size_t> ends(count);
  std::vector<double> best(count + 1);  // log probability of the split from here on
  for (size_t begin = count; begin-- > 0;) {
    bool any = false;
    const auto consider = [&](size_t end, int64_t frequency) {
      const double known = frequency > 0 ? static_cast<double>(frequency) : 1;
      const double probability = std::log(known) - log_total_ + best[end];
      // Among equal ones the longest.
      if (any && probability < best[begin]) return;
      any = true;
      best[begin] = probability;
      ends[begin] = end;
    };
    for (size_t end = begin + 1; end <= count; ++end) {
      const int64_t frequency = Frequency(text, begin, end);
      if (frequency < 0) break;
      if (frequency > 0) consider(end, frequency);
    }
    if (!any) consider(begin + 1, Frequency(text, begin, begin + 1));
  }
  return ends;
}

void ChineseWords::SplitRun(const Characters& text, std::vector<std::string>& words) const {
  const std::vector<size_t> ends = LikeliestEnds(text);
  Characters singles;
  const auto end_singles = [&] {
    if (!singles.empty()) SplitUnknown(singles, words);
    singles.clear();
  };
  for (size_t begin = 0; begin < text.size(); begin = ends[begin]) {
    if (ends[begin] == begin + 1) {
      singles.push_back(text[begin]);
      continue;
    }
    end_singles();
    words.push_back(Joined(text, begin, ends[begin]));
  }
  end_singles();
}

void ChineseWords::SplitUnknown(const Characters& text, std::vector<std::string>& words) const {
  // A word of the dictionary that was not the likeliest split stays apart.
  if (text.size() == 1 || Frequency(text, 0, text.size()) > 0) {
    for (const Character& character : text) words.emplace_back(character.bytes);
    return;
  }
  for (size_t begin = 0; begin < text.size();) {
    size_t end = begin;
    while (end < text.size() && IsChinese(text[end].code)) ++end;
    if (end > begin) {
      SplitByModel({text.begin() + static_cast<std::ptrdiff_t>(begin),
                    text.begin() + static_cast<std::ptrdiff_t>(end)},
                   words);
      begin = end;
      continue;
    }
    end = LatinEnd(text, begin);
    if (end == begin) {  // signs, up to what else there is
      while (end < text.size() && !IsChinese(text[end].code) && !IsLetterOrDigit(text[end].code))
        ++end;
    }
    words.push_back(Joined(text, begin, end));
    begin = end;
  }
}

void ChineseWords::SplitByModel(const Characters& text, std::vector<std::string>& words) const {
  const std::vector<int> states = LikeliestStates(text);
  size_t begin = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (states[i] == kBegin) begin = i;
    if (states[i] == kSingle) begin = i;
    if (states[i] != kSingle && states[i] != kEnd) continue;
    words.push_back(Joined(text, begin, i + 1));
    begin = i + 1;
  }
  if (begin < text.size()) words.push_back(Joined(text, begin, text.size()));
}

std::vector<int> ChineseWords::LikeliestStates(const Characters& text) const {
  const size_t count = text.size();
  std::vector<std::array<double, kStates>> values(count);
  std::vector<std::array<int, kStates>> before(count);
  const auto emission = [&](int state, size_t i) {
    const auto& table = emissions_[static_cast<size_t>(state)];
    const auto found = table.find(text[i].code);
    return found == table.end() ? kNever : found->second;
  };
  for (int state = 0; state < kStates; ++state) {
    values[0][static_cast<size_t>(state)] = kStart[static_cast<size_t>(state)] + emission(state, 0);
  }
  for (size_t i = 1; i < count; ++i) {
    for (size_t to = 0; to < kStates; ++to) {
      const double own = emission(static_cast<int>(to), i);
      const auto value = [&](int from) {
        const auto index = static_cast<size_t>(from);
        return values[i - 1][index] + kTransitions[index][to] + own;
      };
      const auto [first, second] = kBefore[to];
      const int from = value(second) >= value(first) ? second : first;
      before[i][to] = from;
      values[i][to] = value(from);
    }
  }
  const auto& last = values[count - 1];
  std::vector<int> states(count);
  states[count - 1] = last[kSingle] >= last[kEnd] ? kSingle : kEnd;
  for (size_t i = count - 1; i > 0; --i) {
    states[i - 1] = before[i][static_cast<size_t>(states[i])];
  }
  return states;
}

}  // namespace midscope
