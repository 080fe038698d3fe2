// SPDX-License-Identifier: MIT
// The task for files of published multiple-choice data sets, scored by the likelihoods of the
// choices. Nothing moves in the prompt: there is one place.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"
#include "data/formats/json_lines.h"
#include "data/tasks/choices.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"

namespace midscope {
namespace {

constexpr const char* kExamplesFile = "examples";
constexpr const char* kLabelsFile = "labels";
constexpr const char* kPublished = "published";

const TaskChoice& RightChoice(const ChoiceItem& item) {
  return *std::find_if(item.choices.begin(), item.choices.end(),
                       [](const TaskChoice& choice) { return choice.right; });
}

std::vector<int64_t> ReadChoiceLabels(const std::string& path) {
  std::vector<int64_t> labels;
  if (path.empty()) return labels;
  ForEachTextLine(path, [&](const std::string& thing, const std::string& line) {
    if (line != "0" && line != "1") {
      throw Failure(thing, "the label must be 0 or 1", "Give the file of labels of the same part");
    }
    labels.push_back(line == "1" ? 1 : 0);
  });
  return labels;
}

std::vector<ChoiceItem> ReadChoiceItems(const ChoiceSet& set, const std::string& path,
                                        const std::vector<int64_t>& labels) {
  std::vector<ChoiceItem> items;
  ForEachJsonLine(path, [&](const JsonFields& fields) {
    std::optional<int64_t> label;
    if (!labels.empty()) {
      if (items.size() == labels.size())
        fields.Fail("has no label: the file of labels is too short");
      label = labels[items.size()];
    }
    items.push_back(set.read(fields, label));
  });
  if (!labels.empty() && labels.size() != items.size()) {
    throw Failure(path,
                  fmt::format("it has {} questions, and {} labels stand beside it", items.size(),
                              labels.size()),
                  "Give the file of labels of the same part");
  }
  return items;
}

std::vector<ChoiceItem> ReadChoiceExamples(const ChoiceSet& set, const TaskSpec& spec) {
  const std::string& path = spec.Path(kExamplesFile);
  const int64_t shots = spec.Number("shots");
  if (shots == 0) return {};
  if (path.empty()) {
    throw UsageError("task '" + TaskSpecText(spec) + "'", "the file of its examples is missing",
                     "Add examples=FILE in front of file=, or leave shots out");
  }
  std::vector<ChoiceItem> items = ReadChoiceItems(set, path, {});
  if (std::ssize(items) < shots) {
    throw UsageError(path, fmt::format("it has {} examples", items.size()),
                     fmt::format("Give shots={} or fewer", items.size()));
  }
  items.resize(static_cast<size_t>(shots));
  return items;
}

class ChoicesTask : public SpecTask {
 public:
  ChoicesTask(const TaskSpec& spec, const TaskInputs& /*inputs*/)
      : SpecTask(spec), set_(ChoiceSets().at(spec.Choice("dataset"))) {
    const std::string& rule = spec.parameters.Text("rule");
    rule_ = rule == kPublished ? set_.rule : ReadChoiceRule(name_, rule);
    items_ = ReadChoiceItems(set_, spec.file(), ReadChoiceLabels(spec.Path(kLabelsFile)));
    for (const ChoiceItem& example : ReadChoiceExamples(set_, spec)) {
      examples_ += example.prompt + RightChoice(example).text + "\n\n";
    }
  }

  std::optional<int64_t> samples() const override { return std::ssize(items_); }
  bool scored_by_likelihood() const override { return true; }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    constexpr int64_t kNewTokens = 50;
    const ChoiceItem& item = items_[static_cast<size_t>(sample)];
    PromptBuilder prompt;
    if (!examples_.empty()) prompt.AddSpan("examples", examples_);
    prompt.AddSpan("question", item.prompt);
    TaskSample made = std::move(prompt).Sample(RightChoice(item).text, place, 1);
    made.choices = item.choices;
    for (TaskChoice& choice : made.choices) {
      if (!choice.prompt.empty()) choice.prompt.insert(0, examples_);
    }
    made.choice_rule = rule_;
    made.generation = {kNewTokens, AnswerCut::kStrippedFirstLine, AnswerMetric::kRougeL};
    return made;
  }

 private:
  const ChoiceSet& set_;
  ChoiceRule rule_ = ChoiceRule::kLikeliest;
  std::vector<ChoiceItem> items_;
  std::string examples_;
};

}  // namespace

// Prompts are those of the Language Model Evaluation Harness (choices.h). The harness draws its
// examples at random from the training part; here they are the first `shots` lines of `examples`,
// separated by blank lines. Generated text, unused by the harness, is compared with the right
// choice by ROUGE-L.
TaskType ChoicesTaskType() {
  constexpr int64_t kMostShots = 100;
  std::vector<std::string> names = NamesIn(ChoiceSets());
  Parameter shots =
      WholeNumberParameter("shots", "examples in front of the question", 0, kMostShots, 0);
  TaskType type = {
      "choices",
      "ARC, HellaSwag, WinoGrande, PIQA, BoolQ, TruthfulQA, by the likelihood of whole choices",
      {ChoiceParameter("dataset", "whose lines they are, and whose prompt is taken", names),
       std::move(shots),
       ChoiceParameter("rule",
                       "published: per-character of arc and hellaswag, right-share of "
                       "truthfulqa-mc2, else likeliest (the sum over tokens)",
                       {kPublished, ChoiceRuleName(ChoiceRule::kLikeliest),
                        ChoiceRuleName(ChoiceRule::kLikeliestPerCharacter),
                        ChoiceRuleName(ChoiceRule::kRightShare)}),
       FileParameter(kExamplesFile,
                     "a JSONL file of the same form whose first lines are the examples"),
       FileParameter(kLabelsFile, "a label a line, where they stand beside the questions (PIQA)"),
       TaskFile("a JSONL file of the data set", true)}};
  type.make = MakeSpecTask<ChoicesTask>;
  return type;
}

}  // namespace midscope
