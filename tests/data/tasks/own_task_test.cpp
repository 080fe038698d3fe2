// SPDX-License-Identifier: MIT
// The user's own questions as retrieval logs have them: documents as texts or objects, other names
// of fields, lines of different lengths, several gold documents, both ways of counting, CSV, and
// files that grow.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "tests/data/support/task_files.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class OwnTask : public TaskFiles {
 protected:
  std::unique_ptr<Task> Own(const std::string& text, const std::string& name = "log.jsonl") const {
    return MakeTask(Write(text, name), 1);
  }
  std::string Refused(const std::string& text, const std::string& name = "log.jsonl") const {
    return ErrorOf([&] { Own(text, name); }, ErrorKind::kFailure);
  }
};

constexpr const char* kLog =
    R"({"documents": [{"title": "Mill", "text": "It belongs to Tom.", "score": 0.9},)"
    R"( {"page_content": "The inn belongs to Ann.", "isgold": true}, "The farm is Sue's."],)"
    R"( "query": "Who owns the inn?", "answer": "Ann", "user": 7})"
    "\n"
    R"({"passages": ["Bo has a cat.", {"text": "Cy has a dog.", "isgold": true}],)"
    R"( "query": "Who has a dog?", "answers": ["Cy"]})";

TEST_F(OwnTask, ReadsDocumentsAsTextsAndObjectsUnderTheirUsualNames) {
  const auto task = Own(kLog);
  const TaskSample sample = task->Make(0, 1);
  EXPECT_EQ(sample.text,
            "The inn belongs to Ann.\nMill: It belongs to Tom.\nThe farm is Sue's.\n\n"
            "Question: Who owns the inn?\nAnswer:");
  EXPECT_EQ(sample.answer, " Ann");
  EXPECT_THAT(task->notes(), ElementsAre(HasSubstr("fields without effect: user")));
}

TEST_F(OwnTask, PlacesOfLinesOfDifferentLengthsAreShares) {
  const auto task = Own(kLog);
  EXPECT_TRUE(task->by_depth());
  EXPECT_EQ(task->pieces(), kDepthPlaces);
  const auto ranks = [&](int64_t sample) {
    std::vector<int64_t> all;
    for (const int64_t percent : {0, 25, 50, 75, 100}) {
      const TaskSample made = task->Make(sample, percent + 1);
      EXPECT_EQ(made.place, percent + 1);
      EXPECT_EQ(Passage(made, "gold"), Passage(made, "piece " + std::to_string(made.gold_rank)));
      all.push_back(made.gold_rank);
    }
    return all;
  };
  EXPECT_THAT(ranks(0), ElementsAre(1, 2, 2, 3, 3));  // 1 + floor(share * 2 + 0.5)
  EXPECT_THAT(ranks(1), ElementsAre(1, 1, 2, 2, 2));
}

TEST_F(OwnTask, TheFirstOfSeveralGoldDocumentsMoves) {
  const auto task = Own(
      R"({"context": ["a", "b", "c", "d"], "gold": [2, 4], "question": "?", "answers": ["b"]})");
  EXPECT_EQ(task->pieces(), 4);
  const TaskSample first = task->Make(0, 1);
  EXPECT_THAT(first.text, HasSubstr("b\na\nc\nd\n"));
  EXPECT_EQ(Passage(first, "gold"), "b");
  EXPECT_EQ(Passage(first, "gold 2"), "d");
  const TaskSample last = task->Make(0, 4);
  EXPECT_THAT(last.text, HasSubstr("a\nc\nd\nb\n"));
  EXPECT_EQ(Passage(last, "gold 2"), "d");
  EXPECT_EQ(Passage(last, "piece 3"), "d");
}

std::string Line(const std::string& gold, const std::string& more = "") {
  return R"({"context": ["ann", "bo", "cy"], "question": "?", "answers": ["bo"], "gold": )" + gold +
         more + "}\n";
}

TEST_F(OwnTask, TheNumbersOfTheFileTellWhereGoldIsCountedFrom) {
  EXPECT_EQ(Passage(Own(Line("3"))->Make(0, 1), "gold"), "cy");
  EXPECT_EQ(Passage(Own(Line("0") + Line("1"))->Make(1, 1), "gold"), "bo");
  EXPECT_THAT(Refused(Line("0") + Line("3")),
              AllOf(HasSubstr("line 1"), HasSubstr("counted from 0"), HasSubstr("line 2")));
}

