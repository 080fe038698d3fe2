// SPDX-License-Identifier: MIT
// Contracts: RULER's prompts have the form of its templates around the drawn content, the gold
// needle is at the depth of the place, prompts with their answers fit the number of tokens and
// nearly fill it, and the score of generated text is the share of the answers in it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>

#include "data/scorers/answer_text.h"
#include "data/tasks/ruler_kinds.h"
#include "data/tasks/task.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/data/support/task_passages.h"

namespace midscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kNoise =
    "The grass is green. The sky is blue. The sun is yellow. Here we go. There and back again.";

std::unique_ptr<Task> Ruler(const std::string& kind, int64_t tokens, const std::string& file = "") {
  return MakeTask("ruler:kind=" + kind + ",tokens=" + std::to_string(tokens) +
                      (file.empty() ? "" : ",file=" + file),
                  1, {}, CountWords);
}

TEST(RulerTask, SingleNeedlesHaveTheTemplate) {
  const TaskSample sample = Ruler("niah_single_1", 600)->Make(2, 51);
  const std::regex form(
      "A special magic number is hidden within the following text. Make sure to memorize it. I "
      "will quiz you about the number afterwards\\.\n((?:" +
      std::string(kNoise) +
      "\n)*)(One of the special magic numbers for ([a-z]+-[a-z]+) is: ([1-9][0-9]{6})\\.)\n((?:" +
      kNoise +
      "\n)*)(What is the special magic number for ([a-z]+-[a-z]+) mentioned in the provided "
      "text\\?) The special magic number for ([a-z]+-[a-z]+) mentioned in the provided text is");
  std::smatch match;
  ASSERT_TRUE(std::regex_match(sample.text, match, form)) << sample.text;
  EXPECT_EQ(match[3], match[7]);
  EXPECT_EQ(match[3], match[8]);
  EXPECT_EQ(Passage(sample, "gold"), match[2]);
  EXPECT_EQ(Passage(sample, "question"), match[6]);
  EXPECT_EQ(sample.answer, " " + match[4].str());
  EXPECT_LE(std::abs(match[1].length() - match[5].length()),
            static_cast<std::ptrdiff_t>(std::string(kNoise).size()) + 1);
  EXPECT_EQ(ScoreGenerated(sample, "It is " + match[4].str() + "."), 1);
  EXPECT_EQ(sample.generation.new_tokens, 128);
  const auto task = Ruler("niah_single_1", 600);
  EXPECT_THAT(task->Make(2, 1).text, HasSubstr("afterwards.\nOne of the special"));
  EXPECT_THAT(task->Make(2, 101).text, HasSubstr(Passage(sample, "gold") + "\nWhat is the"));
}

TEST(RulerTask, EveryKindFillsItsTokens) {
  for (const RulerKind& kind : RulerKinds()) {
    for (const int64_t tokens : {700, 5000}) {
      const auto task = Ruler(kind.name, tokens);
      for (const int64_t place : {int64_t{1}, task->pieces()}) {
        const TaskSample sample = task->Make(1, place);
        const int64_t all = CountWords(sample.text) + kind.new_tokens;
        EXPECT_LE(all, tokens + 10) << kind.name;
        EXPECT_GE(all, tokens * 85 / 100) << kind.name;
        EXPECT_EQ(sample.text, Ruler(kind.name, tokens)->Make(1, place).text);
        EXPECT_NE(sample.answers, task->Make(0, place).answers);
        // The requested answer is in the text before the question.
        const std::string context =
            sample.text.substr(0, sample.text.rfind(Passage(sample, "question")));
        for (const std::string& answer : sample.answers) {
          EXPECT_THAT(context, HasSubstr(answer)) << kind.name;
        }
      }
    }
  }
}

TEST(RulerTask, OnlyTheGoldNeedleMoves) {
  for (const char* kind : {"niah_multikey_1", "niah_multivalue", "niah_multiquery"}) {
    const auto task = Ruler(kind, 2000);
    std::set<std::string> texts;
    double last = -1;
    for (const int64_t place : {1, 26, 51, 76, 101}) {
      const TaskSample sample = task->Make(3, place);
      const std::string gold = Passage(sample, "gold");
      EXPECT_THAT(gold, HasSubstr(sample.answers[0])) << kind;
      const size_t begin = sample.text.find(gold);
      const double depth = static_cast<double>(CountWords(sample.text.substr(0, begin))) /
                           static_cast<double>(CountWords(sample.text));
      EXPECT_GT(depth, last);
      EXPECT_NEAR(depth, static_cast<double>(place - 1) / 100, 0.06) << kind;
      last = depth;
      // Apart from the gold needle, the text is the same for all places.
      std::string rest = sample.text;
      rest.erase(begin, gold.size() + 1);
      std::vector<std::string> words = SplitWords(rest);
      texts.insert(std::to_string(words.size()) + words.back());
      EXPECT_EQ(sample.answers.size(), std::string(kind) == "niah_multikey_1" ? 1u : 4u);
    }
    EXPECT_EQ(texts.size(), 1u);
  }
}

