// SPDX-License-Identifier: MIT
// Contracts: L-Eval's lines become the prompts of its public code, with one sample per pair of a
// line; letters, numbers and topics get the scores of its exam metric (golden/leval.jsonl,
// make/make_leval.py); documents are cut in its steps of 250 words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/tasks/answer_scoring.h"
#include "tests/data/support/task_files.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(LEvalScores, AreThoseOfTheExam) {
  std::ifstream file(MIDSCOPE_TESTS "/data/golden/leval.jsonl");
  int64_t lines = 0;
  for (std::string text; std::getline(file, text); ++lines) {
    const nlohmann::json line = nlohmann::json::parse(text);
    const GenerationRule rule = {1, AnswerCut::kWhole,
                                 ReadMetric("test", line["kind"].get<std::string>())};
    const std::vector<std::string> answers = {line["reference"].get<std::string>()};
    EXPECT_EQ(ScoreAnswer(rule, line["prediction"].get<std::string>(), answers),
              line["score"].get<double>())
        << text;
  }
  EXPECT_GT(lines, 400);
}

class LEvalFiles : public TaskFiles {};

constexpr const char* kLine =
    R"({"input": "one two three", "instructions": ["Which?\nA. x\nB. y", "And?"],)"
    R"( "outputs": ["B", "A. z"], "source": "s", "evaluation": "exam"})"
    "\n";

TEST_F(LEvalFiles, EveryPairIsASample) {
  const auto task = Make("leval:dataset=tpo,", kLine);
  ASSERT_EQ(task->samples(), 2);
  const TaskSample sample = task->Make(0, 1);
  EXPECT_THAT(sample.text, StartsWith("Now you are given a very long document."));
  EXPECT_THAT(sample.text,
              EndsWith("accurate answer. \n\nDocument is as follows. one two three \nQuestion: "
                       "Which?\nA. x\nB. y.  Please directly give answer without any additonal "
                       "output or explanation \nAnswer:"));
  EXPECT_EQ(sample.answer, " B");
  EXPECT_EQ(sample.generation.new_tokens, 512);
  EXPECT_EQ(ScoreGenerated(task->Make(1, 1), " A"), 1);
  EXPECT_EQ(Passage(task->Make(1, 1), "question"), "And?");
}

TEST_F(LEvalFiles, OthersFollowTheDocumentDirectly) {
  const std::string line =
      R"({"input": "Q: 1 + 1?\nA: 2", "instructions": ["Q: 2 + 2?"], "outputs": ["2 + 2. The answer is 4."]})";
  const TaskSample sample = Make("leval:dataset=gsm100,", line)->Make(0, 1);
  EXPECT_THAT(sample.text, EndsWith("_ . \n\nQ: 1 + 1?\nA: 2\n\nQ: 2 + 2?"));
  EXPECT_EQ(ScoreGenerated(sample, "A: it is 4"), 1);
  EXPECT_EQ(ScoreGenerated(sample, "The answer is 5"), 0);
  EXPECT_THAT(Fails("leval:dataset=gsm100,",
                    R"({"input": "x", "instructions": ["y"], "outputs": ["none"]})"),
              AllOf(HasSubstr("line 1"), HasSubstr("cannot be scored")));
  EXPECT_THAT(Fails("leval:", R"({"input": "x", "instructions": ["y"], "outputs": []})"),
              HasSubstr("1 instruction and 0 outputs"));
}

// Words end at spaces, and tokens here at any white space: there are 600 words of two tokens each.
// The first step leaves 500 words (1000 tokens), the second 250.
TEST_F(LEvalFiles, DocumentsLoseTheirEndInSteps) {
  std::string document;
  for (int i = 0; i < 600; ++i) document += (i > 0 ? " w\\n" : "w\\n") + std::to_string(i);
  const std::string line =
      R"({"input": ")" + document + R"(", "instructions": ["q"], "outputs": ["A"]})";
  const std::string cut = Passage(Make("leval:tokens=500,", line)->Make(0, 1), "context");
  EXPECT_THAT(cut, EndsWith("w\n249"));
  EXPECT_EQ(CountWords(cut), 500);
  EXPECT_THAT(Passage(Make("leval:tokens=1200,", line)->Make(0, 1), "context"), EndsWith("w\n599"));
}

}  // namespace
}  // namespace midscope
