// SPDX-License-Identifier: MIT
// Contract: a set in NoLiMa's format becomes prompts with the needle at its depth in a snippet of
// the given number of tokens (a token is a word here); tests, arguments, characters, distractors
// and templates are those of the file. Other input is rejected with the needle's number.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "data/tasks/task.h"
#include "tests/core/support/temporary_folder.h"
#include "tests/data/support/task_passages.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

Json Needle() {
  return {{"id", "0401"},
          {"system_prompt", ""},
          {"needle", "Actually, {CHAR} lives next to the {1}."},
          {"questions",
           {{"onehop", "Which character has been to the {1}?"},
            {"twohop", "Which character has been to {2}?"}}},
          {"character_set", {"Yuki", "Stuart", "Megan"}},
          {"tests",
           {{"T01_C02", {{"input_args", {"Semper Opera House", "Dresden"}}}},
            {"T02_C02", {{"input_args", {"Kiasma museum", "Helsinki"}}}}}}};
}

// 400 lines of five words.
std::string Book() {
  std::string book;
  for (int line = 0; line < 400; ++line)
    book += "line" + std::to_string(line) + " two three four five\n";
  return book;
}

class NoLiMaTask : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& text) {
    std::string path = (folder_.path() / name).string();
    std::ofstream(path) << text;
    return path;
  }
  std::string Set(const Json& set) { return Write("set.json", set.dump()); }

  std::unique_ptr<Task> Make(const std::string& parameters, const Json& set) {
    const std::string needles = Set(set);
    const std::string book = Write("book.txt", Book());
    return MakeTask("nolima:" + parameters + ",needles=" + needles + ",file=" + book, 1, {},
                    CountWords);
  }

  test::TemporaryFolder folder_;
};

TEST_F(NoLiMaTask, AsksEveryQuestionOfEveryTest) {
  const auto task = Make("tokens=100", Json::array({Needle()}));
  EXPECT_EQ(task->samples(), 4);
  std::set<std::string> questions;
  for (int64_t sample = 0; sample < 4; ++sample) {
    const TaskSample made = task->Make(sample, 51);
    questions.insert(Passage(made, "question"));
    EXPECT_EQ(made.answers.size(), 1u);
    EXPECT_THAT(Passage(made, "gold"), HasSubstr("Actually, " + made.answers[0] + " lives next"));
    EXPECT_EQ(made.answer, " " + made.answers[0]);
    // Another place moves the needle without drawing new content.
    EXPECT_EQ(task->Make(sample, 1).answers, made.answers);
    EXPECT_EQ(ScoreGenerated(made, "It is " + made.answers[0] + "."), 1);
    EXPECT_EQ(ScoreGenerated(made, "Somebody else."), 0);
  }
  EXPECT_EQ(questions, (std::set<std::string>{"Which character has been to the Semper Opera House?",
                                              "Which character has been to the Kiasma museum?",
                                              "Which character has been to Dresden?",
                                              "Which character has been to Helsinki?"}));
  EXPECT_EQ(Make("tokens=100,question=twohop", Json::array({Needle()}))->samples(), 2);
}

TEST_F(NoLiMaTask, TheNeedleIsAtItsDepth) {
  const auto task = Make("tokens=200", Json::array({Needle()}));
  for (const int64_t depth : {0, 25, 50, 100}) {
    const std::string text = task->Make(0, depth + 1).text;
    const size_t gold = text.find("Actually, ");
    const size_t begin = text.find("passage of a book.\n\n") + 20;
    const size_t end = text.find("\n\nAnswer the question");
    const auto before = CountWords(std::string_view(text).substr(begin, gold - begin));
    const size_t behind = text.find('\n', gold) + 1;
    const auto after = CountWords(std::string_view(text).substr(behind, end - behind));
    // The needle is between complete lines of five words.
    EXPECT_NEAR(static_cast<double>(before), 2.0 * static_cast<double>(depth), 5) << depth;
    EXPECT_EQ(after, 200 - 2 * depth) << depth;
  }
  // The depth is exact, because the beginning of the snippet is shifted through the book.
  EXPECT_THAT(task->Make(0, 51).text, HasSubstr("two three four five Actually, "));
}

