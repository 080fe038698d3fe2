// SPDX-License-Identifier: MIT
#include "data/tasks/question_documents.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_fields.h"
#include "core/tokenizer/prompt_builder.h"

namespace midscope {
namespace {

constexpr uintmax_t kLargestFile = uintmax_t{1} << 30;

// Documents by their text, before it is known where they stand among all.
struct TextQuestion {
  std::string question;
  std::vector<std::string> answers;
  std::vector<std::string> gold;
  std::vector<std::string> own;
  size_t article = 0;  // whose other documents are related; npos: none
};

struct TextQuestions {
  std::vector<TextQuestion> questions;
  std::vector<std::vector<std::string>> articles;
};

std::vector<std::string> AnswerTexts(const JsonFields& question) {
  std::vector<std::string> answers;
  for (const nlohmann::json& answer : question.Array("answers"))
    answers.push_back(JsonFields(answer, question.thing(), "answer").Text("text"));
  if (answers.empty()) question.Fail("has no answers");
  return answers;
}

TextQuestions ReadSquad(const std::string& path, const JsonFields& file) {
  TextQuestions all;
  for (const nlohmann::json& article : file.Array("data")) {
    const size_t number = all.articles.size();
    const JsonFields fields(article, fmt::format("{}, article {}", path, number + 1), "");
    std::vector<std::string>& contexts = all.articles.emplace_back();
    for (const nlohmann::json& paragraph : fields.Array("paragraphs")) {
      const JsonFields one(paragraph, fields.thing(), "paragraph");
      contexts.push_back(one.Text("context"));
      for (const nlohmann::json& asked : one.Array("qas")) {
        const JsonFields question(asked, fields.thing(), "question");
        if (question.Flag("is_impossible", false)) continue;
        all.questions.push_back(
            {question.Text("question"), AnswerTexts(question), {contexts.back()}, {}, number});
      }
    }
  }
  return all;
}

// (title, text): a pair of a text and a list of texts.
std::pair<std::string, std::string> TitledText(const JsonFields& item, const nlohmann::json& pair) {
  const bool titled = pair.is_array() && pair.size() == 2 && pair[0].is_string() &&
                      pair[1].is_array() &&
                      std::all_of(pair[1].begin(), pair[1].end(),
                                  [](const nlohmann::json& text) { return text.is_string(); });
  if (!titled) item.Fail("has a context that is not a title and its sentences");
  std::string text;
  for (const nlohmann::json& sentence : pair[1]) text += sentence.get<std::string>();
  const auto title = pair[0].get<std::string>();
  return {title, title + "\n" + text};
}

TextQuestions ReadHotpot(const std::string& path, const nlohmann::json& items) {
  TextQuestions all;
  for (const nlohmann::json& json : items) {
    const JsonFields item(json, fmt::format("{}, question {}", path, all.questions.size() + 1), "");
    std::set<std::string> titles;
    for (const nlohmann::json& fact : item.Array("supporting_facts")) {
      if (!fact.is_array() || fact.empty() || !fact[0].is_string())
        item.Fail("has a supporting fact that is not a title and a number");
      titles.insert(fact[0].get<std::string>());
    }
    TextQuestion question{item.Text("question"), {item.Text("answer")}, {}, {}, std::string::npos};
    for (const nlohmann::json& pair : item.Array("context")) {
      auto [title, text] = TitledText(item, pair);
      (titles.contains(title) ? question.gold : question.own).push_back(std::move(text));
    }
    if (question.gold.empty()) item.Fail("has no context of its supporting facts");
    all.questions.push_back(std::move(question));
  }
  return all;
}

std::vector<size_t> PlacesOf(const std::vector<std::string>& texts,
                             const std::vector<std::string>& documents) {
  std::vector<size_t> places;
  places.reserve(texts.size());
  for (const std::string& text : texts) {
    const auto found = std::lower_bound(documents.begin(), documents.end(), text);
    places.push_back(static_cast<size_t>(found - documents.begin()));
  }
  return places;
}

}  // namespace

QuestionDocuments ReadQuestionDocuments(const std::string& path) {
  std::error_code ignored;
  const uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > kLargestFile) throw Failure(path, "it is larger than 1 GiB");
  const nlohmann::json json = ParseJson(ReadPromptFile(path), path);
  if (!json.is_array() && !(json.is_object() && json.contains("data"))) {
    throw Failure(path, "it is neither SQuAD's nor HotpotQA's form",
                  "Give dev-v2.0.json of SQuAD or hotpot_dev_distractor_v1.json");
  }
  const TextQuestions read =
      json.is_array() ? ReadHotpot(path, json) : ReadSquad(path, JsonFields(json, path, ""));
  if (read.questions.empty()) throw Failure(path, "it holds no question");
  QuestionDocuments made;
  for (const auto& article : read.articles)
    made.documents.insert(made.documents.end(), article.begin(), article.end());
  for (const TextQuestion& question : read.questions) {
    for (const auto* texts : {&question.gold, &question.own})
      made.documents.insert(made.documents.end(), texts->begin(), texts->end());
  }
  std::sort(made.documents.begin(), made.documents.end());
  made.documents.erase(std::unique(made.documents.begin(), made.documents.end()),
                       made.documents.end());
  std::vector<std::vector<size_t>> articles;
  articles.reserve(read.articles.size());
  for (const auto& article : read.articles) articles.push_back(PlacesOf(article, made.documents));
  for (const TextQuestion& question : read.questions) {
    DocumentQuestion placed{question.question,
                            question.answers,
                            PlacesOf(question.gold, made.documents),
                            PlacesOf(question.own, made.documents),
                            {}};
    if (question.article < articles.size()) placed.related = articles[question.article];
    std::erase(placed.related, placed.gold.front());
    made.questions.push_back(std::move(placed));
  }
  return made;
}

}  // namespace midscope
