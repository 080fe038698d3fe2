// SPDX-License-Identifier: MIT
// Contracts: published lines of multiple choice become the same prompts, continuations and scores
// as in the Language Model Evaluation Harness (golden/choices.jsonl, make/make_choices.py); a fault
// in a file is an error with its name and line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data/tasks/choices.h"
#include "data/tasks/task.h"
#include "tests/data/support/task_files.h"
#include "tests/data/support/task_passages.h"
#include "tests/paths.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Choices : public TaskFiles {
 protected:
  std::unique_ptr<Task> Make(const std::string& parameters, const std::string& text) {
    return MakeTask("choices:" + parameters + ",file=" + Write(text), 1);
  }
  std::string Fails(const std::string& dataset, const std::string& text) {
    return ErrorOf([&] { Make("dataset=" + dataset, text); }, ErrorKind::kFailure);
  }
};

std::vector<nlohmann::json> Golden() {
  std::ifstream file(MIDSCOPE_TESTS "/data/golden/choices.jsonl");
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(nlohmann::json::parse(line));
  return lines;
}

TEST_F(Choices, PromptsAndContinuationsAreThoseOfTheHarness) {
  const std::vector<nlohmann::json> golden = Golden();
  ASSERT_GE(golden.size(), 14u);
  for (const nlohmann::json& line : golden) {
    SCOPED_TRACE(line.dump());
    const std::string dataset = line["dataset"];
    const TaskSample sample = Make("dataset=" + dataset, line["line"].dump())->Make(0, 1);
    ASSERT_EQ(sample.choices.size(), line["texts"].size());
    bool first = true;
    for (size_t i = 0; i < sample.choices.size(); ++i) {
      const TaskChoice& choice = sample.choices[i];
      EXPECT_EQ(choice.prompt.empty() ? sample.text : choice.prompt, line["prompts"][i]);
      EXPECT_EQ(choice.text, line["texts"][i]);
      EXPECT_EQ(choice.right, line["right"][i] == 1);
      if (!choice.right || !first) continue;
      EXPECT_EQ(sample.text, line["prompts"][i]);
      EXPECT_EQ(sample.answer, choice.text);
      first = false;
    }
  }
}

TEST_F(Choices, ScoresAreThoseOfTheHarness) {
  for (const nlohmann::json& line : Golden()) {
    const std::string dataset = line["dataset"];
    const auto& sets = ChoiceSets();
    const auto set = std::find_if(sets.begin(), sets.end(),
                                  [&](const ChoiceSet& each) { return each.name == dataset; });
    ASSERT_NE(set, sets.end());
    const std::vector<TaskChoice> choices =
        Make("dataset=" + dataset, line["line"].dump())->Make(0, 1).choices;
    for (const nlohmann::json& one : line["cases"]) {
      const auto nll = one["nll"].get<std::vector<double>>();
      for (const ChoiceRule rule :
           {ChoiceRule::kLikeliest, ChoiceRule::kLikeliestPerCharacter, ChoiceRule::kRightShare}) {
        EXPECT_NEAR(ScoreChoices(rule, choices, nll), one[ChoiceRuleName(rule)].get<double>(),
                    1e-12)
            << line["line"].dump() << nlohmann::json(nll).dump() << ChoiceRuleName(rule);
      }
    }
  }
}

TEST_F(Choices, EqualChoicesAreWrongAndSharesSurviveLargeNumbers) {
  const std::vector<TaskChoice> two = {{" a", true}, {" bb", false}};
  const std::vector<double> equal = {5, 5};
  EXPECT_EQ(ScoreChoices(ChoiceRule::kLikeliest, two, equal), 0);
  EXPECT_EQ(ScoreChoices(ChoiceRule::kLikeliestPerCharacter, two, equal), 0);
  const std::vector<double> large = {5000, 5000};
  EXPECT_EQ(ScoreChoices(ChoiceRule::kRightShare, two, large), 0.5);
}