TEST_F(NoLiMaTask, DistractorsAreFarFromTheNeedle) {
  Json needle = Needle();
  needle["distractors"] = {{"onehop", "There was a talk about the {1}."},
                           {"twohop", "There was a talk about {2}."}};
  const auto task = Make("tokens=600", Json::array({needle}));
  for (const int64_t depth : {0, 30, 100}) {
    for (int64_t sample = 0; sample < 4; ++sample) {
      const TaskSample made = task->Make(sample, depth + 1);
      const std::string distractor = Passage(made, "distractor");
      EXPECT_THAT(distractor, HasSubstr("a talk about"));
      const auto words = [&](const std::string& passage) {
        return CountWords(std::string_view(made.text).substr(0, made.text.find(passage)));
      };
      EXPECT_GT(std::abs(words(distractor) - words(Passage(made, "gold"))), 100) << depth;
    }
  }
}

TEST_F(NoLiMaTask, TemplatesAndGoldAnswersAreTheFiles) {
  Json needle = Needle();
  needle["task_template"] = "BOOK {haystack} ASK {question} END";
  needle["system_prompt"] = "Be short.";
  needle["needle"] = "The {1} is closed on Mondays.";
  needle.erase("character_set");
  for (auto& [id, test] : needle["tests"].items()) test["gold_answers"] = {"Monday", "Mondays"};
  const TaskSample made = Make("tokens=50", Json::array({needle}))->Make(1, 1);
  EXPECT_EQ(made.text.substr(0, 5), "BOOK ");
  EXPECT_EQ(made.system, "Be short.");
  EXPECT_EQ(made.answers, (std::vector<std::string>{"Monday", "Mondays"}));
  EXPECT_EQ(Passage(made, "gold"), "The Kiasma museum is closed on Mondays.");
  const std::string own = Write("own.txt", "{question}|{haystack}\n");
  EXPECT_EQ(Make("tokens=50,template=" + own, Json::array({needle}))->Make(0, 1).text.substr(0, 6),
            "Which ");
}

TEST_F(NoLiMaTask, ReadsAFolderOfBooks) {
  const std::string books = (folder_.path() / "books").string();
  std::filesystem::create_directory(books);
  std::ofstream(books + "/a.txt") << Book();
  std::ofstream(books + "/b.txt") << "The second book.\n" << Book();
  const std::string spec =
      "nolima:tokens=50,needles=" + Set(Json::array({Needle()})) + ",file=" + books;
  const auto task = MakeTask(spec, 1, {}, CountWords);
  EXPECT_EQ(task->samples(), 8);
  EXPECT_THAT(task->Make(4, 1).text, HasSubstr("The second book."));
  const std::string before = TaskFilesHash(spec);
  std::ofstream(books + "/b.txt") << "Another book.\n" << Book();
  EXPECT_NE(TaskFilesHash(spec), before);
}

TEST_F(NoLiMaTask, SaysWhatIsWrong) {
  const auto error = [&](const Json& set, const std::string& parameters = "tokens=50") {
    return ErrorOf([&] { Make(parameters, set)->Make(0, 101); }, ErrorKind::kFailure);
  };
  EXPECT_THAT(error(Json::object()), HasSubstr("not a list of needles"));
  Json needle = Needle();
  needle.erase("character_set");
  EXPECT_THAT(error(Json::array({Needle(), needle})), HasSubstr("needle 2"));
  EXPECT_THAT(error(Json::array({needle})), HasSubstr("character_set"));
  needle = Needle();
  needle["tests"] = 3;
  EXPECT_THAT(error(Json::array({needle})), HasSubstr("tests"));
  needle = Needle();
  needle["questions"] = {{"onehop", 3}};
  EXPECT_THAT(error(Json::array({needle})), HasSubstr("must be a string"));
  EXPECT_THAT(error(Json::array({Needle()}), "tokens=3000"), HasSubstr("fewer tokens"));
}

}  // namespace
}  // namespace midscope
