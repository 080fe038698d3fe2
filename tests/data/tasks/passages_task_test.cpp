// SPDX-License-Identifier: MIT
// Own texts in a file: sent as they are, with the gold piece moving among the others.
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/error.h"
#include "data/tasks/passages_task.h"
#include "data/tasks/task.h"
#include "tests/support/temp_dir.h"

namespace midscope {
namespace {

using testing::HasSubstr;

PiecesText Example() {
  PiecesText text;
  text.text = "Notes:\none \"x\"\ntwo\n\nQ?";
  text.pieces = {{"", 7, 14}, {"", 15, 18}};
  text.gold = {"gold", 15, 18};
  text.spans = {{"question", 20, 22}};
  text.answer = " yes";
  return text;
}

class PassagesTask : public testing::Test {
 protected:
  std::unique_ptr<Task> Read(const std::string& lines) {
    const std::string path = folder_.File("own.jsonl");
    std::ofstream(path) << lines;
    return MakeTask("passages:file=" + path, 1);
  }
  std::string ErrorOf(const std::string& lines) {
    try {
      Read(lines);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  TempDir folder_;
};

TEST_F(PassagesTask, WhatIsWrittenIsRead) {
  const std::unique_ptr<Task> task = Read(PassagesLine(Example()));
  EXPECT_EQ(task->pieces(), 2);
  EXPECT_EQ(task->samples(), 1);
  const TaskSample there = task->Make(0, 2);
  EXPECT_EQ(there.text, Example().text);
  EXPECT_EQ(there.answer, " yes");
  const TaskSample moved = task->Make(0, 1);
  EXPECT_EQ(moved.text, "Notes:\ntwo\none \"x\"\n\nQ?");
  for (const ByteSpan& span : moved.spans) {
    const std::string words = moved.text.substr(static_cast<size_t>(span.begin),
                                                static_cast<size_t>(span.end - span.begin));
    if (span.name == "gold") EXPECT_EQ(words, "two");
    if (span.name == "question") EXPECT_EQ(words, "Q?");
  }
}

TEST_F(PassagesTask, WithoutPiecesThereIsOnePlace) {
  PiecesText text = Example();
  text.pieces.clear();
  const std::unique_ptr<Task> task = Read(PassagesLine(text) + PassagesLine(text));
  EXPECT_EQ(task->pieces(), 1);
  EXPECT_EQ(task->samples(), 2);
  EXPECT_EQ(task->Make(1, 1).text, text.text);
  EXPECT_EQ(task->Make(1, 1).spans.back().name, "gold");
}

TEST_F(PassagesTask, RefusesWhatItCannotRead) {
  EXPECT_THAT(ErrorOf(R"({"text": "a b", "answer": " "})"), HasSubstr("empty answer"));
  EXPECT_THAT(ErrorOf(R"({"text": "a b", "answer": " c", "gold": [1, 9]})"),
              HasSubstr("inside the text"));
  EXPECT_THAT(ErrorOf(R"({"text": "a b", "answer": " c", "golden": [0, 1]})"), HasSubstr("golden"));
  PiecesText whole = Example();
  whole.pieces.clear();
  EXPECT_THAT(ErrorOf(PassagesLine(Example()) + PassagesLine(whole)),
              HasSubstr("another number of pieces"));
}

}  // namespace
}  // namespace midscope
