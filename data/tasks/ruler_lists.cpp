// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "data/tasks/prompt_builder.h"
#include "data/tasks/ruler_kinds.h"
#include "data/tasks/word_lists.h"

namespace midscope {
namespace {

constexpr int64_t kShortPrompt = 4096;  // task cwe has shorter lists below this length

std::string JoinedBy(const std::vector<std::string>& parts, const std::string& between) {
  std::string text;
  for (size_t i = 0; i < parts.size(); ++i) text += (i > 0 ? between : "") + parts[i];
  return text;
}

std::string RandomLetters(size_t count, char first, SplitMix64& random) {
  constexpr uint64_t kAlphabet = 26;
  std::string letters(count, first);
  for (char& letter : letters) letter = static_cast<char>(letter + random.Below(kAlphabet));
  return letters;
}

// Returns `words` different random words of `count` letters.
std::vector<std::string> DifferentLetters(size_t words, size_t count, char first,
                                          SplitMix64& random) {
  std::vector<std::string> made;
  std::set<std::string> known;
  while (made.size() < words) {
    std::string word = RandomLetters(count, first, random);
    if (known.insert(word).second) made.push_back(std::move(word));
  }
  return made;
}

struct TrackedVariables {
  std::string text;
  std::vector<std::string> variables;
};

// Makes noise lines, variables and question of task vt: the prompt up to the list of variables.
TrackedVariables TrackVariables(int64_t noises, size_t name_length, SplitMix64& random) {
  constexpr size_t kHops = 4;
  constexpr uint64_t kSmallest = 10000;
  constexpr uint64_t kValues = 89999;  // 10000 to 99998, as numpy's randint
  const std::vector<std::string> variables = DifferentLetters(kHops + 1, name_length, 'A', random);
  const std::string value = std::to_string(kSmallest + random.Below(kValues));
  std::vector<std::string> chain = {"VAR " + variables.front() + " = " + value};
  for (size_t i = 0; i < kHops; ++i) {
    chain.push_back("VAR " + variables[i + 1] + " = VAR " + variables[i] + " ");
  }
  std::vector<int64_t> lines(static_cast<size_t>(noises));
  for (size_t i = 0; i < lines.size(); ++i) lines[i] = static_cast<int64_t>(i);
  lines = random.Draw(std::move(lines), chain.size());
  std::sort(lines.begin(), lines.end());
  std::string context;
  size_t next = 0;
  for (int64_t i = 0; i < noises; ++i) {
    if (next < lines.size() && lines[next] == i) context += chain[next++] + "\n";
    context +=
        "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back "
        "again.";
    if (i + 1 < noises) context += "\n";
  }
  return {fmt::format("Memorize and track the chain(s) of variable assignment hidden in the "
                      "following text.\n\n{}\nQuestion: Find all variables that are assigned the "
                      "value {} in the text above. Answer: According to the chain(s) of variable "
                      "assignment in the text above, {} variables are assigned the value {}, they "
                      "are: ",
                      context, value, variables.size(), value),
          variables};
}

struct CountedWords {
  std::string list;
  std::vector<std::string> common;
};

// Returns `count` different words; pairs of words if there are not enough single ones.
std::vector<std::string> ListWords(size_t count, SplitMix64& random) {
  std::vector<std::string> words = PlainNouns();
  words.insert(words.end(), PlainAdjectives().begin(), PlainAdjectives().end());
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  if (count > words.size()) {
    words.clear();
    for (const std::string& adjective : PlainAdjectives()) {
      for (const std::string& noun : PlainNouns()) {
        words.push_back(adjective);
        words.back().append("-").append(noun);
      }
    }
  }
  const size_t drawn = std::min(count, words.size());
  return random.Draw(std::move(words), drawn);
}

CountedWords CountedList(size_t words, size_t common_times, size_t other_times,
                         SplitMix64& random) {
  constexpr size_t kCommon = 10;
  const std::vector<std::string> drawn = ListWords(words, random);
  CountedWords counted{"", {drawn.begin(), drawn.begin() + kCommon}};
  std::vector<std::string> list;
  for (size_t i = 0; i < drawn.size(); ++i) {
    list.insert(list.end(), i < kCommon ? common_times : other_times, drawn[i]);
  }
  const size_t all = list.size();
  list = random.Draw(std::move(list), all);
  for (size_t i = 0; i < list.size(); ++i) {
    counted.list += fmt::format("{}{}. {}", i > 0 ? " " : "", i + 1, list[i]);
  }
  return counted;
}

std::string CommonWordsPrompt(const std::string& list) {
  return "Below is a numbered list of words. In these words, some appear more often than others. "
         "Memorize the ones that appear most often.\n" +
         list +
         "\nQuestion: What are the 10 most common words in the above list? Answer: The top 10 "
         "words that appear most often in the list are:";
}

// Makes a sample. `answer`: the teacher-forced text.
TaskSample FinishedRuler(const std::string& text, const std::string& answer,
                         const std::vector<std::string>& answers) {
  PromptBuilder prompt;
  const size_t question = text.rfind("\nQuestion: ") + 1;
  prompt.Add(std::string_view(text).substr(0, question));
  prompt.AddSpan("question", std::string_view(text).substr(question));
  TaskSample made = std::move(prompt).Sample(std::vector{answer}, 1, 1);
  made.answers = answers;
  return made;
}

}  // namespace

TaskSample MakeRulerVariables(const RulerKind& /*kind*/, const RulerRequest& request) {
  constexpr int64_t kExampleNoises = 10;
  constexpr size_t kExampleNameLength = 3;
  constexpr size_t kNameLength = 5;
  SplitMix64 random = request.random;
  const TrackedVariables example = TrackVariables(kExampleNoises, kExampleNameLength, random);
  const TrackedVariables asked = TrackVariables(request.size, kNameLength, random);
  // As in the public code, two spaces separate question and answer: the question ends in one.
  const std::string text = example.text + " " + JoinedBy(example.variables, " ") + "\n\n";
  return FinishedRuler(text + asked.text, JoinedBy(asked.variables, " "), asked.variables);
}

TaskSample MakeRulerCommonWords(const RulerKind& /*kind*/, const RulerRequest& request) {
  SplitMix64 random = request.random;
  const bool is_short = request.tokens < kShortPrompt;
  const CountedWords example =
      is_short ? CountedList(20, 3, 1, random) : CountedList(40, 10, 3, random);
  const auto words = static_cast<size_t>(request.size);
  const CountedWords asked =
      is_short ? CountedList(words, 6, 1, random) : CountedList(words, 30, 3, random);
  const auto numbered = [](const std::vector<std::string>& common) {
    std::string text;
    for (size_t i = 0; i < common.size(); ++i) {
      text += fmt::format("{}{}. {}", i > 0 ? " " : "", i + 1, common[i]);
    }
    return text;
  };
  return FinishedRuler(CommonWordsPrompt(example.list) + " " + numbered(example.common) + "\n" +
                           CommonWordsPrompt(asked.list),
                       numbered(asked.common), asked.common);
}

TaskSample MakeRulerFrequentWords(const RulerKind& kind, const RulerRequest& request) {
  constexpr size_t kWordLength = 6;
  constexpr int64_t kTokensPerWord = 50;
  constexpr size_t kRequested = 3;
  constexpr double kZetaOfTwo = std::numbers::pi * std::numbers::pi / 6;
  SplitMix64 random = request.random;
  const auto words = static_cast<size_t>(
      std::max<int64_t>(kRequested + 1, (request.tokens - kind.new_tokens) / kTokensPerWord));
  std::vector<std::string> coded = DifferentLetters(words, kWordLength, 'a', random);
  coded.front() = "...";
  std::vector<std::string> list;
  for (size_t i = 0; i < coded.size(); ++i) {
    const double share = std::pow(static_cast<double>(i + 1), -2) / kZetaOfTwo;
    const auto times = static_cast<size_t>(static_cast<double>(request.size) * share);
    list.insert(list.end(), times, coded[i]);
  }
  const size_t all = list.size();
  list = random.Draw(std::move(list), all);
  const std::vector<std::string> answers(coded.begin() + 1, coded.begin() + 1 + kRequested);
  return FinishedRuler(
      "Read the following coded text and track the frequency of each coded word. Find the three "
      "most frequently appeared coded words. " +
          JoinedBy(list, " ") +
          "\nQuestion: Do not provide any explanation. Please ignore the dots '....'. What are the "
          "three most frequently appeared words in the above coded text? Answer: According to the "
          "coded text above, the three most frequently appeared words are:",
      JoinedBy(answers, ", "), answers);
}

}  // namespace midscope
