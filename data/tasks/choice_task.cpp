// SPDX-License-Identifier: MIT
#include "data/tasks/choice_task.h"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/formats/csv_rows.h"
#include "data/tasks/prompt_text.h"
#include "data/tasks/tasks.h"

namespace midscope {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLetters = "ABCD";
constexpr size_t kColumns = 6;

using Rows = std::vector<std::vector<std::string>>;

Rows ReadRows(const std::string& path) {
  Rows rows = ReadCsv(path);
  if (rows.empty()) throw Failure(path, "it holds no question");
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string>& row = rows[i];
    if (row.size() == kColumns && row.back().size() == 1 && row.back() >= "A" &&
        row.back() <= "D") {
      continue;
    }
    throw Failure(fmt::format("{}, question {}", path, i + 1),
                  "it is not a question, four choices and one of the letters A to D");
  }
  return rows;
}

// "high_school_physics" of "high_school_physics_test.csv".
std::string Subject(const fs::path& path) {
  std::string subject = path.stem().string();
  for (const char* ending : {"_test", "_val", "_dev"}) {
    if (subject.ends_with(ending)) return subject.substr(0, subject.rfind('_'));
  }
  return subject;
}

Rows ReadExamples(const TaskSpec& spec) {
  const int64_t shots = spec.Number("shots");
  if (shots == 0) return {};
  const fs::path path = ChoiceExamplesFile(spec);
  Rows rows = ReadRows(path.string());
  if (static_cast<int64_t>(rows.size()) < shots) {
    throw UsageError(path.filename().string(), fmt::format("it has {} examples", rows.size()),
                     fmt::format("Give shots={} or fewer", rows.size()));
  }
  rows.resize(static_cast<size_t>(shots));
  return rows;
}

std::string QuestionText(const std::vector<std::string>& row) {
  std::string text = row.front();
  for (size_t i = 1; i + 1 < kColumns; ++i) {
    text += std::string("\n") + kLetters[i - 1] + ". " + row[i];
  }
  return text;
}

class ChoiceTask : public Task {
 public:
  explicit ChoiceTask(const TaskSpec& spec)
      : name_(TaskSpecText(spec)),
        subject_(Subject(spec.file())),
        questions_(ReadRows(spec.file())),
        examples_(ReadExamples(spec)) {
    std::replace(subject_.begin(), subject_.end(), '_', ' ');
  }

  std::string name() const override { return name_; }
  int64_t pieces() const override { return 1; }
  std::optional<int64_t> samples() const override {
    return static_cast<int64_t>(questions_.size());
  }
  bool scored_by_likelihood() const override { return true; }

  TaskSample Make(int64_t sample, int64_t place) const override {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    constexpr int64_t kNewTokens = 5;
    const std::vector<std::string>& row = questions_[static_cast<size_t>(sample)];
    PromptText prompt;
    prompt.Add("The following are multiple choice questions (with answers) about  " + subject_ +
               ".\n\n");
    for (size_t i = 0; i < examples_.size(); ++i) {
      prompt.AddSpan(fmt::format("example {}", i + 1), QuestionText(examples_[i]));
      prompt.Add("\nAnswer: " + examples_[i].back() + "\n\n");
    }
    prompt.AddSpan("question", QuestionText(row));
    prompt.Add("\nAnswer:");
    TaskSample made = std::move(prompt).Sample(" " + row.back(), place, 1);
    made.choices = {" A", " B", " C", " D"};
    made.generation = {kNewTokens, AnswerCut::kWhole, AnswerMetric::kChoiceLetter};
    return made;
  }

 private:
  std::string name_;
  std::string subject_;
  Rows questions_;
  Rows examples_;
};

}  // namespace

std::string ChoiceExamplesFile(const TaskSpec& spec) {
  if (spec.Number("shots") == 0) return "";
  const fs::path path = spec.file();
  const std::string name = Subject(path) + "_dev.csv";
  const fs::path beside = path.parent_path() / name;
  const fs::path apart = path.parent_path().parent_path() / "dev" / name;
  return fs::exists(beside) ? beside.string() : apart.string();
}

TaskType ChoiceTaskType() {
  constexpr int64_t kMostShots = 5;  // rows of a dev file
  TaskType type = {"mmlu",
                   "multiple choice in MMLU's format, by likelihood",
                   {WholeNumberParameter("shots", "examples in front of the question", 0,
                                         kMostShots, kMostShots),
                    TaskFile("a file SUBJECT_test.csv of MMLU", true)}};
  type.make = [](const TaskSpec& spec, const TaskInputs& /*inputs*/) -> std::unique_ptr<Task> {
    return std::make_unique<ChoiceTask>(spec);
  };
  type.more_file = ChoiceExamplesFile;
  return type;
}

}  // namespace midscope
