// SPDX-License-Identifier: MIT
// RULER's questions over documents (qa_1 of SQuAD, qa_2 of HotpotQA): the documents that answer
// among others of the file. Place p is a depth of p - 1 percent of the documents.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/random.h"
#include "data/tasks/prompt_text.h"
#include "data/tasks/question_documents.h"
#include "data/tasks/tasks.h"
#include "data/tasks/token_cut.h"

namespace midscope {
namespace {

constexpr const char* kRulerInstruction =
    "Answer the question based on the given documents. Only give me the answer and do not output "
    "any other words.";
constexpr int64_t kRulerAnswerTokens = 32;

class RulerDocumentsTask : public Task {
 public:
  RulerDocumentsTask(const TaskSpec& spec, uint64_t seed, const TokenCounter& count_tokens)
      : name_(TaskSpecText(spec)),
        seed_(seed),
        tokens_(spec.Number("tokens")),
        count_(NeedCounter(count_tokens, name_)),
        file_(ReadQuestionDocuments(spec.file())) {
    if (!Fits(0, 0)) {
      throw UsageError("task '" + name_ + "'", "its shortest prompt is longer", "Give more tokens");
    }
    others_ = LargestFitting(std::ssize(file_.documents),
                             [&](int64_t others) { return Fits(0, others); });
  }

  std::string name() const override { return name_; }
  int64_t pieces() const override { return kDepthPlaces; }
  bool by_depth() const override { return true; }
  std::optional<int64_t> samples() const override { return std::ssize(file_.questions); }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    // Those of sample 0, or fewer where this sample's are longer.
    constexpr int64_t kStep = 10;
    int64_t others = others_;
    while (others > 0 && !Fits(sample, others)) others = std::max<int64_t>(0, others - kStep);
    return Build(sample, others, place);
  }

 private:
  bool Fits(int64_t sample, int64_t others) const {
    return count_(Build(sample, others, 1).text) + kRulerAnswerTokens <= tokens_;
  }

  // Those that come with the question, then of its article, then any.
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

  // `others`: documents beside those that come with the question.
  TaskSample Build(int64_t sample, int64_t others, int64_t place) const {
    const DocumentQuestion& question = file_.questions[static_cast<size_t>(sample)];
    const std::vector<size_t> around =
        Others(question, others, SplitMix64(seed_, static_cast<uint64_t>(sample)));
    const auto before = static_cast<size_t>(
        (std::ssize(around) * (place - 1) + (kDepthPlaces - 1) / 2) / (kDepthPlaces - 1));
    PromptText prompt;
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

  // All in one passage.
  void AddGold(const std::vector<size_t>& gold, size_t& number, PromptText& prompt) const {
    if (number > 0) prompt.Add("\n\n");
    std::string text;
    for (const size_t document : gold) {
      ++number;
      text += fmt::format("{}Document {}:\n{}", text.empty() ? "" : "\n\n", number,
                          file_.documents[document]);
    }
    prompt.AddSpan("gold", text);
  }

  std::string name_;
  uint64_t seed_;
  int64_t tokens_;
  TokenCounter count_;
  QuestionDocuments file_;
  int64_t others_ = 0;
};

}  // namespace

// `tokens` holds the prompt and what is generated, as max_seq_length of the public code, whose
// templates, order of choice (the article's other paragraphs before any) and score
// (string_match_part: one of the answers occurs) these are. Departures: the documents that answer
// stand together at the place, where the public code shuffles all; documents do not repeat where
// the file has too few; of HotpotQA the documents of the supporting facts are the gold ones.
TaskType RulerDocumentsTaskType() {
  Parameter tokens = PromptTokensParameter();
  tokens.help = "of the prompt and of what is generated";
  TaskType type = {
      "ruler-qa",
      "RULER's qa_1 and qa_2: questions over documents; places are depths, such as 25%",
      {std::move(tokens),
       TaskFile("SQuAD's dev-v2.0.json (qa_1) or HotpotQA's hotpot_dev_distractor_v1.json (qa_2)",
                true)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& inputs) -> std::unique_ptr<Task> {
    return std::make_unique<RulerDocumentsTask>(spec, inputs.seed, inputs.count_tokens);
  };
  return type;
}

}  // namespace midscope