TEST_F(OwnTask, NumbersThatFitBothAreRefusedWithTheCountOfAnswers) {
  EXPECT_THAT(
      Refused(Line("1") + Line("2")),
      AllOf(HasSubstr("1 of 2 lines by the first and in 1 by the second"), HasSubstr("gold_from")));
  EXPECT_EQ(Passage(Own(Line("2", R"(, "gold_from": 1)"))->Make(0, 1), "gold"), "bo");
  EXPECT_EQ(Passage(Own(Line("1", R"(, "gold_from": 0)"))->Make(0, 1), "gold"), "bo");
  const std::string path = Write(Line("1"), "one.jsonl");
  EXPECT_EQ(Passage(MakeTask("jsonl:gold_from=0,file=" + path, 1)->Make(0, 1), "gold"), "bo");
  EXPECT_THAT(Refused(Line("0", R"(, "gold_from": 1)")), HasSubstr("counted from 1"));
}

TEST_F(OwnTask, LinesWithoutTheAnswerInAGoldDocumentAreCounted) {
  EXPECT_THAT(Own(Line("3") + Line("2") + Line("1"))->notes(),
              ElementsAre(AllOf(HasSubstr("in 2 of 3 lines no answer occurs in a gold document"),
                                HasSubstr("the first is"), HasSubstr("line 1"))));
  EXPECT_THAT(Own(Line("2") + Line("[3, 2]"))->notes(), IsEmpty());
}

TEST_F(OwnTask, NearlyKnownFieldsAndTwoNamesOfOneFieldAreRefused) {
  EXPECT_THAT(Refused(R"({"documnets": ["a"], "question": "?", "answers": ["a"]})"),
              HasSubstr("Did you mean 'documents'?"));
  EXPECT_THAT(Refused(R"({"documents": ["a"], "passages": [], "question": "?", "answers": [""]})"),
              AllOf(HasSubstr("'documents'"), HasSubstr("'passages'"), HasSubstr("the same")));
  EXPECT_THAT(Refused(R"({"documents": [{"body_text": "a"}], "question": "?", "answers": ["a"]})"),
              HasSubstr("page_content"));
  EXPECT_THAT(Own(R"({"score": 1, "question": "?", "answers": [42]})")->Make(0, 1).answer, " 42");
}

TEST_F(OwnTask, ReadsCsv) {
  const auto task =
      Own("question,answers,gold,document_1,document_2,document_3\r\n"
          "Who?,\"[\"\"Ann\"\", \"\"A. Lee\"\"]\",3,\"Bo, of\nYork\",\"Cy \"\"X\"\"\",Ann\r\n"
          "\r\n"
          "Which?,007,1,007,b,\r\n",
          "log.csv");
  EXPECT_EQ(task->samples(), 2);
  const TaskSample sample = task->Make(0, 101);
  EXPECT_THAT(sample.text, HasSubstr("Bo, of\nYork\nCy \"X\"\nAnn\n"));
  EXPECT_THAT(sample.answers, ElementsAre("Ann", "A. Lee"));
  EXPECT_THAT(task->Make(1, 1).answers, ElementsAre("007"));
  EXPECT_THAT(task->Make(1, 101).text, HasSubstr("b\n007\n"));
  EXPECT_THAT(Refused("question,answers\na,b,c\n", "log.csv"),
              AllOf(HasSubstr("line 2"), HasSubstr("3 cells"), HasSubstr("double quotes")));
  EXPECT_THAT(Refused("question,answers\n\"a,b\n", "log.csv"), HasSubstr("not closed"));
  EXPECT_THAT(Refused("question,question\na,b\n", "log.csv"), HasSubstr("two columns"));
  EXPECT_THAT(Refused("question,answers\n", "log.csv"), HasSubstr("at least one line"));
  EXPECT_THAT(ErrorOf([] { MakeTask("log.parquet", 1); }, ErrorKind::kUsage), HasSubstr("JSONL"));
}

TEST_F(OwnTask, AFileThatHasGrownKeepsTheHashOfItsFirstBytes) {
  const std::string before = Line("3");
  const std::string path = Write(before, "grows.jsonl");
  const std::string spec = "jsonl:file=" + path;
  const std::string hash = TaskFilesHash(spec);
  const int64_t bytes = *GrowingFileBytes(spec);
  EXPECT_EQ(bytes, std::ssize(before));
  Write(before + Line("3"), "grows.jsonl");
  EXPECT_EQ(TaskFilesHashOf(spec, bytes), hash);
  EXPECT_NE(TaskFilesHash(spec), hash);
  EXPECT_EQ(GrowingFileBytes("list:lines=20"), std::nullopt);
}

}  // namespace
}  // namespace midscope
