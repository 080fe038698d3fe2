// SPDX-License-Identifier: MIT
// Contracts: documents that are too long are cut as in the benchmarks' code, and spans are
// adjusted; folders of data sets are one task; LooGLE's timelines are read in both formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/data/support/task_files.h"

namespace midscope {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kPairs =
    R"({"ordered_kv_records": [["k1", "v1"], ["k2", "V2"], ["k3", "v3"]], "key": "k2", "value": "V2"})"
    "\n";

constexpr const char* kDocuments =
    R"({"question": "who wrote it", "answers": ["Ann Lee", "A. Lee"], "ctxs": [)"
    R"({"title": "One", "text": "First.", "isgold": false},)"
    R"({"title": "Two", "text": "By Ann Lee.", "isgold": true, "score": 1.5},)"
    R"({"title": "Three", "text": "Third.", "hasanswer": false}]})"
    "\n";

TEST_F(TaskFiles, AFolderOfSubjectsIsOneTask) {
  const std::filesystem::path tests = folder_ / "test";
  std::filesystem::create_directories(tests);
  std::filesystem::create_directories(folder_ / "dev");
  const std::string first = Write("A1?,1,2,3,4,A\nA2?,1,2,3,4,B\n", "test/anatomy_test.csv");
  Write("B1?,1,2,3,4,C\n", "test/astronomy_test.csv");
  Write("Z1?,1,2,3,4,D\n", "test/own_field_test.csv");
  Write("no test\n", "test/readme.csv");
  for (const char* subject : {"anatomy", "astronomy", "own_field"}) {
    Write(std::string(subject) + "?,1,2,3,4,A\n", std::string("dev/") + subject + "_dev.csv");
  }
  const std::string spec = "mmlu:shots=1,file=" + tests.string();
  const auto task = MakeTask(spec, 1);
  ASSERT_EQ(task->samples(), 4);
  std::vector<std::string> questions;
  std::vector<std::vector<std::string>> groups;
  for (int64_t i = 0; i < 4; ++i) {
    const TaskSample sample = task->Make(i, 1);
    questions.push_back(Passage(sample, "question").substr(0, 3));
    groups.push_back(sample.groups);
  }
  EXPECT_THAT(questions, ElementsAre("A1?", "B1?", "Z1?", "A2?"));
  EXPECT_THAT(groups, ElementsAre(ElementsAre("other", "anatomy"), ElementsAre("STEM", "astronomy"),
                                  ElementsAre("own_field"), ElementsAre("other", "anatomy")));
  EXPECT_THAT(task->Make(1, 1).text, HasSubstr("about  astronomy.\n\nastronomy?\n"));
  EXPECT_THAT(MakeTask("mmlu:shots=0,file=" + first, 1)->Make(0, 1).groups, ElementsAre());

  const std::string hash = TaskFilesHash(spec);
  EXPECT_EQ(TaskFilesHash(spec), hash);
  Write("Z1?,1,2,3,4,C\n", "test/own_field_test.csv");
  const std::string changed = TaskFilesHash(spec);
  EXPECT_NE(changed, hash);
  Write("astronomy?,1,2,3,4,B\n", "dev/astronomy_dev.csv");
  EXPECT_NE(TaskFilesHash(spec), changed);
  EXPECT_THAT(ErrorOf([&] { MakeTask("mmlu:shots=0,file=" + folder_.File("dev"), 1); },
                      ErrorKind::kFailure),
              HasSubstr("a file *_test.csv"));
}

TEST_F(TaskFiles, AFolderOfLongBenchHasGroups) {
  std::filesystem::create_directories(folder_ / "data");
  const auto line = [](const std::string& dataset, const std::string& input) {
    return R"({"input": ")" + input + R"(", "context": "c", "answers": ["a"], "dataset": ")" +
           dataset + "\"}\n";
  };
  Write(line("hotpotqa", "h1") + line("hotpotqa", "h2"), "data/hotpotqa.jsonl");
  Write(line("lcc", "l1"), "data/lcc.jsonl");
  const auto task = MakeTask("longbench:file=" + folder_.File("data"), 1);
  ASSERT_EQ(task->samples(), 3);
  EXPECT_THAT(task->Make(0, 1).groups, ElementsAre("multi-document QA", "hotpotqa"));
  EXPECT_THAT(task->Make(1, 1).groups, ElementsAre("code", "lcc"));
  EXPECT_EQ(Passage(task->Make(2, 1), "question"), "h2");
}

TEST_F(TaskFiles, OthersCutTheMiddleOnRequest) {
  const TaskSample sample = Make("kv:tokens=18,", kPairs)->Make(0, 2);
  // The text keeps its first and last nine words.
  EXPECT_EQ(sample.text,
            "Extract the value corresponding to the specified key in"
            "\"v1\",\n \"k2\": \"V2\",\n \"k3\": \"v3\"}\n\nKey: \"k2\"\nCorresponding value:");
  EXPECT_EQ(Passage(sample, "gold"), "\"k2\": \"V2\"");
  EXPECT_EQ(Passage(sample, "pair 1"), "\"v1\"");
  EXPECT_EQ(sample.place, 2);
  EXPECT_THAT(Passage(Make("kv:tokens=10,", kPairs)->Make(0, 1), "gold"), HasSubstr("no span"));
  EXPECT_EQ(sample.cut, true);
  EXPECT_FALSE(sample.gold_cut);
  EXPECT_TRUE(Make("kv:tokens=10,", kPairs)->Make(0, 1).gold_cut);
  EXPECT_EQ(Make("kv:tokens=1000,", kPairs)->Make(0, 1).cut, false);
  EXPECT_EQ(Make("kv:", kPairs)->Make(0, 1).cut, std::nullopt) << "it does not cut";
  EXPECT_THAT(Make("mdqa:tokens=10,", kDocuments)->Make(0, 1).text,
              StartsWith("Write a high-quality answer forQuestion:"));
  EXPECT_THAT(Make("kv:tokens=20,", kPairs)->name(), HasSubstr(",tokens=20,"));
  EXPECT_THAT(ErrorOf([&] { MakeTask("kv:tokens=20", 1); }), HasSubstr("requires a model"));
  EXPECT_THAT(ErrorOf([&] { MakeTask("kv:tokens=20", 1, {}, CountWords); }),
              HasSubstr("requires a model"));
}

