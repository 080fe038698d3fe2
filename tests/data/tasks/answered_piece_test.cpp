// SPDX-License-Identifier: MIT
// Which piece's answer a generated text contains, by each task's own rule.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "data/tasks/task.h"
#include "tests/data/support/task_passages.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

// Every piece has an answer that is contained in its passage, and only that text selects the piece.
TEST(AnsweredPiece, IsThePieceThatHoldsTheAnswer) {
  for (const char* spec : {"list:lines=7", "kv:pairs=7", "lines:lines=7", "mdqa:documents=7"}) {
    const auto task = MakeTask(spec, 3);
    for (const int64_t place : {int64_t{1}, int64_t{4}, int64_t{7}}) {
      const TaskSample sample = task->Make(2, place);
      const std::string passage = sample.spans.front().name.substr(
          0, sample.spans.front().name.find(' '));  // the word "line", "pair" or "document"
      ASSERT_EQ(sample.piece_answers.size(), 7u) << spec;
      EXPECT_EQ(" " + sample.piece_answers[static_cast<size_t>(place - 1)], sample.answer);
      for (int64_t rank = 1; rank <= 7; ++rank) {
        const std::string& answer = sample.piece_answers[static_cast<size_t>(rank - 1)];
        EXPECT_THAT(Passage(sample, passage + " " + std::to_string(rank)), HasSubstr(answer));
        EXPECT_EQ(AnsweredPiece(sample, " " + answer), rank) << spec << ": " << answer;
      }
      EXPECT_EQ(AnsweredPiece(sample, ""), 0);
      EXPECT_EQ(AnsweredPiece(sample, " I do not know"), 0);
    }
  }
}

TEST(AnsweredPiece, IsTheGoldPieceWhereTheTextIsRightAndElseTheFirstNamed) {
  TaskSample sample;
  sample.place = 2;
  sample.answers = {"lamp"};
  sample.piece_answers = {"book", "lamp", "bookcase", "chair"};
  sample.generation = {10, AnswerCut::kStrippedFirstLine, AnswerMetric::kSubspan};
  EXPECT_EQ(AnsweredPiece(sample, "a chair and a lamp"), 2);
  EXPECT_EQ(AnsweredPiece(sample, "a chair and a book"), 4);
  EXPECT_EQ(AnsweredPiece(sample, "a Bookcase"), 3);    // contains "book" at the same byte
  EXPECT_EQ(AnsweredPiece(sample, "a book\nlamp"), 1);  // text after the line is ignored
  sample.piece_answers.clear();
  EXPECT_EQ(AnsweredPiece(sample, "lamp"), 0);
}

TEST(AnsweredPiece, TasksWithoutAnswersOfTheirPiecesHaveNone) {
  EXPECT_TRUE(MakeTask("mdqa:documents=3,prompt=closed_book", 1)->Make(0, 1).piece_answers.empty());
}

}  // namespace
}  // namespace midscope
