// SPDX-License-Identifier: MIT
// Contracts: files of lost-in-the-middle, LongBench and the user become the published prompts, to
// the byte; any fault in a file is an error with its name and line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <zlib.h>

#include <filesystem>
#include <fstream>

#include "data/formats/json_lines.h"
#include "data/tasks/haystack.h"
#include "data/tasks/longbench_formats.h"
#include "data/tasks/task.h"
#include "tests/data/support/task_files.h"

namespace midscope {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kRecords =
    R"({"ordered_kv_records": [["k1", "v1"], ["k2", "V2"], ["k3", "v3"]], "key": "k2", "value": "V2"})"
    "\n";

TEST_F(TaskFiles, KeyValueRecordsBecomeThePublishedPrompt) {
  const auto task = Make("kv:", kRecords);
  EXPECT_EQ(task->pieces(), 3);
  EXPECT_EQ(task->samples(), 1);
  EXPECT_THAT(task->name(), StartsWith("kv:pairs=3,query_aware=0,file="));
  const TaskSample sample = task->Make(0, 3);
  EXPECT_EQ(sample.text,
            "Extract the value corresponding to the specified key in the JSON object below.\n\n"
            "JSON data:\n{\"k1\": \"v1\",\n \"k3\": \"v3\",\n \"k2\": \"V2\"}\n\n"
            "Key: \"k2\"\nCorresponding value:");
  EXPECT_EQ(sample.answer, " V2");
  EXPECT_EQ(Passage(sample, "gold"), "\"k2\": \"V2\"");
  EXPECT_EQ(ScoreGenerated(sample, "\n\nSure: v2"), 1);
  EXPECT_EQ(ScoreGenerated(sample, "v3"), 0);

  const auto cut = Make("kv:pairs=2,query_aware=1,first_place=0,", kRecords);
  EXPECT_EQ(cut->Make(0, 0).text,
            "Extract the value corresponding to the specified key in the JSON object below.\n\n"
            "Key: \"k2\"\n\nJSON data:\n{\"k2\": \"V2\",\n \"k1\": \"v1\"}\n\n"
            "Key: \"k2\"\nCorresponding value:");
  EXPECT_EQ(cut->Make(0, 1).place, 2);
  EXPECT_THAT(ErrorOf([&] { cut->Make(0, 2); }), HasSubstr("from 0 to 1"));
  EXPECT_THAT(ErrorOf([&] { cut->Make(1, 0); }), HasSubstr("has 1 samples"));
}

TEST_F(TaskFiles, QuestionsOverDocumentsBecomeThePublishedPrompt) {
  const auto task = Make("mdqa:", kQuestion);
  EXPECT_EQ(task->pieces(), 3);
  const TaskSample sample = task->Make(0, 1);
  EXPECT_EQ(sample.text,
            "Write a high-quality answer for the given question using only the provided search "
            "results (some of which might be irrelevant).\n\n"
            "Document [1](Title: Two) By Ann Lee.\nDocument [2](Title: One) First.\n"
            "Document [3](Title: Three) Third.\n\nQuestion: who wrote it\nAnswer:");
  EXPECT_EQ(sample.answer, " Ann Lee");
  EXPECT_THAT(sample.answers, ElementsAre("Ann Lee", "A. Lee"));
  EXPECT_EQ(Passage(sample, "gold"), "Document [1](Title: Two) By Ann Lee.");
  EXPECT_EQ(ScoreGenerated(sample, "\nIt was A Lee\n"), 1);
  EXPECT_EQ(ScoreGenerated(sample, "Nobody.\nAnn Lee"), 0);
}

TEST_F(TaskFiles, QuirksOfTheCodesAreThereToChoose) {
  const TaskSample kept =
      Make("mdqa:labels=kept,first_line=plain,first_place=0,", kQuestion)->Make(0, 2);
  EXPECT_THAT(kept.text, HasSubstr("\n\nDocument [1](Title: One) First.\n"
                                   "Document [3](Title: Three) Third.\n"
                                   "Document [2](Title: Two) By Ann Lee.\n\n"));
  EXPECT_EQ(kept.place, 3);
  EXPECT_EQ(ScoreGenerated(kept, "\nAnn Lee"), 0);
  EXPECT_EQ(ScoreGenerated(kept, "Ann Lee"), 1);

  const TaskSample aware =
      Make("mdqa:documents=2,prompt=ordered_randomly,query_aware=1,", kQuestion)->Make(0, 2);
  EXPECT_EQ(aware.text,
            "Write a high-quality answer for the given question using only the provided search "
            "results (some of which might be irrelevant). The search results are ordered "
            "randomly.\n\nQuestion: who wrote it\n\n"
            "Document [1](Title: One) First.\nDocument [2](Title: Two) By Ann Lee.\n\n"
            "Question: who wrote it\nAnswer:");
  const auto closed = Make("mdqa:prompt=closed_book,", kQuestion);
  EXPECT_EQ(closed->pieces(), 1);
  EXPECT_EQ(closed->Make(0, 1).text, "Question: who wrote it\nAnswer:");
}

// The gold document is kept; the others are documents of other questions without an answer.
TEST_F(TaskFiles, LongBenchHasItsDataSetsPromptAndScore) {
  const std::string line =
      R"({"input": "Where {context}?", "context": "Some {input} text.", "answers": ["Rome", "in Italy"],)"
      R"( "dataset": "multifieldqa_en", "all_classes": null, "length": 3, "_id": "x"})"
      "\n";
  const TaskSample sample = Make("longbench:", line)->Make(0, 1);
  EXPECT_EQ(sample.text,
            "Read the following text and answer briefly.\n\nSome {input} text.\n\nNow, answer the "
            "following question based on the above text, only give me the answer and do not output "
            "any other words.\n\nQuestion: Where {context}?\nAnswer:");
  EXPECT_EQ(sample.answer, " Rome");
  EXPECT_TRUE(sample.chat_template);
  EXPECT_EQ(Passage(sample, "context"), "Some {input} text.");
  EXPECT_EQ(sample.generation, (GenerationRule{64, AnswerCut::kWhole, AnswerMetric::kF1}));
  EXPECT_EQ(ScoreGenerated(sample, "In Italy!"), 1);

  const TaskSample trec =
      Make("longbench:",
           R"({"input": "Question: Who?\nType:", "context": "Q", "answers": ["Person"],)"
           R"("dataset": "trec", "all_classes": ["Person", "Date"]})")
          ->Make(0, 1);
  EXPECT_EQ(trec.text,
            "Please determine the type of the question below. Here are some examples of "
            "questions.\n\nQ\nQuestion: Who?\nType:");
  EXPECT_FALSE(trec.chat_template);
  EXPECT_EQ(ScoreGenerated(trec, "\n Person or Date\nPerson"), 0.5);

  const TaskSample count = Make("longbench:", R"({"input": "", "context": "P", "answers": ["7"],)"
                                              R"("dataset": "passage_count"})")
                               ->Make(0, 1);
  EXPECT_THAT(count.text, EndsWith("The final answer is: "));
  EXPECT_EQ(count.answer, "7");  // no leading space, because the text ends in one
}

TEST_F(TaskFiles, LongBenchFormatsAreWholeAndDistinct) {
  EXPECT_EQ(LongBenchFormats().size(), 18U);
  for (const LongBenchFormat& format : LongBenchFormats()) {
    SCOPED_TRACE(format.dataset);
    EXPECT_EQ(&format, FindLongBenchFormat(format.dataset));
    EXPECT_THAT(format.prompt, HasSubstr("{context}"));
    size_t braces = 0;
    for (const char character : format.prompt) braces += character == '{' ? 1 : 0;
    EXPECT_EQ(braces, format.prompt.find("{input}") == std::string::npos ? 1U : 2U);
    EXPECT_EQ(format.prompt.find("  "), std::string::npos);
  }
}

TEST_F(TaskFiles, OwnQuestionsMoveTheirGoldPiece) {
  const auto task = Make(
      "jsonl:", R"({"instruction": "Read.", "context": ["one", "two", "three"], "gold": 2,)"
                R"( "gold_from": 1,)"
                R"( "question": "Which?", "answers": ["two"], "scorer": "exact", "new_tokens": 5})"
                "\r\n\n"
                R"({"context": ["x", "y", "z"], "gold": 1, "question": "?", "answers": ["x"]})");
  EXPECT_EQ(task->pieces(), 3);
  EXPECT_EQ(task->samples(), 2);
  const TaskSample sample = task->Make(0, 3);
  EXPECT_EQ(sample.text, "Read.\n\none\nthree\ntwo\n\nQuestion: Which?\nAnswer:");
  EXPECT_EQ(Passage(sample, "gold"), "two");
  EXPECT_EQ(Passage(sample, "piece 2"), "three");
  EXPECT_EQ(sample.generation,
            (GenerationRule{5, AnswerCut::kStrippedFirstLine, AnswerMetric::kExact, true}));
  EXPECT_EQ(ScoreGenerated(sample, "Two."), 1);
  EXPECT_EQ(task->Make(1, 2).text, "y\nx\nz\n\nQuestion: ?\nAnswer:");

  const auto fixed = Make("jsonl:", R"({"context": [], "question": "?", "answers": ["a"]})");
  EXPECT_EQ(fixed->pieces(), 1);
  EXPECT_EQ(fixed->Make(0, 1).text, "Question: ?\nAnswer:");
}

TEST_F(TaskFiles, AnswersOfOwnQuestionsLoseTheirWhiteSpace) {
  const auto task = Make("jsonl:", R"({"question": "?", "answers": [" Vienna ", "Wien\n"]})");
  EXPECT_EQ(task->Make(0, 1).answer, " Vienna");
  EXPECT_EQ(task->Make(0, 1).answers, (std::vector<std::string>{"Vienna", "Wien"}));
  EXPECT_THAT(Fails("jsonl:", R"({"question": "?", "answers": ["a", " "]})"),
              HasSubstr("empty text among its 'answers'"));
}

TEST_F(TaskFiles, UnknownFieldsOfOwnQuestionsAreRefused) {
  EXPECT_THAT(
      Fails("jsonl:", R"({"context": ["a"], "goldd": 1, "question": "?", "answers": ["x"]})"),
      AllOf(HasSubstr("'goldd'"), HasSubstr("Did you mean 'gold'?")));
  EXPECT_EQ(Make("jsonl:", R"({"id": 7, "question": "?", "answers": ["x"]})")->samples(), 1);
}

TEST_F(TaskFiles, OwnQuestionsTakeATemplate) {
  const std::string form = Write("Notes:\n{context}\n\n{question} {Answer}: \n", "form.txt");
  const std::string line =
      R"({"context": ["x", "y"], "gold": 1, "gold_from": 1, "question": "What?", "answers": ["x"]})";
  const auto task = Make("jsonl:template=" + form + ",", line);
  const TaskSample sample = task->Make(0, 2);
  EXPECT_EQ(sample.text, "Notes:\ny\nx\n\nWhat? {Answer}: ");
  EXPECT_EQ(sample.answer, "x");  // no leading space, because the text ends in one
  EXPECT_EQ(Passage(sample, "gold"), "x");
  EXPECT_EQ(Passage(sample, "question"), "What?");
  EXPECT_THAT(task->name(), HasSubstr("template=" + form));
  const std::string spec = "jsonl:template=" + form + ",file=" + Write(line);
  const std::string before = TaskFilesHash(spec);
  Write("{context}{question}", "form.txt");
  EXPECT_NE(TaskFilesHash(spec), before);
  Write("{context}", "form.txt");
  EXPECT_THAT(Fails("jsonl:template=" + form + ",", line), HasSubstr("{question} 0 times"));
}

// Like the JSONL file itself, templates may have Windows line ends and byte-order marks, which are
// not passed to the model.
TEST_F(TaskFiles, TemplatesFromWindowsGiveTheSamePrompt) {
  const std::string line =
      R"({"context": ["x", "y"], "gold": 1, "gold_from": 1, "question": "What?", "answers": ["x"]})";
  const auto prompt = [&](const std::string& form) {
    const std::string path = Write(form, "form.txt");
    return Make("jsonl:template=" + path + ",", line)->Make(0, 2).text;
  };
  const std::string unix_prompt = prompt("Notes:\n{context}\n{question} In one word:\n");
  EXPECT_EQ(unix_prompt, "Notes:\ny\nx\nWhat? In one word:");
  EXPECT_EQ(prompt("Notes:\r\n{context}\r\n{question} In one word:\r\n"), unix_prompt);
  EXPECT_EQ(prompt("\xEF\xBB\xBFNotes:\n{context}\n{question} In one word:"), unix_prompt);
  EXPECT_EQ(prompt("\xEF\xBB\xBF{context}\r\n\r\n{question}\r\n"), "y\nx\n\nWhat?");
}

TEST_F(TaskFiles, MisspeltPlaceholdersAreRefused) {
  const std::string line = R"({"context": ["x"], "question": "What?", "answers": ["x"]})";
  const auto error = [&](const std::string& form) {
    return Fails("jsonl:template=" + Write(form, "form.txt") + ",", line);
  };
  EXPECT_THAT(error("{instructions}\n{context}{question}"),
              HasSubstr("Did you mean {instruction}?"));
  EXPECT_THAT(error("{Context}{question}"), HasSubstr("Did you mean {context}?"));
  Write("{context}{question}{content}{ x }", "form.txt");  // braces in the text are kept
  EXPECT_EQ(Make("jsonl:template=" + folder_.File("form.txt") + ",", line)->Make(0, 1).text,
            "xWhat?{content}{ x }");
}

TEST_F(TaskFiles, AFieldThatIsGivenTwiceIsRefused) {
  EXPECT_THAT(Fails("jsonl:", R"({"question": "?", "answers": ["a"], "question": "!"})"),
              AllOf(HasSubstr("line 1"), HasSubstr("'question' twice")));
  EXPECT_NO_THROW(
      Make("zeroscrolls:dataset=qasper,",
           R"({"id": "1", "input": "i", "output": "o", "pid": {"a": 1}, "b": {"a": 1}})"));
}

// SQuAD's normaliser reduces some answers to nothing; its subspan score would be 1 for any text.
TEST_F(TaskFiles, OwnAnswersOfArticlesAreCompared) {
  const auto score = [&](const std::string& answer, const std::string& scorer,
                         const std::string& text) {
    const auto task = Make("jsonl:", R"({"question": "?", "answers": [")" + answer +
                                         R"("], "scorer": ")" + scorer + "\"}");
    EXPECT_EQ(task->notes().size(), 1u) << answer;
    EXPECT_THAT(task->notes().front(), HasSubstr("'" + answer + "'"));
    return ScoreGenerated(task->Make(0, 1), text);
  };
  EXPECT_EQ(score("A", "subspan", "B"), 0);
  EXPECT_EQ(score("A", "subspan", "The answer is A."), 1);
  EXPECT_EQ(score("A", "subspan", "It is a bird"), 0);
  EXPECT_EQ(score("The", "subspan", "(The)"), 1);
  EXPECT_EQ(score("...", "subspan", "yes"), 0);
  EXPECT_EQ(score("...", "subspan", "well ..."), 1);
  EXPECT_EQ(score("A", "exact", "the"), 0);
  EXPECT_EQ(score("A", "exact", "a."), 1);
  EXPECT_EQ(score("An an", "f1", "an an"), 1);
  EXPECT_EQ(score("A", "f1", "B"), 0);
  const auto usual = Make("jsonl:", R"({"question": "?", "answers": ["The Beatles"]})");
  EXPECT_TRUE(usual->notes().empty());
  EXPECT_EQ(ScoreGenerated(usual->Make(0, 1), "beatles"), 1);
}

