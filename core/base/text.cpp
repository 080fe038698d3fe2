// SPDX-License-Identifier: MIT
#include "core/base/text.h"

#include <algorithm>

namespace midscope {

std::string ShellQuoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "'" + quoted + "'";
}

std::string ShellCommand(const std::string& program, const std::vector<std::string>& arguments) {
  std::string line = program;
  for (const std::string& argument : arguments) {
    const bool plain = !argument.empty() &&
                       argument.find_first_of(" \t\n\"'\\$`()[]{}*?|&;<>~#!") == std::string::npos;
    line += " " + (plain ? argument : ShellQuoted(argument));
  }
  return line;
}

namespace {

// Whether two characters are equal without regard to case.
bool Same(char a, char b) { return LowerCase(a) == LowerCase(b); }

// Returns the optimal string alignment distance.
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last;
  std::vector<size_t> last(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::vector<size_t> row(b.size() + 1);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (Same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && Same(a[i - 1], b[j - 2]) && Same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::move(last);
    last = std::move(row);
  }
  return last[b.size()];
}

}  // namespace

std::string NearestWord(std::string_view word, const std::vector<std::string>& known) {
  constexpr size_t kLongestTypo = 64;  // a longer word is not considered a typo; limits the work
  if (word.size() > kLongestTypo) return "";
  std::string nearest;
  size_t fewest = std::max<size_t>(word.size() / 2, 1) + 1;
  for (const std::string& candidate : known) {
    const size_t edits = Edits(word, candidate);
    if (edits < fewest) {
      fewest = edits;
      nearest = candidate;
    }
  }
  constexpr size_t kFewestLetters = 3;  // shortest prefix that suggests a longer known word
  if (!nearest.empty() || word.size() < kFewestLetters) return nearest;
  const auto longer = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
    return candidate.starts_with(word);
  });
  return longer == known.end() ? "" : *longer;
}

std::string KnownWordsHint(std::string_view word, const std::vector<std::string>& known) {
  std::string hint;
  const std::string nearest = NearestWord(word, known);
  if (!nearest.empty()) hint = "Did you mean '" + nearest + "'? ";
  return hint + "Known: " + Joined(known);
}

}  // namespace midscope