TEST(RulerTask, SeveralAnswersCountByTheirShare) {
  const TaskSample sample = Ruler("niah_multiquery", 1000)->Make(0, 51);
  EXPECT_THAT(sample.text, StartsWith("Some special magic numbers are hidden within"));
  EXPECT_THAT(sample.text, EndsWith(" mentioned in the provided text are"));
  EXPECT_THAT(Passage(sample, "question"),
              ::testing::MatchesRegex("What are all the special magic numbers for .*, .*, .*, and "
                                      ".* mentioned in the provided text\\?"));
  EXPECT_EQ(ScoreGenerated(sample, sample.answer), 1);
  EXPECT_EQ(ScoreGenerated(sample, sample.answers[0] + " and " + sample.answers[2]), 0.5);
  EXPECT_EQ(ScoreGenerated(sample, "none"), 0);
}

TEST(RulerTask, NeedlesAmongNeedlesAreUuids) {
  const TaskSample sample = Ruler("niah_multikey_3", 800)->Make(0, 26);
  const std::regex uuid("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  EXPECT_TRUE(std::regex_match(sample.answers[0], uuid));
  size_t lines = 0;
  for (size_t at = 0;
       (at = sample.text.find("\nOne of the special magic uuids for ", at)) != std::string::npos;
       ++at) {
    ++lines;
  }
  EXPECT_GT(lines, 20u);
}

TEST(RulerTask, EssaysAreTheUsersText) {
  test::TemporaryFolder folder;
  folder.Write("essay.txt", "One two\n three. Four five?  Six seven eight! ");
  const std::string file = (folder.path() / "essay.txt").string();
  const TaskSample sample = Ruler("niah_single_2", 260, file)->Make(0, 1);
  EXPECT_THAT(sample.text,
              HasSubstr(". One two three. Four five? Six seven eight! One two three."));
  EXPECT_THAT(ErrorOf([&] { Ruler("vt", 800, file); }), HasSubstr("Leave file= out"));
  EXPECT_THAT(ErrorOf([&] { Ruler("vt", 200); }), HasSubstr("more tokens"));
}

// Resolves the assignments of a chain as a reader would.
TEST(RulerTask, VariablesOfAChainHaveTheValue) {
  for (int64_t index = 0; index < 20; ++index) {
    const TaskSample sample = Ruler("vt", 800)->Make(index, 1);
    const size_t second = sample.text.rfind("Memorize and track");
    ASSERT_GT(second, 0u);
    std::map<std::string, std::string> values;
    const std::string text = sample.text.substr(second);
    const std::regex assignment("VAR ([A-Z]{5}) = (VAR )?([A-Z0-9]{5})");
    for (auto at = std::sregex_iterator(text.begin(), text.end(), assignment);
         at != std::sregex_iterator(); ++at) {
      const std::string from = (*at)[3];
      values[(*at)[1]] = (*at)[2].matched ? values.at(from) : from;
    }
    ASSERT_EQ(values.size(), 5u);
    const std::string value = values.begin()->second;
    for (const std::string& variable : sample.answers) EXPECT_EQ(values.at(variable), value);
    EXPECT_THAT(sample.text,
                EndsWith(" 5 variables are assigned the value " + value + ", they are: "));
    EXPECT_EQ(sample.answer.substr(0, 5), sample.answers[0]);
  }
}

std::map<std::string, int64_t> CountsAfter(const std::string& text, const std::string& begin,
                                           const std::string& end) {
  const size_t from = text.rfind(begin) + begin.size();
  std::map<std::string, int64_t> counts;
  for (const std::string& word : SplitWords(text.substr(from, text.find(end, from) - from))) {
    ++counts[word];
  }
  return counts;
}

TEST(RulerTask, CommonWordsAreMoreCommon) {
  for (const auto& [tokens, common, other] :
       {std::tuple(int64_t{1500}, 6, 1), {int64_t{9000}, 30, 3}}) {
    const TaskSample sample = Ruler("cwe", tokens)->Make(1, 1);
    ASSERT_EQ(sample.answers.size(), 10u);
    for (const auto& [word, count] : CountsAfter(sample.text, "most often.\n", "\nQuestion")) {
      if (word.find_first_not_of("0123456789.") == std::string::npos) continue;
      const bool asked =
          std::find(sample.answers.begin(), sample.answers.end(), word) != sample.answers.end();
      EXPECT_EQ(count, asked ? common : other) << word;
    }
    EXPECT_THAT(sample.answer, StartsWith(" 1. " + sample.answers[0] + " 2. "));
  }
}

TEST(RulerTask, FrequentWordsFollowZetasLaw) {
  const TaskSample sample = Ruler("fwe", 5000)->Make(1, 1);
  auto counts = CountsAfter(sample.text, "most frequently appeared coded words. ", "\nQuestion");
  ASSERT_EQ(sample.answers.size(), 3u);
  const double first = static_cast<double>(counts.at("..."));
  for (size_t i = 0; i < 3; ++i) {
    const double rank = static_cast<double>(i + 2);
    EXPECT_NEAR(static_cast<double>(counts.at(sample.answers[i])), first / (rank * rank), 1.5);
    EXPECT_EQ(sample.answers[i].size(), 6u);
  }
  for (const auto& [word, count] : counts) {
    const bool asked =
        std::find(sample.answers.begin(), sample.answers.end(), word) != sample.answers.end();
    if (!asked && word != "...") {
      EXPECT_LT(count, counts.at(sample.answers[2]));
    }
  }
}

}  // namespace
}  // namespace midscope
