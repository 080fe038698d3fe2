// SPDX-License-Identifier: MIT
#include "data/tasks/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "core/base/random.h"
#include "data/tasks/word_lists.h"
#include "tests/core/support/error_message.h"
#include "tests/data/support/task_passages.h"

namespace midscope {
namespace {

using test::ErrorMessage;
using ::testing::HasSubstr;

TEST(ListTask, PromptHasTheExactForm) {
  const TaskSample sample = MakeTask("list:lines=3", 1)->Make(0, 2);
  EXPECT_TRUE(std::regex_match(
      sample.text,
      std::regex(
          "Below is a list of people and the item that each one bought\\.\n\n"
          "(\\w+ bought: \\w+\n){3}\nQuestion: what did (\\w+) buy\\?\nAnswer: \\2 bought:")))
      << sample.text;
  EXPECT_EQ(sample.place, 2);
  EXPECT_EQ(sample.pieces, 3);
  EXPECT_EQ(sample.answer[0], ' ');
  EXPECT_EQ(Passage(sample, "gold"), Passage(sample, "line 2"));
  EXPECT_THAT(Passage(sample, "gold"), testing::EndsWith(" bought:" + sample.answer));
  EXPECT_THAT(Passage(sample, "question"), testing::StartsWith("Question: what did "));
  EXPECT_THAT(sample.text, testing::EndsWith(" bought:"));
}

TEST(KeyValueTask, PromptHasTheTemplateOfTheData) {
  const TaskSample sample = MakeTask("kv:pairs=3", 5)->Make(4, 1);
  const std::string uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";
  const std::string pair = "\"" + uuid + "\": \"" + uuid + "\"";
  EXPECT_TRUE(std::regex_match(
      sample.text, std::regex("Extract the value corresponding to the specified key in the JSON "
                              "object below\\.\n\nJSON data:\n\\{" +
                              pair + ",\n " + pair + ",\n " + pair + "\\}\n\nKey: \"" + uuid +
                              "\"\nCorresponding value:")))
      << sample.text;
  EXPECT_EQ(Passage(sample, "gold"), Passage(sample, "pair 1"));
  EXPECT_THAT(Passage(sample, "gold"), HasSubstr(sample.answer.substr(1)));
  EXPECT_EQ("Key: " + Passage(sample, "gold").substr(0, 38), Passage(sample, "question"));

  const TaskSample aware = MakeTask("kv:pairs=3,query_aware=1", 5)->Make(4, 1);
  EXPECT_THAT(aware.text,
              HasSubstr("below.\n\n" + Passage(sample, "question") + "\n\nJSON data:\n{"));
}

TEST(Tasks, MovingTheGoldPieceChangesNothingElse) {
  for (const char* spec : {"list:lines=7", "kv:pairs=7"}) {
    const auto task = MakeTask(spec, 11);
    const std::string piece = task->name().rfind("list", 0) == 0 ? "line " : "pair ";
    const TaskSample first = task->Make(3, 1);
    for (int64_t place = 1; place <= 7; ++place) {
      const TaskSample sample = task->Make(3, place);
      EXPECT_EQ(sample.text, task->Make(3, place).text);
      EXPECT_EQ(sample.answer, first.answer);
      EXPECT_EQ(sample.text.size(), first.text.size());
      EXPECT_EQ(Passage(sample, "gold"), Passage(first, "gold"));
      std::vector<std::string> others;
      std::vector<std::string> first_others;
      for (int64_t rank = 1; rank <= 7; ++rank) {
        if (rank != place) others.push_back(Passage(sample, piece + std::to_string(rank)));
        if (rank != 1) first_others.push_back(Passage(first, piece + std::to_string(rank)));
      }
      EXPECT_EQ(others, first_others) << spec << " place " << place;
    }
  }
}

TEST(Tasks, EachSampleAndSeedDrawsItsOwn) {
  for (const char* spec : {"list", "kv:pairs=2"}) {
    std::set<std::string> texts;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      for (int64_t sample = 0; sample < 20; ++sample) {
        texts.insert(MakeTask(spec, seed)->Make(sample, 1).text);
      }
    }
    EXPECT_EQ(texts.size(), 100U);
  }
}

// Prompts are part of published results, so they must not change between versions.
TEST(Tasks, DrawsAreThoseOfTheFirstVersion) {
  EXPECT_EQ(SplitMix64(1234567).Next(), 6457827717110365317U);  // from the reference implementation
  EXPECT_EQ(Passage(MakeTask("list:lines=20", 1)->Make(0, 1), "gold"), "Frank bought: glass");
  EXPECT_EQ(MakeTask("kv:pairs=10", 1)->Make(0, 1).answer, " 29bd10db-6bcd-472f-8c91-00a727b23ec5");
}

TEST(Tasks, NamesAndItemsAreDrawnWithoutReplacement) {
  EXPECT_GE(FirstNames().size(), 50U);
  EXPECT_GE(ThingsToBuy().size(), 50U);
  EXPECT_EQ(std::set<std::string>(FirstNames().begin(), FirstNames().end()).size(),
            FirstNames().size());
  EXPECT_EQ(std::set<std::string>(ThingsToBuy().begin(), ThingsToBuy().end()).size(),
            ThingsToBuy().size());
  const auto task = MakeTask("list:lines=40", 2);
  for (int64_t sample = 0; sample < 50; ++sample) {
    const TaskSample made = task->Make(sample, 7);
    std::set<std::string> words;
    for (int64_t rank = 1; rank <= 40; ++rank) {
      const std::string line = Passage(made, "line " + std::to_string(rank));
      words.insert(line.substr(0, line.find(' ')));
      words.insert(line.substr(line.rfind(' ')));
    }
    EXPECT_EQ(words.size(), 80U);
  }
}

TEST(Tasks, TheFilterSaysWhichItemsThereAre) {
  const WordFilter short_words = [](const std::string& word) { return word.size() <= 4; };
  const auto task = MakeTask("list:lines=10", 3, short_words);
  for (int64_t sample = 0; sample < 20; ++sample) {
    EXPECT_LE(task->Make(sample, 1).answer.size(), 4U);
  }
  const WordFilter none = [](const std::string&) { return false; };
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { MakeTask("list", 3, none); }),
              HasSubstr("only 0 of its items"));
}

