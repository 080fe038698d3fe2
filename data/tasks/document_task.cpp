// SPDX-License-Identifier: MIT
// Multi-document question answering of "Lost in the Middle" (Liu et al. 2023, arXiv 2307.03172)
// with the templates of its public code, over one of its NQ-open files or over invented passages.
// Scored by best_subspan_em on the first line of 100 new tokens.
#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/formats/json_lines.h"
#include "data/scorers/match_scores.h"
#include "data/tasks/invented_facts.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

struct Document {
  InventedPassage passage;    // from a file: `answer` is the document's title
  int64_t source_number = 0;  // 1-based rank of the document in its file
};

struct Item {
  std::string question;
  std::vector<std::string> answers;
  std::vector<Document> documents;  // the gold document first
};

enum PromptKind { kStandard, kOrderedRandomly, kClosedBook };

// Documents without the answer. kGiven: those in the file, or invented ones about other subjects.
enum Distractors { kGiven, kSameSubject, kOtherQuestions };

Item ReadItem(const JsonFields& fields) {
  Item item = {fields.Text("question"), TextList(fields, "answers"), {}};
  if (item.answers.empty()) fields.Fail("has no answers");
  std::optional<Document> gold;
  int64_t number = 0;
  for (const nlohmann::json& context : fields.Array("ctxs")) {
    const JsonFields document(context, fields.thing(), fmt::format("ctxs[{}]", number));
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

Item InventItem(int64_t documents, SplitMix64 random, OtherPassages others) {
  InventedFacts facts = InventFacts(documents, random, others);
  Item item = {facts.question, {facts.answer}, {}};
  for (InventedPassage& passage : facts.passages) {
    const auto number = static_cast<int64_t>(item.documents.size()) + 1;
    item.documents.push_back({std::move(passage), number});
  }
  return item;
}

class DocumentTask : public SpecTask {
 public:
  DocumentTask(TaskSpec spec, const TaskInputs& inputs)
      : prompt_(static_cast<PromptKind>(spec.Choice("prompt"))),
        query_aware_(spec.Number("query_aware") != 0),
        keep_labels_(spec.Choice("labels") != 0),
        cut_(spec.Choice("first_line") == 0 ? AnswerCut::kStrippedFirstLine
                                            : AnswerCut::kFirstLine),
        first_place_(spec.Number("first_place")),
        distractors_(static_cast<Distractors>(spec.Choice("distractors"))),
        seed_(inputs.seed) {
    CheckDistractors(spec);
    if (!spec.file().empty()) TakeFile(spec);
    documents_ = spec.Number("documents");
    name_ = TaskSpecText(spec);
  }

  int64_t pieces() const override { return prompt_ == kClosedBook ? 1 : documents_; }
  int64_t first_place() const override { return first_place_; }
  std::optional<int64_t> samples() const override {
    if (items_.empty()) return std::nullopt;
    return static_cast<int64_t>(items_.size());
  }

  TaskSample MakeChecked(int64_t sample, int64_t given_place) const override {
    const int64_t place = given_place - first_place_ + 1;
    const Item item = ItemOf(sample);
    const std::string question = "Question: " + item.question;
    PromptBuilder prompt;
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
  void CheckDistractors(const TaskSpec& spec) const {
    if (distractors_ == kSameSubject && !spec.file().empty()) {
      throw UsageError("task mdqa", "distractors=hard invents its passages, and there is a file",
                       "Leave distractors out: those of the file were retrieved for its questions");
    }
    if (distractors_ == kOtherQuestions && spec.file().empty()) {
      throw UsageError("task mdqa", "distractors=random takes them from a file's other questions",
                       "Give a file, or leave distractors out");
    }
  }

  Item ItemOf(int64_t sample) const {
    const SplitMix64 random(seed_, static_cast<uint64_t>(sample));
    if (items_.empty()) {
      return InventItem(documents_, random,
                        distractors_ == kSameSubject ? OtherPassages::kSameSubject
                                                     : OtherPassages::kOtherSubjects);
    }
    const Item& item = items_[static_cast<size_t>(sample)];
    return distractors_ == kOtherQuestions ? WithOthersOf(item, sample, random) : item;
  }

  // Returns the item with its gold document and randomly drawn documents of other questions,
  // without repetition and without documents that contain an answer by the scorer's rule.
  Item WithOthersOf(const Item& item, int64_t sample, SplitMix64 random) const {
    Item mixed = {item.question, item.answers, {item.documents.front()}};
    const auto each = static_cast<size_t>(documents_);
    std::vector<size_t> order(items_.size() * each);
    std::iota(order.begin(), order.end(), size_t{0});
    const size_t all = order.size();
    for (const size_t index : random.Draw(std::move(order), all)) {
      if (std::ssize(mixed.documents) == documents_) return mixed;
      if (index / each == static_cast<size_t>(sample)) continue;
      const Document& other = items_[index / each].documents[index % each];
      const bool answers = std::any_of(
          item.answers.begin(), item.answers.end(), [&other](const std::string& answer) {
            return SubspanExactMatch(other.passage.title + "\n" + other.passage.text, answer) > 0;
          });
      if (!answers) mixed.documents.push_back(other);
    }
    if (std::ssize(mixed.documents) == documents_) return mixed;
    throw Failure(fmt::format("task mdqa, sample {}", sample),
                  fmt::format("the file's other questions have only {} documents without an answer",
                              mixed.documents.size() - 1),
                  "Give fewer documents, or a file with more questions");
  }

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
                    PromptBuilder& prompt) const {
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

  int64_t documents_ = 0;
  PromptKind prompt_;
  bool query_aware_;
  bool keep_labels_;
  AnswerCut cut_;
  int64_t first_place_;
  Distractors distractors_;
  uint64_t seed_;
  std::vector<Item> items_;  // empty: passages are invented
};

Parameter DistractorsParameter() {
  Parameter distractors =
      ChoiceParameter("distractors",
                      "hard: invented passages state other facts of the subject that is asked "
                      "about; random: they are documents of the file's other questions",
                      {"given", "hard", "random"});
  distractors.always_stated = false;
  return distractors;
}

}  // namespace

TaskType DocumentTaskType() {
  TaskType type = {
      "mdqa",
      "multi-document question answering (arXiv 2307.03172), over invented passages or a file",
      {WholeNumberParameter("documents",
                            "documents in the prompt, the gold one among them; 1: the oracle", 1,
                            kMostInventedPassages, 20),
       ChoiceParameter("prompt", "the published template",
                       {"standard", "ordered_randomly", "closed_book"}),
       DistractorsParameter(),
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
  type.make = MakeSpecTask<DocumentTask>;
  type.cuts_middle = true;
  return type;
}

}  // namespace midscope