constexpr const char* kPiqa = R"({"goal": "G", "sol1": "one", "sol2": "two", "label": 1})"
                              "\n"
                              R"({"goal": "H", "sol1": "three", "sol2": "four", "label": 0})"
                              "\n";

TEST_F(Choices, ExamplesAreTheFirstLinesOfTheirFile) {
  const std::string examples = Write(kPiqa, "train.jsonl");
  const TaskSample sample = Make("dataset=piqa,shots=2,examples=" + examples, kPiqa)->Make(0, 1);
  EXPECT_EQ(sample.text,
            "Question: G\nAnswer: two\n\nQuestion: H\nAnswer: three\n\nQuestion: G\nAnswer:");
  EXPECT_EQ(Passage(sample, "question"), "Question: G\nAnswer:");
  const std::string wino =
      R"({"sentence": "A _ b.", "option1": "x", "option2": "y", "answer": "2"})"
      "\n";
  const TaskSample gap =
      Make("dataset=winogrande,shots=1,examples=" + Write(wino, "w.jsonl"), wino)->Make(0, 1);
  EXPECT_EQ(gap.choices[0].prompt, "A y b.\n\nA x");
  EXPECT_EQ(gap.text, "A y b.\n\nA y");
  EXPECT_THAT(ErrorOf([&] { Make("dataset=piqa,shots=1", kPiqa); }), HasSubstr("examples=FILE"));
  EXPECT_THAT(ErrorOf([&] { Make("dataset=piqa,shots=3,examples=" + examples, kPiqa); }),
              HasSubstr("shots=2"));
}

TEST_F(Choices, LabelsMayStandBesideTheQuestions) {
  const std::string lines = "{\"goal\": \"G\", \"sol1\": \"one\", \"sol2\": \"two\"}\n";
  const auto make = [&](const std::string& labels) {
    return Make("dataset=piqa,labels=" + Write(labels, "labels.lst"), lines + lines);
  };
  EXPECT_EQ(make("0\n1\n")->Make(1, 1).answer, " two");
  EXPECT_EQ(make("0\r\n1")->Make(0, 1).answer, " one");
  const auto fails = [&](const std::string& labels) {
    return ErrorOf([&] { make(labels); }, ErrorKind::kFailure);
  };
  EXPECT_THAT(fails("0\n"),
              AllOf(HasSubstr("a,b.jsonl, line 2"), HasSubstr("labels is too short")));
  EXPECT_THAT(fails("0\n1\n1\n"), HasSubstr("2 questions, and 3 labels"));
  EXPECT_THAT(fails("0\n2\n"), HasSubstr("labels.lst, line 2: the label must be 0 or 1"));
  EXPECT_THAT(Fails("piqa", lines), AllOf(HasSubstr("line 1"), HasSubstr("no label")));
}

