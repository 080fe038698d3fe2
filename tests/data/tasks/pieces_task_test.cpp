// SPDX-License-Identifier: MIT
// Own text whose gold piece is moved: the text between the pieces is unchanged, and spans cover
// their words.
#include "data/tasks/pieces_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "core/base/error.h"
#include "tests/core/support/error_message.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ByteSpan Of(const std::string& text, const std::string& words, const std::string& name = "") {
  const auto begin = static_cast<int64_t>(text.find(words));
  return {name, begin, begin + static_cast<int64_t>(words.size())};
}

PiecesText Three() {
  PiecesText own;
  own.text = "Read: Ann has a cat.\n-- Bo owns gold. ++\nCy.\nWho owns gold?";
  for (const char* piece : {"Ann has a cat.", "Bo owns gold.", "Cy."})
    own.pieces.push_back(Of(own.text, piece));
  own.gold = Of(own.text, "owns gold");
  own.spans = {Of(own.text, "Who owns gold?", "question"), Of(own.text, "cat", "pet"),
               Of(own.text, "++", "sign")};
  own.answer = " Bo";
  return own;
}

std::map<std::string, std::string> Words(const TaskSample& sample) {
  std::map<std::string, std::string> words;
  for (const ByteSpan& span : sample.spans) {
    words[span.name] = sample.text.substr(static_cast<size_t>(span.begin),
                                          static_cast<size_t>(span.end - span.begin));
  }
  return words;
}

TEST(PiecesTask, TheGoldPieceMovesAndTheRestStays) {
  const auto task = MakePiecesTask(Three());
  EXPECT_EQ(task->name(), "");
  EXPECT_EQ(task->pieces(), 3);
  EXPECT_EQ(task->samples(), 1);
  EXPECT_EQ(task->Make(0, 1).text,
            "Read: Bo owns gold.\n-- Ann has a cat. ++\nCy.\nWho owns gold?");
  EXPECT_EQ(task->Make(0, 2).text, Three().text);
  EXPECT_EQ(task->Make(0, 3).text,
            "Read: Ann has a cat.\n-- Cy. ++\nBo owns gold.\nWho owns gold?");
  for (int64_t place = 1; place <= 3; ++place) {
    const TaskSample sample = task->Make(0, place);
    EXPECT_EQ(sample.place, place);
    EXPECT_EQ(sample.answer, " Bo");
    auto words = Words(sample);
    EXPECT_EQ(words["gold"], "owns gold");
    EXPECT_EQ(words["pet"], "cat");
    EXPECT_EQ(words["sign"], "++");
    EXPECT_EQ(words["question"], "Who owns gold?");
    EXPECT_EQ(words["piece " + std::to_string(place)], "Bo owns gold.");
  }
  EXPECT_THROW(task->Make(0, 4), Error);
  EXPECT_THROW(task->Make(1, 1), Error);
}

TEST(PiecesTask, RefusesWhatCannotMove) {
  const auto refusal = [](const PiecesText& own) {
    return test::ErrorMessage([&] { MakePiecesTask(own); });
  };
  PiecesText own = Three();
  own.pieces.resize(1);
  EXPECT_THAT(refusal(own), HasSubstr("at least two"));
  own = Three();
  own.gold = Of(own.text, "Read");
  EXPECT_THAT(refusal(own), HasSubstr("marked as gold"));
  own = Three();
  own.gold = {};
  EXPECT_THAT(refusal(own), HasSubstr("marked as gold"));
  own = Three();
  std::swap(own.pieces[0], own.pieces[1]);
  EXPECT_THAT(refusal(own), HasSubstr("one after another"));
  own = Three();
  own.pieces[2].end = 1000;
  EXPECT_THAT(refusal(own), HasSubstr("beyond the text"));
  own = Three();
  own.spans = {Of(own.text, "cat.\n-- Bo", "both")};
  EXPECT_THAT(refusal(own), HasSubstr("'both'"));
}

TEST(PiecesTask, ParagraphsArePartedByBlankLines) {
  const std::string text = "\none\nstill one \n\n \ntwo\r\n\r\n\nthree";
  std::vector<std::string> words;
  for (const ByteSpan& piece : ParagraphPieces(text)) {
    words.push_back(text.substr(static_cast<size_t>(piece.begin),
                                static_cast<size_t>(piece.end - piece.begin)));
  }
  EXPECT_THAT(words, ElementsAre("one\nstill one", "two", "three"));
  EXPECT_TRUE(ParagraphPieces("").empty());
  EXPECT_TRUE(ParagraphPieces(" \n\n").empty());
}

}  // namespace
}  // namespace midscope