TEST_F(TaskFiles, LongBenchCutsTheMiddleOut) {
  const auto task = Make("longbench:tokens=8,",
                         R"({"input": "x", "context": "a b c d e f g h", "answers": ["1"],)"
                         R"("dataset": "samsum"})");
  const TaskSample sample = task->Make(0, 1);
  // As in the public code, halves are cut by tokens and joined without a space.
  EXPECT_EQ(sample.text, "Summarize the dialogue intof g h\n\nx");
  EXPECT_EQ(Passage(sample, "context"), "f g h");
  EXPECT_EQ(Passage(sample, "question"), "x");
}

// The end of the document is replaced by the separator; the query is kept, and so is the prompt's
// length.
TEST_F(TaskFiles, ZeroScrollsTrimsTheDocument) {
  const std::string line =
      R"({"id": "q", "input": "Read it.\n\nÄ b c d e f g\n\nWho?\nAnswer:", "output": "b",)"
      R"( "document_start_index": 10, "document_end_index": 23, "query_start_index": 25,)"
      R"( "query_end_index": 37, "truncation_seperator": "... [cut]\n\n"})";
  const TaskSample whole = Make("zeroscrolls:dataset=qasper,tokens=11,", line)->Make(0, 1);
  EXPECT_EQ(whole.text, "Read it.\n\nÄ b c d e f g\n\nWho?\nAnswer:");
  const TaskSample cut = Make("zeroscrolls:dataset=qasper,tokens=10,", line)->Make(0, 1);
  EXPECT_EQ(cut.text, "Read it.\n\nÄ b c d... [cut]\n\nWho?\nAnswer:");
  EXPECT_EQ(Passage(cut, "context"), "Ä b c d");
  EXPECT_EQ(Passage(cut, "question"), "Who?\nAnswer:");
  EXPECT_EQ(Make("zeroscrolls:dataset=qasper,tokens=3,", line)->Make(0, 1).text,
            "... [cut]\n\nWho?\nAnswer:");
  EXPECT_THAT(Fails("zeroscrolls:dataset=gov_report,tokens=3,",
                    R"({"id": "a", "input": "x", "output": "y"})"),
              AllOf(HasSubstr("line 1"), HasSubstr("truncation_seperator")));
}

// Reads lines in the format of LooGLE's repository, where questions are text printed by Python, and
// in that of the data hub.
TEST_F(TaskFiles, TimelinesOfLoogleAreRead) {
  const std::string python =
      R"({"input": "Long text.", "title": "T", "output": "none", "qa_pairs": "[{'Q': 'Who?', 'A': 'Ann, I think', 'S': ['a'], 'type': 'x'},)"
      R"( {'Q': \"Reorder Ann's:\\nI. B\\u00e9.\\nII. C.\", 'A': 'II,I', 'S': None}]"})"
      "\n"
      R"({"input": "Nothing.", "qa_pairs": "none"})"
      "\n"
      R"({"input": "Other.", "qa_pairs": [{"Q": "Order:\nI. D.\nII. E.", "A": "I,II", "S": []}]})"
      "\n";
  const auto task = Make("timeline:", python);
  ASSERT_EQ(task->samples(), 2);
  const TaskSample sample = task->Make(0, 1);
  EXPECT_EQ(sample.text,
            "Please answer the question based on the long texts below. \nLong text.\nQuestion: "
            "Reorder Ann's:\nI. Bé.\nII. C.\nAnswer: ");
  EXPECT_EQ(sample.answer, "II,I");
  EXPECT_EQ(Passage(sample, "context"), "Long text.");
  EXPECT_EQ(sample.generation.new_tokens, 500);
  EXPECT_EQ(ScoreGenerated(sample, "II was in 1900, then came I."), 1);
  EXPECT_EQ(ScoreGenerated(sample, "I, II"), 0);
  EXPECT_EQ(Passage(task->Make(1, 1), "context"), "Other.");
  EXPECT_THAT(Make("timeline:tokens=6,", python)->Make(0, 1).text, EndsWith("C.\nAnswer:"));
  EXPECT_THAT(Fails("timeline:", R"({"input": "x", "qa_pairs": "[{'Q': 'y"})"),
              AllOf(HasSubstr("line 1"), HasSubstr("cannot be parsed")));
  EXPECT_THAT(Fails("timeline:", R"({"input": "x", "qa_pairs": [3]})"), HasSubstr("qa_pairs"));
  EXPECT_THAT(Fails("timeline:", R"({"input": "x", "qa_pairs": "none"})"),
              HasSubstr("at least one question about a timeline"));
}

}  // namespace
}  // namespace midscope