TEST_F(TaskFiles, TextsFromWindowsAreTheSameText) {
  const std::string path = Write("\xEF\xBB\xBFOne two.\r\nThree four.\r\n", "book.txt");
  EXPECT_EQ(ReadHaystack(path), "One two.\nThree four.\n");
}

TEST_F(TaskFiles, MmluFromASpreadsheetIsRead) {
  const auto question = [&](const std::string& rows) {
    return MakeTask("mmlu:shots=0,file=" + Write(rows, "anatomy_test.csv"), 1)->Make(0, 1).text;
  };
  const std::string usual = question("Capital?,1,2,3,4,A\n");
  EXPECT_EQ(question("\xEF\xBB\xBF"
                     "Capital?,1,2,3,4,A\r\n"),
            usual);
  EXPECT_EQ(question("\xEF\xBB\xBF\"Capital?\",1,2,3,4,A\r\n"), usual);
  EXPECT_THAT(ErrorOf([&] { question("Capital?;1;2;3;4;A\r\n"); }, ErrorKind::kFailure),
              HasSubstr("not by semicolons"));
}

TEST_F(TaskFiles, CompressedFilesAreRead) {
  const std::string line = R"({"question": "?", "answers": ["zipped"]})"
                           "\n";
  const std::string path = folder_.File("own.jsonl.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzwrite(file, line.data(), static_cast<unsigned>(line.size()));
  gzclose(file);
  EXPECT_EQ(MakeTask("jsonl:file=" + path, 1)->Make(0, 1).answer, " zipped");
  // The name of the task may be omitted.
  EXPECT_EQ(MakeTask(path, 1)->name(), "jsonl:file=" + path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 9);
  EXPECT_THAT(ErrorOf([&] { MakeTask(path, 1); }, ErrorKind::kFailure),
              HasSubstr("damaged or cut off"));
}

TEST_F(TaskFiles, AFileThatIsNotLastIsTold) {
  EXPECT_THAT(ErrorOf([&] { MakeTask("text:file=/no/such,tokens=512", 1, {}, CountWords); },
                      ErrorKind::kUsage),
              AllOf(HasSubstr("tokens="), HasSubstr("Put file= last")));
}

TEST_F(TaskFiles, ZeroScrollsTakesInputsAsTheyAre) {
  const auto task = Make(
      "zeroscrolls:dataset=squality,",
      R"({"id": "q", "input": "Über.\n\nDoc é.\n\nWhat?", "output": "one two", "document_start_index": 7,)"
      R"( "document_end_index": 13, "query_start_index": 15, "query_end_index": 20})"
      "\n"
      R"({"id": "q", "input": "", "output": "three two", "query_start_index": null})"
      "\n"
      R"({"id": "r", "input": "x", "output": "1"})");
  EXPECT_EQ(task->samples(), 2);
  const TaskSample sample = task->Make(0, 1);
  EXPECT_EQ(sample.text, "Über.\n\nDoc é.\n\nWhat?");
  EXPECT_EQ(Passage(sample, "context"), "Doc é.");
  EXPECT_EQ(Passage(sample, "question"), "What?");
  EXPECT_THAT(sample.answers, ElementsAre("one two", "three two"));
  EXPECT_NEAR(ScoreGenerated(sample, "Three two!"), 1, 1e-12);
  // Each ROUGE score is the best over the references; the mean over samples is computed later.
  const RougeScores rouge = RougeAnswer(sample.generation, "one four two", sample.answers);
  EXPECT_NEAR(rouge.rouge1, 2. * (2. / 3) * 1 / (2. / 3 + 1), 1e-12);
  EXPECT_EQ(rouge.rouge2, 0);
  const auto order = Make("zeroscrolls:dataset=book_sum_sort,",
                          R"({"id": "a", "input": "Order:\n", "output": "2, 1, 3"})");
  EXPECT_EQ(order->Make(0, 1).answer, "2, 1, 3");
  EXPECT_NEAR(ScoreGenerated(order->Make(0, 1), "1, 2, 3"), 2. / 3, 1e-12);
  EXPECT_THAT(
      Fails("zeroscrolls:dataset=gov_report,", R"({"id": "a", "input": "x", "output": null})"),
      HasSubstr("validation"));
  EXPECT_THAT(Fails("zeroscrolls:dataset=space_digest,", R"({"input": "x", "output": "half"})"),
              AllOf(HasSubstr("line 1"), HasSubstr("percentage")));
  EXPECT_THAT(Fails("zeroscrolls:dataset=gov_report,",
                    R"({"input": "x", "output": "y", "query_start_index": 9})"),
              HasSubstr("query_start_index"));
}

TEST_F(TaskFiles, ZeroScrollsTakesTheSetsOfAFolder) {
  Write(R"({"id": "a", "input": "Q1", "output": "Ann"})", "qasper_validation.jsonl");
  std::filesystem::create_directory(folder_ / "gov_report");
  Write(R"({"id": "b", "input": "R1", "output": "one two"})"
        "\n"
        R"({"id": "c", "input": "R2", "output": "three"})",
        "gov_report/validation.jsonl");
  Write("{}", "other.jsonl");
  const std::string folder = folder_.path().string();
  const auto task = MakeTask("zeroscrolls:file=" + folder, 1);
  EXPECT_EQ(task->name(), "zeroscrolls:file=" + folder);
  ASSERT_EQ(task->samples(), 3);
  EXPECT_EQ(task->Make(0, 1).text, "R1");
  EXPECT_THAT(task->Make(0, 1).groups, ElementsAre("ZeroSCROLLS", "gov_report"));
  EXPECT_EQ(task->Make(1, 1).text, "Q1");
  EXPECT_EQ(task->Make(1, 1).generation.metric, AnswerMetric::kF1);
  EXPECT_EQ(task->Make(2, 1).text, "R2");
  const std::string hash = TaskFilesHash("zeroscrolls:file=" + folder);
  Write(R"({"id": "a", "input": "Q2", "output": "Ann"})", "qasper_validation.jsonl");
  EXPECT_NE(TaskFilesHash("zeroscrolls:file=" + folder), hash);
  EXPECT_THAT(ErrorOf([&] { MakeTask("zeroscrolls:dataset=qasper,file=" + folder, 1); }),
              HasSubstr("Leave dataset= out"));
  // One file: its name states the set, or dataset= does.
  const auto one = MakeTask("zeroscrolls:file=" + folder + "/qasper_validation.jsonl", 1);
  EXPECT_THAT(one->name(), StartsWith("zeroscrolls:dataset=qasper,file="));
  EXPECT_TRUE(one->Make(0, 1).groups.empty());
  EXPECT_THAT(ErrorOf([&] { MakeTask("zeroscrolls:file=" + folder + "/other.jsonl", 1); }),
              HasSubstr("Add dataset="));
  Write(R"({"id": "a", "input": "Q1", "output": "Ann"})", "qasper.jsonl");
  EXPECT_THAT(ErrorOf([&] { MakeTask("zeroscrolls:file=" + folder, 1); }, ErrorKind::kFailure),
              HasSubstr("two files are of qasper"));
}

TEST_F(TaskFiles, MultipleChoiceHasMmlusForm) {
  const std::string test = Write("\"Is \"\"it\"\" 1, or\n2?\",1,2,3,4,B\r\n", "big_sums_test.csv");
  Write("One?,1,2,3,4,A\nTwo?,1,2,3,4,B\n", "big_sums_dev.csv");
  const auto task = MakeTask("mmlu:shots=1,file=" + test, 1);
  const TaskSample sample = task->Make(0, 1);
  EXPECT_EQ(sample.text,
            "The following are multiple choice questions (with answers) about  big sums.\n\n"
            "One?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer: A\n\n"
            "Is \"it\" 1, or\n2?\nA. 1\nB. 2\nC. 3\nD. 4\nAnswer:");
  EXPECT_EQ(sample.answer, " B");
  EXPECT_THAT(sample.choices, ElementsAre(TaskChoice{" A"}, TaskChoice{" B", true},
                                          TaskChoice{" C"}, TaskChoice{" D"}));
  EXPECT_EQ(ScoreGenerated(sample, " B. 2"), 1);
  EXPECT_EQ(ScoreGenerated(sample, " A. 1"), 0);
  EXPECT_THAT(ErrorOf([&] { MakeTask("mmlu:shots=3,file=" + test, 1); }), HasSubstr("2 examples"));
  const auto fails = [&](const std::string& text) {
    return ErrorOf([&] { MakeTask("mmlu:shots=0,file=" + Write(text, "t.csv"), 1); },
                   ErrorKind::kFailure);
  };
  EXPECT_THAT(fails("Q,1,2,3,4,E\n"), HasSubstr("question 1"));
  EXPECT_THAT(fails("Q,1,2,3,4,A\nQ,1,2,3,A\n"), HasSubstr("question 2"));
  EXPECT_THAT(fails("Q,1,2,3,4,A\n\"Q"), HasSubstr("line 2: a quoted field does not end"));
  EXPECT_THAT(fails("\"a\"b,1"), HasSubstr("comma"));
  EXPECT_THAT(fails("a\"b,1"), HasSubstr("quote"));
  EXPECT_THAT(fails("\xFF"), HasSubstr("UTF-8"));
  EXPECT_THAT(fails(""), HasSubstr("at least one question"));
}

TEST_F(TaskFiles, DamagedFilesAreErrorsWithNameAndLine) {
  const std::string good = kRecords;
  EXPECT_THAT(Fails("kv:", good + "\n{\"key\": 1"), HasSubstr("a,b.jsonl, line 3: it is not JSON"));
  EXPECT_THAT(Fails("kv:", good + "{\"key\": \"\xFF\"}"),
              AllOf(HasSubstr("line 2"), HasSubstr("UTF-8")));
  EXPECT_THAT(Fails("kv:", good + "[1]"), HasSubstr("line 2: it must be an object"));
  EXPECT_THAT(Fails("kv:", "{\"key\": 3}"), HasSubstr("line 1"));
  EXPECT_THAT(Fails("kv:", R"({"key": "k", "value": "v", "ordered_kv_records": [["k", "w"]]})"),
              HasSubstr("line 1: it has a key and value"));
  EXPECT_THAT(Fails("kv:", R"({"key": "k", "value": "v", "ordered_kv_records": [["k", 1]]})"),
              HasSubstr("[key, value]"));
  EXPECT_THAT(Fails("kv:", R"({"key": "k", "value": "v", "ordered_kv_records": {"k": "v"}})"),
              HasSubstr("not a list"));
  EXPECT_THAT(
      Fails("kv:", good + R"({"key": "k", "value": "v", "ordered_kv_records": [["k", "v"]]})"),
      HasSubstr("line 2: it has 1 records"));
  EXPECT_THAT(Fails("mdqa:", R"({"question": "q", "answers": ["a"], "ctxs": [{"title": "t"}]})"),
              AllOf(HasSubstr("line 1"), HasSubstr("ctxs[0]"), HasSubstr("text")));
  EXPECT_THAT(Fails("mdqa:", R"({"question": "q", "answers": [], "ctxs": []})"),
              HasSubstr("no answers"));
  EXPECT_THAT(Fails("mdqa:", R"({"question": "q", "answers": ["a", 1], "ctxs": []})"),
              HasSubstr("something but texts"));
  EXPECT_THAT(Fails("mdqa:", R"({"question": "q", "answers": ["a"], "ctxs": []})"),
              HasSubstr("isgold"));
  EXPECT_THAT(Fails("mdqa:documents=4,", kQuestion), HasSubstr("3 documents where 4"));
  EXPECT_THAT(
      Fails("longbench:", R"({"input": "", "context": "", "answers": [""], "dataset": "nq"})"),
      HasSubstr("'nq'"));
  EXPECT_THAT(
      Fails("longbench:", R"({"input": "", "context": "", "answers": [""], "dataset": "trec"})"),
      HasSubstr("all_classes"));
  EXPECT_THAT(
      Fails("jsonl:", R"({"context": ["a"], "gold": 2, "question": "?", "answers": ["x"]})"),
      HasSubstr("from 0 to 1"));
  EXPECT_THAT(
      Fails("jsonl:", R"({"context": ["a"], "gold": 1e3, "question": "?", "answers": ["x"]})"),
      HasSubstr("must be an integer"));
  EXPECT_THAT(
      Fails("jsonl:", R"({"context": ["a"], "question": "?", "answers": ["x"], "scorer": "f2"})"),
      AllOf(HasSubstr("line 1"), HasSubstr("Did you mean 'f1'?")));
}

// Python's json module writes these values, which JSON does not define.
TEST_F(TaskFiles, WhatJsonDoesNotHaveIsNamed) {
  const auto line = [](const std::string& question, const std::string& gold) {
    return R"({"context": ["a", "b"], "gold": )" + gold + R"(, "question": ")" + question +
           R"(", "answers": ["x"]})" + "\n";
  };
  EXPECT_THAT(Fails("jsonl:", line("q", "1") + line("q", "NaN")),
              AllOf(HasSubstr("line 2"), HasSubstr("from character 33 on (NaN or Infinity"),
                    HasSubstr("Write null instead")));
  EXPECT_THAT(Fails("jsonl:", line("q", "-Infinity")), HasSubstr("NaN or Infinity"));
  EXPECT_THAT(Fails("jsonl:", line("\\ud83d", "1")),
              AllOf(HasSubstr("line 1"), HasSubstr("half of a character")));
  EXPECT_THAT(Fails("jsonl:", line("\\ude00 x", "1")), HasSubstr("half of a character"));
  // pandas writes integers as floats if a column has missing values.
  EXPECT_EQ(Passage(Make("jsonl:", line("\\ud83d\\ude00", "2.0"))->Make(0, 1), "gold"), "b");
  EXPECT_THAT(Fails("jsonl:", line("q", "1.5")), HasSubstr("must be an integer"));
}

