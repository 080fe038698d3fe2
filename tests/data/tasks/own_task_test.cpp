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
using ::testing::Contains;
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
  EXPECT_THAT(Refused(Line("1")), HasSubstr("jsonl:gold_from=0,"));  // 'bo' is the second
  EXPECT_THAT(Refused(Line("1") + Line("1")), HasSubstr("2 of 2 lines by the first and in 0"));
  EXPECT_EQ(Passage(Own(Line("1") + Line("1") + Line("1"))->Make(2, 1), "gold"), "bo");
  EXPECT_EQ(Passage(Own(Line("2") + Line("2") + Line("2"))->Make(0, 1), "gold"), "bo");
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

// Names and spellings that other programs write: RAGAS, DeepEval, LangChain, spreadsheets.
TEST_F(OwnTask, GuessesFieldsAndNotesWhichItTook) {
  const auto task = Own(
      R"({"user_input": "Who owns the inn?", "retrieved_contexts": ["Tom's mill.", "Ann's inn."],)"
      R"( "goldIndex": 1, "reference": "Ann", "response": "Tom"})"
      "\n"
      R"({"user_input": "Who owns the mill?", "retrieved_contexts": ["Tom's mill.", "A."],)"
      R"( "goldIndex": 0, "reference": "Tom"})");
  EXPECT_THAT(task->Make(0, 2).text, HasSubstr("Tom's mill.\nAnn's inn.\n\nQuestion: Who owns"));
  EXPECT_EQ(task->Make(0, 1).answer, " Ann");
  EXPECT_THAT(task->notes(), ElementsAre(AllOf(HasSubstr("read 'goldIndex' as gold"),
                                               HasSubstr("'retrieved_contexts' as documents"),
                                               HasSubstr("'user_input' as question")),
                                         HasSubstr("fields without effect: response")));
  // A known name has precedence, and capitals of a spreadsheet are no mistake.
  EXPECT_THAT(
      Own("ID,Question,Answer,Document 1,input\n1,Who?,Ann,Ann,x\n", "a.csv")->notes(),
      ElementsAre(AllOf(HasSubstr("'Document' as documents"), HasSubstr("'Question' as question")),
                  HasSubstr("fields without effect: ID, input")));
  EXPECT_THAT(Refused(R"({"documents": null, "reply": "a", "question": "?"})"),
              AllOf(HasSubstr("has no 'answers'; its fields"), HasSubstr("'documents' (null)"),
                    HasSubstr("'reply'")));
  EXPECT_THAT(Own(R"({"snippets": ["a"], "question": "?", "answer": "Ann"})")->notes(),
              ElementsAre(HasSubstr("no line has documents")));
}