TEST(Tasks, SpecsAreCheckedAndStatedInFull) {
  EXPECT_EQ(MakeTask("list", 0)->name(), "list:lines=20");
  EXPECT_EQ(MakeTask("kv:pairs=140", 0)->name(), "kv:pairs=140,query_aware=0");
  const auto error = [](const char* spec) {
    return ErrorMessage(ErrorKind::kUsage, [&] { MakeTask(spec, 0); });
  };
  EXPECT_THAT(error("lsit:lines=3"), HasSubstr("Did you mean 'list'?"));
  EXPECT_THAT(error(""), HasSubstr("Known: list, kv"));
  EXPECT_THAT(error("list:line=3"), HasSubstr("'lines'"));
  EXPECT_THAT(error("list:lines"), HasSubstr("PARAMETER=VALUE"));
  EXPECT_THAT(error("list:lines=0"), HasSubstr("', lines: 0 is out of range. Allowed: 1 to"));
  EXPECT_THAT(error("list:lines=1000"), HasSubstr("Allowed: 1 to"));
  EXPECT_THAT(error("list:lines=3x"), HasSubstr("'3x'"));
  EXPECT_THAT(error("list:lines=3,lines=4"), HasSubstr("twice"));
  EXPECT_THAT(error("list:lines=3,"), HasSubstr("comma"));
  EXPECT_THAT(error("kv:pairs=-1"), HasSubstr("Allowed: 1 to"));
  const auto task = MakeTask("list:lines=5", 0);
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { task->Make(0, 0); }), HasSubstr("from 1 to 5"));
  EXPECT_THAT(ErrorMessage(ErrorKind::kUsage, [&] { task->Make(0, 6); }), HasSubstr("place 6"));
  EXPECT_THAT(TaskHelp(), HasSubstr("pairs in the JSON object (1 to 10000; default: 75)"));
  EXPECT_THAT(TaskHelp(), HasSubstr("(characters | blocks | pose | lines; default: characters)"));
  EXPECT_THAT(TaskHelp(),
              HasSubstr("a file SUBJECT_test.csv of MMLU, or a folder of them (must be given)"));
  EXPECT_THAT(error("lines:score=best"),
              AllOf(HasSubstr("(allowed: last | first)"), HasSubstr("Did you mean 'last'?")));
  EXPECT_THAT(error("longbench"), HasSubstr("file=PATH"));
  EXPECT_THAT(error("kv:file="), HasSubstr("names no file"));
  EXPECT_THAT(error("passkey:tokens=500"), HasSubstr("requires a model"));
  EXPECT_THAT(error("needle:tokens=500"), HasSubstr("requires a model"));
}

TEST(SplitMix64, DrawsAreUniform) {
  SplitMix64 random(99);
  std::vector<int> counts(7);
  for (int i = 0; i < 70000; ++i) ++counts[random.Below(7)];
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);  // 5 standard deviations are 463
}

}  // namespace
}  // namespace midscope