TEST_F(TaskFiles, FilesThatAreNoneOfLinesAreErrors) {
  EXPECT_THAT(Fails("jsonl:", ""), HasSubstr("at least one line of JSON"));
  EXPECT_THAT(Fails("jsonl:", "\n \r\n"), HasSubstr("at least one line of JSON"));
  EXPECT_THAT(Fails("jsonl:", "\x1f\x8b\x08"), HasSubstr("gzip data are damaged or cut off"));
  EXPECT_THAT(Fails("jsonl:", "[{\"question\": \"?\"}]"), HasSubstr("one object per line"));
  EXPECT_THAT(
      ErrorOf([&] { MakeTask("jsonl:file=" + folder_.path().string(), 1); }, ErrorKind::kFailure),
      HasSubstr("a folder"));
  EXPECT_THAT(ErrorOf([&] { MakeTask("jsonl:file=/no/such", 1); }, ErrorKind::kFailure),
              HasSubstr("cannot be opened"));
  // Nesting a hundred thousand levels deep is rejected and does not overflow the stack.
  EXPECT_THAT(Fails("jsonl:", "{\"context\":" + std::string(200000, '[')), HasSubstr("not JSON"));
  const std::string deep =
      "{\"context\":" + std::string(200000, '[') + std::string(200000, ']') + "}";
  EXPECT_THAT(Fails("jsonl:", deep), HasSubstr("line 1: it is nested in more than 64 levels"));
}

TEST_F(TaskFiles, LongLinesStopAtTheirBound) {
  const std::string path = Write("\xEF\xBB\xBF{\"a\": 1}\n{\"b\": \"" + std::string(600, 'x'));
  int lines = 0;
  const auto read = [&](int64_t longest) {
    lines = 0;
    ForEachJsonLine(
        path, [&](const JsonFields& /*fields*/) { ++lines; }, longest);
  };
  EXPECT_THAT(ErrorOf([&] { read(100); }, ErrorKind::kFailure),
              HasSubstr("line 2: it is longer than 100 bytes"));
  EXPECT_EQ(lines, 1);
}

}  // namespace
}  // namespace midscope
