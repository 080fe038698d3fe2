// SPDX-License-Identifier: MIT
// Contract: questions over documents have the published prompt; only the gold document contains the
// answer, whether the others are about other subjects, the same subject, or other questions of the
// file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "core/base/error.h"
#include "data/scorers/match_scores.h"
#include "data/tasks/invented_facts.h"
#include "data/tasks/task.h"
#include "tests/data/support/task_files.h"
#include "tests/data/support/task_passages.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST(DocumentTask, InventedPassagesStandInThePublishedPrompt) {
  const TaskSample sample = MakeTask("mdqa:documents=3", 1)->Make(0, 2);
  EXPECT_EQ(sample.text,
            "Write a high-quality answer for the given question using only the provided search "
            "results (some of which might be irrelevant).\n\n" +
                Passage(sample, "document 1") + "\n" + Passage(sample, "document 2") + "\n" +
                Passage(sample, "document 3") + "\n\n" + Passage(sample, "question") + "\nAnswer:");
  EXPECT_THAT(Passage(sample, "document 1"), StartsWith("Document [1](Title: "));
  EXPECT_THAT(Passage(sample, "document 3"), StartsWith("Document [3](Title: "));
  EXPECT_THAT(Passage(sample, "question"), StartsWith("Question: "));
  EXPECT_EQ(Passage(sample, "gold"), Passage(sample, "document 2"));
  EXPECT_EQ(sample.generation.new_tokens, 100);
  EXPECT_EQ(ScoreGenerated(sample, " \n It was" + sample.answer + ".\nYes."), 1);
}

// Every passage is about the subject of the question, and only the gold one contains the answer.
TEST(DocumentTask, HardDistractorsStateOtherFactsOfTheSameSubject) {
  for (int64_t number = 0; number < 20; ++number) {
    const TaskSample plain = MakeTask("mdqa:documents=12", 1)->Make(number, 3);
    const TaskSample hard = MakeTask("mdqa:documents=12,distractors=hard", 1)->Make(number, 3);
    EXPECT_EQ(Passage(hard, "gold"), Passage(plain, "gold"));
    EXPECT_EQ(Passage(hard, "question"), Passage(plain, "question"));
    std::set<std::string> texts;
    const std::string gold = Passage(hard, "gold");
    const std::string title =
        gold.substr(gold.find("(Title"), gold.find(')') - gold.find("(Title"));
    for (int rank = 1; rank <= 12; ++rank) {
      const std::string text = Passage(hard, "document " + std::to_string(rank));
      EXPECT_THAT(text, HasSubstr(title));
      EXPECT_EQ(SubspanExactMatch(text, hard.answers.front()), rank == 3 ? 1 : 0) << text;
      EXPECT_EQ(text.find('{'), std::string::npos) << text;
      texts.insert(text.substr(text.find(title)));
    }
    EXPECT_EQ(texts.size(), 12U);
    EXPECT_EQ(hard.piece_answers.size(), 12U);
  }
  EXPECT_THROW(MakeTask("mdqa:distractors=random", 1), Error);
}

TEST(DocumentTask, OnlyTheGoldPassageHoldsTheAnswer) {
  std::set<std::string> questions;
  for (uint64_t sample = 0; sample < 40; ++sample) {
    SplitMix64 random(7, sample);
    const InventedFacts facts = InventFacts(30, random);
    ASSERT_EQ(facts.passages.size(), 30U);
    std::set<std::string> titles;
    for (size_t i = 0; i < facts.passages.size(); ++i) {
      EXPECT_EQ(SubspanExactMatch(facts.passages[i].text, facts.answer), i == 0 ? 1 : 0)
          << facts.answer << " in " << facts.passages[i].text;
      titles.insert(facts.passages[i].title);
    }
    EXPECT_EQ(titles.size(), 30U);
    questions.insert(facts.question);
  }
  EXPECT_EQ(questions.size(), 40U);
  SplitMix64 random(1);
  EXPECT_EQ(InventFacts(kMostInventedPassages, random).passages.size(), 1000U);
}

TEST_F(TaskFiles, RandomDistractorsComeFromOtherQuestions) {
  const std::string other = R"({"question": "who sang it", "answers": ["Bo Ray"], "ctxs": [)"
                            R"({"title": "Four", "text": "Of A. Lee's.", "isgold": false},)"
                            R"({"title": "Five", "text": "Fifth.", "isgold": false},)"
                            R"({"title": "Six", "text": "By Bo Ray.", "isgold": true}]})"
                            "\n";
  const auto task = Make("mdqa:distractors=random,", std::string(kQuestion) + other);
  EXPECT_THAT(task->name(), HasSubstr("distractors=random"));
  const TaskSample sample = task->Make(0, 2);
  EXPECT_EQ(Passage(sample, "gold"), "Document [2](Title: Two) By Ann Lee.");
  EXPECT_THAT(sample.text, AllOf(HasSubstr("Fifth."), HasSubstr("By Bo Ray."),
                                 Not(HasSubstr("Of A. Lee")), Not(HasSubstr("Third."))));
  EXPECT_EQ(task->Make(0, 2).text, sample.text);
  EXPECT_THAT(task->Make(1, 1).text, HasSubstr("Document [1](Title: Six)"));

  const auto alone = Make("mdqa:distractors=random,", kQuestion);
  EXPECT_THAT(ErrorOf([&] { alone->Make(0, 1); }, ErrorKind::kFailure),
              HasSubstr("only 0 documents"));
  EXPECT_THAT(ErrorOf([&] { Make("mdqa:distractors=hard,", kQuestion); }),
              HasSubstr("there is a file"));
}

}  // namespace
}  // namespace midscope