// DPR: positives are gold and come first; a field with all documents has precedence.
TEST_F(OwnTask, PartsOfTheDocumentsAreGoldOrNot) {
  const std::string positives = R"({"positive_ctxs": [{"title": "Inn", "text": "Ann's."}], )";
  const std::string others =
      R"("negative_ctxs": [{"title": "", "text": "Tom's."}], "hard_negative_ctxs": ["Sue's."], )"
      R"("question": "Whose?", "answers": ["Ann"]})";
  const auto task = Own(positives + others);
  EXPECT_THAT(task->Make(0, 3).text, HasSubstr("Sue's.\nTom's.\nInn: Ann's.\n"));
  EXPECT_EQ(Passage(task->Make(0, 1), "gold"), "Inn: Ann's.");
  EXPECT_THAT(task->notes(),
              ElementsAre(AllOf(HasSubstr("'positive_ctxs' as gold documents"),
                                HasSubstr("'hard_negative_ctxs' as other documents"))));
  const auto whole =
      Own(R"({"ctxs": ["Tom's.", "Ann's."], "gold": "Ann's.", "pos": "NN", )" + others);
  EXPECT_THAT(whole->Make(0, 1).text, HasSubstr("Ann's.\nTom's.\n\n"));
  EXPECT_THAT(whole->notes(), ElementsAre(HasSubstr("hard_negative_ctxs, negative_ctxs, pos")));
}

// The forms of HotpotQA, its copy with columns, MS MARCO with columns, SQuAD, TriviaQA, Haystack,
// LlamaIndex and LangChain.
TEST_F(OwnTask, DocumentsAndAnswersHaveTheFormsOfPublicDataSets) {
  const std::string question = R"(, "question": "Whose is the inn?", )";
  const std::string answer = R"("answer": "Ann"})";
  const std::vector<std::string> lines = {
      R"({"context": [["Mill", ["Tom's.", " Old."]], ["Inn", ["Ann's.", " Big."]]])" + question +
          R"("supporting_facts": [["Inn", 0], ["Inn", 1]], )" + answer,
      R"({"context": {"title": ["Mill", "Inn"], "sentences": [["Tom's."], ["Ann's.", "Big."]]})" +
          question + R"("supporting_facts": {"title": ["Inn"], "sent_id": [0]}, )" + answer,
      R"({"passages": {"passage_text": ["a", "Inn: Ann's. Big."], "is_selected": [0, 1]})" +
          question + answer,
      R"({"source_nodes": [{"node": {"text": "a"}}, {"node": {"text": "Inn: Ann's. Big."}}])" +
          question + R"("gold": 2, "gold_from": 1, )" + answer,
      R"({"documents": ["a", {"kwargs": {"page_content": "Inn: Ann's. Big."}, "isgold": true}])" +
          question + R"("answers": {"text": ["Ann"], "answer_start": [4]}})",
      R"({"documents": ["a", "Inn: Ann's. Big."], "gold": 2, "gold_from": 1)" + question +
          R"("answer": {"value": "Ann", "aliases": ["Anne"]}})",
      R"({"documents": ["a", "Inn: Ann's. Big."], "gold": 2, "gold_from": 1)" + question +
          R"("answers": [{"data": "Ann"}]})",
  };
  for (const std::string& line : lines) {
    const TaskSample sample = Own(line)->Make(0, 2);
    EXPECT_EQ(Passage(sample, "gold"), "Inn: Ann's. Big.") << line;
    EXPECT_EQ(sample.answer, " Ann") << line;
  }
  EXPECT_THAT(Own(R"({"question": "?", "answers": {"text": [], "answer_start": []}})"
                  "\n"
                  R"({"question": "?", "answers": {"text": ["b"], "answer_start": [0]}})")
                  ->notes(),
              ElementsAre(HasSubstr("1 of 2 lines are left out, because they have no answer")));
  EXPECT_THAT(Refused(R"({"messages": []})"),
              HasSubstr("Rename the field with the question to 'question'"));
  EXPECT_THAT(Refused(R"({"query": "?", "result": "a"})"),
              HasSubstr("Rename the field with the right answer to 'answers' (\"answers\": null "
                        "leaves a line out)"));
  EXPECT_THAT(Refused(R"({"question": "?", "answers": ["a"], "gold_id": "x", "sources": ["a"]})"),
              HasSubstr("Rename the field with the documents to 'documents'"));
  EXPECT_THAT(Refused(R"({"question": "?", "answers": [{"score": 1}]})"),
              HasSubstr("it must be named text, value, answer or data"));
}

TEST_F(OwnTask, GoldIsNamedByIdentifierOrText) {
  const std::string documents =
      R"({"documents": [{"doc_id": 7, "text": "a"}, {"doc_id": "x9", "text": "b"}, "c"],)"
      R"( "question": "?", "answers": ["b"], )";
  const auto gold = [&](const std::string& field) {
    return Passage(Own(documents + field + "}")->Make(0, 1), "gold");
  };
  EXPECT_EQ(gold(R"("gold": "x9")"), "b");
  EXPECT_EQ(gold(R"("gold_id": 7)"), "a");
  EXPECT_EQ(gold(R"("gold": ["c", "x9"])"), "c");
  EXPECT_EQ(gold(R"("gold": 3)"), "c");
  EXPECT_THAT(Refused(documents + R"("gold": "x8"})"), HasSubstr("'x8' is neither"));
  EXPECT_EQ(Passage(Own(Line("\"3\""))->Make(0, 1), "gold"), "cy");
}

// Chunks of one document have its identifier: all of them are gold.
TEST_F(OwnTask, AllDocumentsWithANamedIdentifierAreGold) {
  const TaskSample sample =
      Own(R"({"documents": [{"doc_id": 7, "text": "a"}, "c", {"doc_id": 7, "text": "b"}],)"
          R"( "question": "?", "answers": ["b"], "gold_id": 7})")
          ->Make(0, 3);
  EXPECT_EQ(Passage(sample, "gold"), "a");
  EXPECT_EQ(Passage(sample, "gold 2"), "b");
  const std::string line = R"({"documents": [{"id": "x", "text": "a"}, "c"], "question": "?", )";
  EXPECT_EQ(Own(line + R"("answers": ["c"], "gold": ""})" + "\n" + line +
                R"("answers": ["a b"], "gold": "x"})")
                ->samples(),
            1);
}

TEST_F(OwnTask, EmptyTextsAreRefused) {
  EXPECT_THAT(Refused(R"({"documents": ["a", ""], "question": "?", "answers": ["a"]})"),
              AllOf(HasSubstr("line 1"), HasSubstr("an empty document in 'documents'")));
  EXPECT_THAT(Refused(R"({"question": " ", "answers": ["a"]})"),
              HasSubstr("an empty field 'question'"));
  EXPECT_THAT(Refused(" \n"), HasSubstr("one line of JSON. Give"));
  EXPECT_THAT(Refused("7"), HasSubstr("must be an object. A JSONL file has one object per line"));
  EXPECT_THAT(Refused("{\n \"question\": \"?\"\n}\n"), HasSubstr("jq -c . FILE"));
}

TEST_F(OwnTask, LinesWithoutGoldAreLeftOutWithANote) {
  const auto task = Own(Line("null") + Line("3") + Line("[]") + Line("\"dee\""));
  EXPECT_EQ(task->samples(), 1);
  EXPECT_THAT(task->notes(), Contains(AllOf(HasSubstr("3 of 4 lines are left out"),
                                            HasSubstr("the first is"), HasSubstr("line 1"))));
  const auto none = Own(Line("null"));
  EXPECT_THAT(none->notes(), ElementsAre(AllOf(HasSubstr("documents stay where they are"),
                                               HasSubstr("jsonl:gold=answer,file="))));
  EXPECT_THAT(ErrorOf([&] { none->Make(0, 2); }, ErrorKind::kUsage),
              AllOf(HasSubstr("one place"), HasSubstr("gold")));
}

TEST_F(OwnTask, LinesThatStateNoAnswerAreLeftOutWithANote) {
  const auto line = [](const std::string& answer) {
    return R"({"context": ["a", "b"], "gold": 2, "question": "?", "answer": )" + answer + "}\n";
  };
  const auto task = Own(line("null") + line("\"b\"") + line("[]") + line("\"\""));
  EXPECT_EQ(task->samples(), 1);
  EXPECT_THAT(task->notes(), ElementsAre(AllOf(HasSubstr("3 of 4 lines"), HasSubstr("line 1"))));
  EXPECT_THAT(Refused(line("null")), HasSubstr("no line has an answer"));
}

TEST_F(OwnTask, DocumentsWithAnAnswerAreGoldOnRequest) {
  const std::string path =
      Write(Line("null") + Line("3") + R"({"context": ["a"], "question": "?", "answers": ["zz"]})",
            "log.jsonl");
  const auto task = MakeTask("jsonl:gold=answer,file=" + path, 1);
  EXPECT_EQ(task->samples(), 2);
  EXPECT_EQ(Passage(task->Make(0, 3), "gold"), "bo");
  EXPECT_EQ(Passage(task->Make(1, 1), "gold"), "cy");
}

TEST_F(OwnTask, AsManyDocumentsAsRequestedStay) {
  const std::string path = Write(Line("3") + Line("[1, 3]"), "log.jsonl");
  const auto text = [&](int64_t sample, int64_t documents) {
    const auto task =
        MakeTask("jsonl:gold_from=1,documents=" + std::to_string(documents) + ",file=" + path, 1);
    const std::string made = task->Make(sample, 1).text;
    return made.substr(0, made.find("\n\n"));
  };
  EXPECT_EQ(text(0, 2), "cy\nann");
  EXPECT_EQ(text(0, 1), "cy");
  EXPECT_EQ(text(1, 2), "ann\ncy");
  EXPECT_EQ(text(1, 1), "ann\ncy");
  EXPECT_EQ(text(0, 9), "cy\nann\nbo");
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
  EXPECT_THAT(Refused("question;answers\na;b\n", "log.csv"), HasSubstr("semicolons"));
  EXPECT_THAT(Refused("question,answers,documents\na,b,\"['c', 'd']\"\n", "log.csv"),
              AllOf(HasSubstr("line 2"), HasSubstr("['c', 'd']"), HasSubstr("json.dumps")));
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
