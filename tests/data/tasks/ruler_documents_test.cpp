// SPDX-License-Identifier: MIT
// Contract: files of SQuAD and HotpotQA become RULER's qa prompts, with its template to the byte,
// filled to the given number of tokens (a token is a word here), with the answering documents at
// the depth and the others in order; one of the answers suffices for the score; other files are
// rejected.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "data/tasks/task.h"
#include "tests/data/support/task_files.h"
#include "tests/data/support/task_passages.h"

namespace midscope {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Json = nlohmann::ordered_json;

std::string Paragraph(int article, int number) {
  return "Paragraph " + std::to_string(number) + " of article " + std::to_string(article) +
         " says a few words.";
}

// Three articles of six paragraphs.
Json Squad() {
  Json data = Json::array();
  for (int article = 0; article < 3; ++article) {
    Json paragraphs = Json::array();
    for (int number = 0; number < 6; ++number) {
      const std::string question =
          "What of " + std::to_string(article) + "-" + std::to_string(number) + "?";
      Json qas =
          Json::array({{{"question", question},
                        {"is_impossible", false},
                        {"answers", Json::array({{{"text", "a few"}}, {{"text", "words"}}})}},
                       {{"question", "Never?"}, {"is_impossible", true}}});
      paragraphs.push_back({{"context", Paragraph(article, number)}, {"qas", std::move(qas)}});
    }
    data.push_back({{"title", "T"}, {"paragraphs", std::move(paragraphs)}});
  }
  return {{"version", "v2.0"}, {"data", std::move(data)}};
}

Json Hotpot() {
  Json items = Json::array();
  for (int i = 0; i < 3; ++i) {
    Json context = Json::array();
    for (int n = 0; n < 4; ++n) {
      const std::string title = "Title " + std::to_string(i) + std::to_string(n);
      context.push_back(Json::array({title, Json::array({"One sentence.", " Another one."})}));
    }
    const std::string first = "Title " + std::to_string(i);
    items.push_back({{"question", "Which?"},
                     {"answer", "yes"},
                     {"context", std::move(context)},
                     {"supporting_facts", Json::array({Json::array({first + "1", 0}),
                                                       Json::array({first + "3", 1})})}});
  }
  return items;
}

class RulerDocuments : public TaskFiles {
 protected:
  std::unique_ptr<Task> Make(const Json& json, int64_t tokens) {
    return MakeTask(
        "ruler-qa:tokens=" + std::to_string(tokens) + ",file=" + Write(json.dump(), "file.json"), 1,
        {}, CountWords);
  }
};

TEST_F(RulerDocuments, HaveTheTemplate) {
  const auto task = Make(Squad(), 200);
  EXPECT_EQ(task->samples(), 18);
  const TaskSample sample = task->Make(7, 1);
  EXPECT_THAT(sample.text,
              StartsWith("Answer the question based on the given documents. Only give me the "
                         "answer and do not output any other words.\n\nThe following are given "
                         "documents.\n\nDocument 1:\nParagraph 1 of article 1 says a few "
                         "words.\n\nDocument 2:\n"));
  EXPECT_THAT(sample.text,
              EndsWith("words.\n\nAnswer the question based on the given documents. Only give me "
                       "the answer and do not output any other words.\n\nQuestion: What of 1-1? "
                       "Answer:"));
  EXPECT_EQ(sample.answer, " a few");
  EXPECT_EQ(ScoreGenerated(sample, "Some Words."), 1);
  EXPECT_EQ(ScoreGenerated(sample, "none"), 0);
}

TEST_F(RulerDocuments, FillTheirTokensWithTheArticleFirst) {
  for (const int64_t tokens : {120, 160, 220}) {
    const auto task = Make(Squad(), tokens);
    for (const int64_t sample : {0, 9}) {
      const TaskSample made = task->Make(sample, 51);
      const int64_t words = CountWords(made.text) + 32;
      EXPECT_LE(words, tokens);
      // There is no space for another document of eleven words.
      EXPECT_GT(words, tokens - 12) << tokens;
      const std::string article = "of article " + std::to_string(sample / 6);
      int64_t documents = 0;
      for (size_t at = made.text.find("\nParagraph"); at != std::string::npos;
           at = made.text.find("\nParagraph", at + 1)) {
        ++documents;
      }
      int64_t own = 0;
      for (size_t at = made.text.find(article); at != std::string::npos;
           at = made.text.find(article, at + 1)) {
        ++own;
      }
      EXPECT_EQ(own, std::min<int64_t>(documents, 6));
    }
  }
}

TEST_F(RulerDocuments, OnlyTheGoldOnesMove) {
  const auto task = Make(Squad(), 220);
  const auto order = [&](int64_t place) {
    const TaskSample made = task->Make(4, place);
    std::vector<std::string> documents;
    size_t gold = 0;
    for (size_t at = made.text.find("\nParagraph"); at != std::string::npos;
         at = made.text.find("\nParagraph", at + 1)) {
      documents.push_back(made.text.substr(at + 1, made.text.find('\n', at + 1) - at - 1));
      if (documents.back() == Paragraph(0, 4)) gold = documents.size();
    }
    std::erase(documents, Paragraph(0, 4));
    return std::pair(gold, documents);
  };
  const auto first = order(1);
  const auto middle = order(51);
  const auto last = order(101);
  EXPECT_EQ(first.second, middle.second);
  EXPECT_EQ(first.second, last.second);
  EXPECT_EQ(first.first, 1u);
  EXPECT_EQ(middle.first, (first.second.size() + 1) / 2 + 1);
  EXPECT_EQ(last.first, last.second.size() + 1);
  EXPECT_THAT(Passage(task->Make(4, 51), "gold"), EndsWith(Paragraph(0, 4)));
}

TEST_F(RulerDocuments, OfHotpotTheSupportingOnesAreGold) {
  const auto task = Make(Hotpot(), 200);
  EXPECT_EQ(task->samples(), 3);
  const TaskSample made = task->Make(1, 1);
  EXPECT_EQ(Passage(made, "gold"),
            "Document 1:\nTitle 11\nOne sentence. Another one.\n\nDocument 2:\nTitle 13\nOne "
            "sentence. Another one.");
  for (const char* own : {"Title 10\n", "Title 12\n"}) EXPECT_THAT(made.text, HasSubstr(own));
  EXPECT_EQ(made.answer, " yes");
}

TEST_F(RulerDocuments, SayWhatIsWrong) {
  const auto error = [&](const Json& json) {
    return ErrorOf([&] { Make(json, 200); }, ErrorKind::kFailure);
  };
  EXPECT_THAT(error(Json::object()), HasSubstr("the form of SQuAD or of HotpotQA"));
  EXPECT_THAT(error(Json::array()), HasSubstr("at least one question"));
  Json hotpot = Hotpot();
  hotpot[2]["supporting_facts"] = Json::array();
  EXPECT_THAT(error(hotpot), HasSubstr("question 3"));
  hotpot[0]["context"][1] = "text";
  EXPECT_THAT(error(hotpot), HasSubstr("question 1"));
  Json squad = Squad();
  squad["data"][1]["paragraphs"][0]["qas"][0]["answers"] = Json::array();
  EXPECT_THAT(error(squad), HasSubstr("article 2"));
  EXPECT_THAT(ErrorOf([&] { Make(Squad(), 100)->Make(0, 1); }, ErrorKind::kUsage), "");
  EXPECT_THAT(ErrorOf([&] { Make(Hotpot(), 100); }), HasSubstr("more tokens"));
}

}  // namespace
}  // namespace midscope
