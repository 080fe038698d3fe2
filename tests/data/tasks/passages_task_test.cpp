// SPDX-License-Identifier: MIT
// The user's own texts in a file: they are sent unchanged, except that the gold piece is moved
// among the others.
#include "data/tasks/passages_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/support/task_files.h"

namespace midscope {
namespace {

using ::testing::HasSubstr;

PiecesText MarkedText() {
  PiecesText text;
  text.text = "Notes:\none \"x\"\ntwo\n\nQ?";
  text.pieces = {{"", 7, 14}, {"", 15, 18}};
  text.gold = {"gold", 15, 18};
  text.spans = {{"question", 20, 22}};
  text.answer = " yes";
  return text;
}

class PassagesTask : public TaskFiles {
 protected:
  std::unique_ptr<Task> Read(const std::string& lines) const { return Make("passages:", lines); }
};

TEST_F(PassagesTask, WhatIsWrittenIsRead) {
  const std::unique_ptr<Task> task = Read(PassagesLine(MarkedText()));
  EXPECT_EQ(task->pieces(), 2);
  EXPECT_EQ(task->samples(), 1);
  const TaskSample there = task->Make(0, 2);
  EXPECT_EQ(there.text, MarkedText().text);
  EXPECT_EQ(there.answer, " yes");
  const TaskSample moved = task->Make(0, 1);
  EXPECT_EQ(moved.text, "Notes:\ntwo\none \"x\"\n\nQ?");
  for (const ByteSpan& span : moved.spans) {
    const std::string words = moved.text.substr(static_cast<size_t>(span.begin),
                                                static_cast<size_t>(span.end - span.begin));
    if (span.name == "gold") {
      EXPECT_EQ(words, "two");
    }
    if (span.name == "question") {
      EXPECT_EQ(words, "Q?");
    }
  }
}

TEST_F(PassagesTask, WithoutPiecesThereIsOnePlace) {
  PiecesText text = MarkedText();
  text.pieces.clear();
  const std::unique_ptr<Task> task = Read(PassagesLine(text) + PassagesLine(text));
  EXPECT_EQ(task->pieces(), 1);
  EXPECT_EQ(task->samples(), 2);
  EXPECT_EQ(task->Make(1, 1).text, text.text);
  EXPECT_EQ(task->Make(1, 1).spans.back().name, "gold");
}

TEST_F(PassagesTask, RefusesWhatItCannotRead) {
  EXPECT_THAT(Fails("passages:", R"({"text": "a b", "answer": " "})"), HasSubstr("empty answer"));
  EXPECT_THAT(Fails("passages:", R"({"text": "a b", "answer": " c", "gold": [1, 9]})"),
              HasSubstr("inside the text"));
  PiecesText whole = MarkedText();
  whole.pieces.clear();
  EXPECT_THAT(Fails("passages:", PassagesLine(MarkedText()) + PassagesLine(whole)),
              HasSubstr("another number of pieces"));
}

}  // namespace
}  // namespace midscope