TEST_F(Choices, DamagedLinesAreErrorsWithNameAndLine) {
  EXPECT_THAT(Fails("arc", R"({"question": "Q", "choices": {"text": ["a"], "label": ["A", "B"]},)"
                           R"( "answerKey": "A"})"),
              AllOf(HasSubstr("a,b.jsonl, line 1"), HasSubstr("number of labels")));
  EXPECT_THAT(Fails("arc", R"({"question": {"stem": "Q", "choices": [1]}, "answerKey": "A"})"),
              HasSubstr("question.choices"));
  EXPECT_THAT(Fails("arc", R"({"question": "Q", "choices": {"text": ["a"], "label": ["A"]},)"
                           R"( "answerKey": "C"})"),
              HasSubstr("answerKey"));
  EXPECT_THAT(Fails("winogrande",
                    R"({"sentence": "no gap", "option1": "x", "option2": "y", "answer": "1"})"),
              HasSubstr("without _"));
  EXPECT_THAT(
      Fails("winogrande", R"({"sentence": "A _ b", "option1": "x", "option2": "y", "answer": ""})"),
      HasSubstr("label outside its choices"));
  EXPECT_THAT(Fails("hellaswag",
                    R"({"activity_label": "a", "ctx_a": "b", "ctx_b": "c", "endings": ["d", "e"],)"
                    R"( "label": 2})"),
              HasSubstr("label outside its choices"));
  EXPECT_THAT(
      Fails("hellaswag",
            R"({"activity_label": "a", "ctx_a": "b", "ctx_b": "c", "endings": ["d", "[e]"],)"
            R"( "label": 0})"),
      HasSubstr("choice without text"));
  EXPECT_THAT(Fails("truthfulqa-mc2", R"({"question": "Q", "mc2_targets": {"yes": 1}})"),
              HasSubstr("one that is wrong"));
  EXPECT_THAT(
      Fails("truthfulqa-mc1",
            R"({"question": "Q", "mc1_targets": {"choices": ["a", "b"], "labels": [1, 2]}})"),
      HasSubstr("must be 0 or 1"));
  EXPECT_THAT(Fails("boolq", R"({"question": "q", "passage": "p", "answer": 7})"),
              HasSubstr("label outside its choices"));
}

// The time for a line of opening brackets must not grow with the square of its length.
TEST_F(Choices, BracketsThatDoNotCloseAreReadOnce) {
  const std::string open(1 << 20, '[');
  const nlohmann::json line = {{"activity_label", "a"},
                               {"ctx_a", open},
                               {"ctx_b", ""},
                               {"label", 0},
                               {"endings", {"b", open}}};
  EXPECT_EQ(Make("dataset=hellaswag", line.dump())->Make(0, 1).choices[1].text, " " + open);
}

TEST_F(Choices, OwnQuestionsMayHaveThem) {
  const std::string line =
      R"({"context": ["p", "q"], "gold": 0, "question": "Who?", "answers": ["Ann Lee", "A. Lee"],)"
      R"( "choices": ["A. Lee", " Bo", "Ann Lee"], "choice_rule": "right-share"})";
  const auto task = MakeTask("jsonl:file=" + Write(line), 1);
  EXPECT_TRUE(task->scored_by_likelihood());
  const TaskSample sample = task->Make(0, 2);
  EXPECT_EQ(sample.answer, " Ann Lee");
  EXPECT_THAT(sample.choices, ElementsAre(TaskChoice{" A. Lee", true}, TaskChoice{" Bo", false},
                                          TaskChoice{" Ann Lee", true}));
  EXPECT_EQ(sample.choice_rule, ChoiceRule::kRightShare);
  const auto fails = [&](const std::string& text) {
    return ErrorOf([&] { MakeTask("jsonl:file=" + Write(text), 1); }, ErrorKind::kFailure);
  };
  EXPECT_THAT(fails(R"({"question": "Q", "answers": ["a"], "choices": ["b", "c"]})"),
              HasSubstr("none of its choices"));
  EXPECT_THAT(fails(R"({"question": "Q", "answers": ["a"], "choices": ["a"]})"),
              HasSubstr("at least one wrong choice"));
  EXPECT_THAT(fails(R"({"question": "Q", "answers": ["a"], "choice_rule": "likeliest"})"),
              HasSubstr("no choices"));
  EXPECT_THAT(
      fails(R"({"question": "Q", "answers": ["a"], "choices": ["a", "b"], "choice_rule": "x"})"),
      AllOf(HasSubstr("line 1"), HasSubstr("choice rule 'x' is unknown")));
  EXPECT_THAT(fails(R"({"question": "Q", "answers": ["a"], "choices": ["a", "b"]})"
                    "\n"
                    R"({"question": "Q", "answers": ["a"]})"),
              AllOf(HasSubstr("line 2"), HasSubstr("choices, by the same rule")));
}

}  // namespace
}  // namespace midscope
