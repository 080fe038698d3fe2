// SPDX-License-Identifier: MIT
// Multi-document question answering of "Lost in the Middle" (Liu et al. 2023, arXiv 2307.03172)
// with the templates of its public code: over one of its NQ-open files, or over invented passages.
// Scored by best_subspan_em on the first line of 100 new tokens.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/formats/json_lines.h"
#include "data/tasks/invented_facts.h"
#include "data/tasks/prompt_text.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

struct Document {
  InventedPassage passage;    // of a file its title is the answer: the file tells no other
  int64_t source_number = 0;  // 1-based, where the document stood in its file
};

struct Item {
  std::string question;
  std::vector<std::string> answers;
  std::vector<Document> documents;  // the one that answers first
};

enum Prompt { kStandard, kOrderedRandomly, kClosedBook };

Item ReadItem(const JsonFields& fields) {
  Item item = {fields.Text("question"), TextList(fields, "answers"), {}};
  if (item.answers.empty()) fields.Fail("has no answers");
  std::optional<Document> gold;
  int64_t number = 0;
  for (const nlohmann::json& json : fields.Array("ctxs")) {
    const JsonFields document(json, fields.thing(), fmt::format("ctxs[{}]", number));
    Document read = {{document.Text("title"), document.Text("text"), document.Text("title")},
                     ++number};
    if (!document.Flag("isgold", false)) {
      item.documents.push_back(std::move(read));
    } else if (gold) {
      fields.Fail("has two documents with isgold");
    } else {
      gold = std::move(read);
    }
  }
  if (!gold) fields.Fail("has no document with isgold");
  item.documents.insert(item.documents.begin(), *std::move(gold));
  return item;
}

Item InventItem(int64_t documents, SplitMix64 random) {
  InventedFacts facts = InventFacts(documents, random);
  Item item = {facts.question, {facts.answer}, {}};
  for (InventedPassage& passage : facts.passages) {
    const auto number = static_cast<int64_t>(item.documents.size()) + 1;
    item.documents.push_back({std::move(passage), number});
  }
  return item;
}

class DocumentTask : public Task {
 public:
  DocumentTask(TaskSpec spec, uint64_t seed)
      : prompt_(static_cast<Prompt>(spec.Choice("prompt"))),
        query_aware_(spec.Number("query_aware") != 0),
        keep_labels_(spec.Choice("labels") != 0),
        cut_(spec.Choice("first_line") == 0 ? AnswerCut::kStrippedFirstLine
                                            : AnswerCut::kFirstLine),
        first_place_(spec.Number("first_place")),
        seed_(seed) {
    if (!spec.file().empty()) TakeFile(spec);
    documents_ = spec.Number("documents");
    name_ = TaskSpecText(spec);
  }

  std::string name() const override { return name_; }
  int64_t pieces() const override { return prompt_ == kClosedBook ? 1 : documents_; }
  int64_t first_place() const override { return first_place_; }
  std::optional<int64_t> samples() const override {
    if (items_.empty()) return std::nullopt;
    return static_cast<int64_t>(items_.size());
  }

  TaskSample Make(int64_t sample, int64_t given_place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, given_place);
    const int64_t place = given_place - first_place_ + 1;
    const Item item = items_.empty()
                          ? InventItem(documents_, SplitMix64(seed_, static_cast<uint64_t>(sample)))
                          : items_[static_cast<size_t>(sample)];
    const std::string question = "Question: " + item.question;
    PromptText prompt;
    if (prompt_ != kClosedBook) AddDocuments(item, place, question, prompt);
    prompt.AddSpan("question", question);
    prompt.Add("\nAnswer:");
    constexpr int64_t kNewTokens = 100;
    TaskSample made = std::move(prompt).Sample(item.answers, place, pieces());
    made.generation = {kNewTokens, cut_, AnswerMetric::kSubspan};
    if (prompt_ == kClosedBook) return made;
    for (const Document& document : WithFirstAt(item.documents, place)) {
      made.piece_answers.push_back(document.passage.answer);
    }
    made.piece_answers[static_cast<size_t>(place - 1)] = item.answers.front();
    return made;
  }

 private:
  void TakeFile(TaskSpec& spec) {
    const bool cut = spec.parameters.IsSet("documents");
    int64_t wanted = spec.Number("documents");
    ForEachJsonLine(spec.file(), [&](const JsonFields& fields) {
      Item item = ReadItem(fields);
      const auto has = static_cast<int64_t>(item.documents.size());
      if (!cut && items_.empty()) wanted = has;
      if (has < wanted || (!cut && has != wanted)) {
        fields.Fail(fmt::format("has {} documents where {} are needed", has, wanted));
      }
      item.documents.resize(static_cast<size_t>(wanted));
      items_.push_back(std::move(item));
    });
    spec.parameters.SetUnchecked("documents", wanted);
  }

  void AddDocuments(const Item& item, int64_t place, const std::string& question,
                    PromptText& prompt) const {
    prompt.Add(
        "Write a high-quality answer for the given question using only the provided search "
        "results (some of which might be irrelevant).");
    if (prompt_ == kOrderedRandomly) prompt.Add(" The search results are ordered randomly.");
    prompt.Add("\n\n");
    if (query_aware_) prompt.Add(question + "\n\n");
    const std::vector<Document> documents = WithFirstAt(item.documents, place);
    for (int64_t rank = 1; rank <= documents_; ++rank) {
      const Document& document = documents[static_cast<size_t>(rank - 1)];
      const int64_t label = keep_labels_ ? document.source_number : rank;
      prompt.AddSpan(fmt::format("document {}", rank),
                     fmt::format("Document [{}](Title: {}) {}", label, document.passage.title,
                                 document.passage.text));
      if (rank == place) prompt.NameLastSpan("gold");
      prompt.Add(rank == documents_ ? "\n\n" : "\n");
    }
  }

  std::string name_;
  int64_t documents_ = 0;
  Prompt prompt_;
  bool query_aware_;
  bool keep_labels_;
  AnswerCut cut_;
  int64_t first_place_;
  uint64_t seed_;
  std::vector<Item> items_;  // empty: they are invented
};

}  // namespace

TaskType DocumentTaskType() {
  TaskType type = {
      "mdqa",
      "multi-document question answering (arXiv 2307.03172), over invented passages or a file",
      {WholeNumberParameter("documents", "documents in the prompt, the gold one among them", 1,
                            kMostInventedPassages, 20),
       ChoiceParameter("prompt", "the published template",
                       {"standard", "ordered_randomly", "closed_book"}),
       WholeNumberParameter("query_aware", "1: the question also comes before the documents", 0, 1,
                            0),
       ChoiceParameter("labels",
                       "kept: a moved document keeps its number, which gives the gold one away "
                       "(Ms-PoE's code)",
                       {"renumbered", "kept"}),
       ChoiceParameter("first_line",
                       "plain: white space in front of the generated text is not dropped first "
                       "(Ms-PoE's code)",
                       {"stripped", "plain"}),
       FirstPlaceParameter(), MiddleCutParameter(false),
       TaskFile("a JSONL file of lost-in-the-middle's NQ-open (question, answers, ctxs "
                "with title, text, isgold); documents cuts its lines, default all",
                false)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    return std::make_unique<DocumentTask>(spec, inputs.seed);
  };
  type.cuts_middle = true;
  return type;
}

}  // namespace midscope
