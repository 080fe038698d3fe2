// SPDX-License-Identifier: MIT
// RULER's questions over documents (qa_1 of SQuAD, qa_2 of HotpotQA): the gold documents (with the
// answer) among others of the file. At place p, the gold ones are p - 1 percent into the list.
#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/json_fields.h"
#include "core/base/random.h"
#include "core/tokenizer/prompt.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {

namespace {

// Reads questions and documents from files of SQuAD and HotpotQA.

struct DocumentQuestion {
  std::string question;
  std::vector<std::string> answers;
  // Indices of documents: `gold` contain the answer; `own` always accompany the question; `related`
  // are of the same article and used before any others.
  std::vector<size_t> gold;
  std::vector<size_t> own;
  std::vector<size_t> related;
};

struct QuestionDocuments {
  std::vector<std::string> documents;  // unique, sorted
  std::vector<DocumentQuestion> questions;
};

constexpr uintmax_t kLargestFile = uintmax_t{1} << 30;

// A question with the texts of its documents, before these are replaced by indices.
struct TextQuestion {
  std::string question;
  std::vector<std::string> answers;
  std::vector<std::string> gold;
  std::vector<std::string> own;
  size_t article = 0;  // index of the question's article; npos: none
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

// Returns title and text from a JSON pair of a title and a list of sentences.
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

// Reads SQuAD: {"data": [{"paragraphs": [{"context", "qas": [...]}]}]}, without unanswerable
// questions, or HotpotQA: [{"question", "answer", "context": [[title, [sentences]]],
// "supporting_facts": [[title, number]]}]; a document is its title and its text. Throws Error
// (failure), which names the file and the item, if the file can't be read, is larger than 1 GiB or
// has another form.
QuestionDocuments ReadQuestionDocuments(const std::string& path) {
  std::error_code ignored;
  const uintmax_t size = std::filesystem::file_size(path, ignored);
  if (!ignored && size > kLargestFile) throw Failure(path, "it is larger than 1 GiB");
  const nlohmann::json json = ParseJson(ReadPromptFile(path), path);
  if (!json.is_array() && !(json.is_object() && json.contains("data"))) {
    throw Failure(path, "it must have the form of SQuAD or of HotpotQA",
                  "Give dev-v2.0.json of SQuAD or hotpot_dev_distractor_v1.json");
  }
  const TextQuestions read =
      json.is_array() ? ReadHotpot(path, json) : ReadSquad(path, JsonFields(json, path, ""));
  if (read.questions.empty()) throw Failure(path, "it must contain at least one question");
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

constexpr const char* kRulerInstruction =
    "Answer the question based on the given documents. Only give me the answer and do not output "
    "any other words.";
constexpr int64_t kRulerAnswerTokens = 32;

class RulerDocumentsTask : public SpecTask {
 public:
  RulerDocumentsTask(const TaskSpec& spec, const TaskInputs& inputs)
      : SpecTask(spec),
        seed_(inputs.seed),
        tokens_(spec.Number("tokens")),
        count_(NeedCounter(inputs.count_tokens, name_)),
        file_(ReadQuestionDocuments(spec.file())) {
    if (!Fits(0, 0)) {
      throw UsageError("task '" + name_ + "'", "its shortest prompt is longer", "Give more tokens");
    }
    others_ = LargestFitting(std::ssize(file_.documents),
                             [&](int64_t others) { return Fits(0, others); });
  }

  int64_t pieces() const override { return kDepthPlaces; }
  bool by_depth() const override { return true; }
  std::optional<int64_t> samples() const override { return std::ssize(file_.questions); }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    // Uses as many other documents as fit in sample 0, or fewer if this sample's are longer.
    constexpr int64_t kStep = 10;
    int64_t others = others_;
    while (others > 0 && !Fits(sample, others)) others = std::max<int64_t>(0, others - kStep);
    return Build(sample, others, place);
  }

 private:
  bool Fits(int64_t sample, int64_t others) const {
    return count_(Build(sample, others, 1).text) + kRulerAnswerTokens <= tokens_;
  }

  // Returns indices of documents that are not gold, shuffled: `own` ones of the question and
  // `count` more, as far as possible `related` ones.
  std::vector<size_t> Others(const DocumentQuestion& question, int64_t count,
                             SplitMix64 random) const {
    std::vector<size_t> related = question.related;
    const size_t all_related = related.size();
    related = random.Draw(std::move(related), all_related);
    std::vector<size_t> rest;
    rest.reserve(file_.documents.size());
    std::vector<bool> taken(file_.documents.size(), false);
    for (const auto* some : {&question.gold, &question.own, &question.related})
      for (const size_t document : *some) taken[document] = true;
    for (size_t i = 0; i < taken.size(); ++i)
      if (!taken[i]) rest.push_back(i);
    std::vector<size_t> others = question.own;
    const auto add = [&](std::vector<size_t> more) {
      const auto wanted = static_cast<size_t>(count) + question.own.size();
      const size_t room = wanted - std::min(wanted, others.size());
      const size_t drawn = std::min(room, more.size());
      more = random.Draw(std::move(more), drawn);
      others.insert(others.end(), more.begin(), more.end());
    };
    add(std::move(related));
    add(std::move(rest));
    const size_t all = others.size();
    return random.Draw(std::move(others), all);
  }

  // `others`: number of documents besides those that always accompany the question.
  TaskSample Build(int64_t sample, int64_t others, int64_t place) const {
    const DocumentQuestion& question = file_.questions[static_cast<size_t>(sample)];
    const std::vector<size_t> around =
        Others(question, others, SplitMix64(seed_, static_cast<uint64_t>(sample)));
    const auto before = static_cast<size_t>(
        (std::ssize(around) * (place - 1) + (kDepthPlaces - 1) / 2) / (kDepthPlaces - 1));
    PromptBuilder prompt;
    prompt.Add(std::string(kRulerInstruction) + "\n\nThe following are given documents.\n\n");
    size_t number = 0;
    const auto add = [&](size_t document) {
      if (number > 0) prompt.Add("\n\n");
      ++number;
      prompt.AddSpan(fmt::format("document {}", number),
                     fmt::format("Document {}:\n{}", number, file_.documents[document]));
    };
    for (size_t i = 0; i < before; ++i) add(around[i]);
    AddGold(question.gold, number, prompt);
    for (size_t i = before; i < around.size(); ++i) add(around[i]);
    prompt.Add(std::string("\n\n") + kRulerInstruction + "\n\n");
    prompt.AddSpan("question", "Question: " + question.question);
    prompt.Add(" Answer:");
    TaskSample made = std::move(prompt).Sample(question.answers, place, kDepthPlaces);
    made.generation = {kRulerAnswerTokens, AnswerCut::kWhole, AnswerMetric::kSubstring};
    return made;
  }

  // Adds all gold documents to the prompt, as one span "gold".
  void AddGold(const std::vector<size_t>& gold, size_t& number, PromptBuilder& prompt) const {
    if (number > 0) prompt.Add("\n\n");
    std::string text;
    for (const size_t document : gold) {
      ++number;
      text += fmt::format("{}Document {}:\n{}", text.empty() ? "" : "\n\n", number,
                          file_.documents[document]);
    }
    prompt.AddSpan("gold", text);
  }

  uint64_t seed_;
  int64_t tokens_;
  TokenCounter count_;
  QuestionDocuments file_;
  int64_t others_ = 0;
};

}  // namespace

// `tokens` limits prompt and generated text together, as max_seq_length of the public code.
// Templates, choice of documents (first other paragraphs of the article) and score
// (string_match_part: one of the answers occurs) are those of the public code. Differences: the
// documents with the answer are contiguous at the place, whereas the public code shuffles all;
// documents are not repeated if the file has too few; for HotpotQA, the documents of the supporting
// facts are the gold ones.
TaskType RulerDocumentsTaskType() {
  Parameter tokens = PromptTokensParameter();
  tokens.help = "of the prompt and of what is generated";
  TaskType type = {
      "ruler-qa",
      "RULER's qa_1 and qa_2: questions over documents; places are depths, such as 25%",
      {std::move(tokens),
       TaskFile("SQuAD's dev-v2.0.json (qa_1) or HotpotQA's hotpot_dev_distractor_v1.json (qa_2)",
                true)}};
  type.make = MakeSpecTask<RulerDocumentsTask>;
  return type;
}

}  // namespace midscope
