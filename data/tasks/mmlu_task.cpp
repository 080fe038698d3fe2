// SPDX-License-Identifier: MIT
// Multiple choice over CSV files in the format of MMLU (Hendrycks et al. 2020, arXiv 2009.03300).
#include <algorithm>
#include <array>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/formats/csv_rows.h"
#include "data/tasks/data_folder.h"
#include "data/tasks/prompt_builder.h"
#include "data/tasks/task_spec.h"
#include "data/tasks/tasks.h"

namespace midscope {

namespace {

// The subjects of MMLU and their groups in the paper's table (Hendrycks et al. 2020, arXiv
// 2009.03300; categories.py of github.com/hendrycks/test).

struct SubjectGroup {
  const char* subject;
  const char* group;
};

constexpr std::array kSubjects = {
    SubjectGroup{"abstract_algebra", "STEM"},
    SubjectGroup{"astronomy", "STEM"},
    SubjectGroup{"college_biology", "STEM"},
    SubjectGroup{"college_chemistry", "STEM"},
    SubjectGroup{"college_computer_science", "STEM"},
    SubjectGroup{"college_mathematics", "STEM"},
    SubjectGroup{"college_physics", "STEM"},
    SubjectGroup{"computer_security", "STEM"},
    SubjectGroup{"conceptual_physics", "STEM"},
    SubjectGroup{"electrical_engineering", "STEM"},
    SubjectGroup{"elementary_mathematics", "STEM"},
    SubjectGroup{"high_school_biology", "STEM"},
    SubjectGroup{"high_school_chemistry", "STEM"},
    SubjectGroup{"high_school_computer_science", "STEM"},
    SubjectGroup{"high_school_mathematics", "STEM"},
    SubjectGroup{"high_school_physics", "STEM"},
    SubjectGroup{"high_school_statistics", "STEM"},
    SubjectGroup{"machine_learning", "STEM"},
    SubjectGroup{"formal_logic", "humanities"},
    SubjectGroup{"high_school_european_history", "humanities"},
    SubjectGroup{"high_school_us_history", "humanities"},
    SubjectGroup{"high_school_world_history", "humanities"},
    SubjectGroup{"international_law", "humanities"},
    SubjectGroup{"jurisprudence", "humanities"},
    SubjectGroup{"logical_fallacies", "humanities"},
    SubjectGroup{"moral_disputes", "humanities"},
    SubjectGroup{"moral_scenarios", "humanities"},
    SubjectGroup{"philosophy", "humanities"},
    SubjectGroup{"prehistory", "humanities"},
    SubjectGroup{"professional_law", "humanities"},
    SubjectGroup{"world_religions", "humanities"},
    SubjectGroup{"econometrics", "social sciences"},
    SubjectGroup{"high_school_geography", "social sciences"},
    SubjectGroup{"high_school_government_and_politics", "social sciences"},
    SubjectGroup{"high_school_macroeconomics", "social sciences"},
    SubjectGroup{"high_school_microeconomics", "social sciences"},
    SubjectGroup{"high_school_psychology", "social sciences"},
    SubjectGroup{"human_sexuality", "social sciences"},
    SubjectGroup{"professional_psychology", "social sciences"},
    SubjectGroup{"public_relations", "social sciences"},
    SubjectGroup{"security_studies", "social sciences"},
    SubjectGroup{"sociology", "social sciences"},
    SubjectGroup{"us_foreign_policy", "social sciences"},
    SubjectGroup{"anatomy", "other"},
    SubjectGroup{"business_ethics", "other"},
    SubjectGroup{"clinical_knowledge", "other"},
    SubjectGroup{"college_medicine", "other"},
    SubjectGroup{"global_facts", "other"},
    SubjectGroup{"human_aging", "other"},
    SubjectGroup{"management", "other"},
    SubjectGroup{"marketing", "other"},
    SubjectGroup{"medical_genetics", "other"},
    SubjectGroup{"miscellaneous", "other"},
    SubjectGroup{"nutrition", "other"},
    SubjectGroup{"professional_accounting", "other"},
    SubjectGroup{"professional_medicine", "other"},
    SubjectGroup{"virology", "other"},
};

// Returns the group of a subject ("STEM", "humanities", "social sciences" or "other"), named as in
// file names ("high_school_physics"); "" if there is no such subject.
std::string MmluGroup(std::string_view subject) {
  const auto found =
      std::find_if(kSubjects.begin(), kSubjects.end(),
                   [&](const SubjectGroup& each) { return each.subject == subject; });
  return found == kSubjects.end() ? "" : found->group;
}

namespace fs = std::filesystem;

constexpr const char* kLetters = "ABCD";
constexpr size_t kColumns = 6;

using MmluRows = std::vector<std::vector<std::string>>;

MmluRows ReadMmluRows(const std::string& path) {
  MmluRows rows = ReadCsv(path);
  if (rows.empty()) throw Failure(path, "it must contain at least one question");
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::vector<std::string>& row = rows[i];
    if (row.size() == kColumns && row.back().size() == 1 && row.back() >= "A" &&
        row.back() <= "D") {
      continue;
    }
    throw Failure(fmt::format("{}, question {}", path, i + 1),
                  "it is not a question, four choices and one of the letters A to D",
                  row.size() == 1 ? CsvRemedy(row.front(), "") : "");
  }
  return rows;
}

// Returns the subject in a file name: "high_school_physics" for "high_school_physics_test.csv".
std::string MmluSubject(const fs::path& path) {
  std::string subject = path.stem().string();
  for (const char* ending : {"_test", "_val", "_dev"}) {
    if (subject.ends_with(ending)) return subject.substr(0, subject.rfind('_'));
  }
  return subject;
}

// Returns the path of SUBJECT_dev.csv, the examples for the questions in `path`.
std::string MmluExamplesFile(const fs::path& path) {
  const std::string name = MmluSubject(path) + "_dev.csv";
  const fs::path beside = path.parent_path() / name;
  const fs::path apart = path.parent_path().parent_path() / "dev" / name;
  return fs::exists(beside) ? beside.string() : apart.string();
}

MmluRows ReadMmluExamples(const fs::path& test, int64_t shots) {
  if (shots == 0) return {};
  const fs::path path = MmluExamplesFile(test);
  MmluRows rows = ReadMmluRows(path.string());
  if (static_cast<int64_t>(rows.size()) < shots) {
    throw UsageError(path.filename().string(), fmt::format("it has {} examples", rows.size()),
                     fmt::format("Give shots={} or fewer", rows.size()));
  }
  rows.resize(static_cast<size_t>(shots));
  return rows;
}

// The questions of one subject.
struct MmluSet {
  std::string subject;  // "high school physics"
  std::vector<std::string> groups;
  MmluRows questions;
  MmluRows examples;
};

MmluSet ReadMmluSet(const std::string& path, int64_t shots) {
  const std::string name = MmluSubject(path);
  const std::string group = MmluGroup(name);
  MmluSet set{name, {}, ReadMmluRows(path), ReadMmluExamples(path, shots)};
  if (!group.empty()) set.groups.push_back(group);
  set.groups.push_back(name);
  std::replace(set.subject.begin(), set.subject.end(), '_', ' ');
  return set;
}

std::vector<std::string> MmluFiles(const TaskSpec& spec) {
  return DataFiles(spec.file(), {"_test.csv"});
}

std::string MmluQuestion(const std::vector<std::string>& row) {
  std::string text = row.front();
  for (size_t i = 1; i + 1 < kColumns; ++i) {
    text += std::string("\n") + kLetters[i - 1] + ". " + row[i];
  }
  return text;
}

class MmluTask : public SpecTask {
 public:
  MmluTask(const TaskSpec& spec, const TaskInputs& /*inputs*/)
      : SpecTask(spec), is_folder_(fs::is_directory(spec.file())) {
    std::vector<size_t> sizes;
    for (const std::string& file : MmluFiles(spec)) {
      sets_.push_back(ReadMmluSet(file, spec.Number("shots")));
      sizes.push_back(sets_.back().questions.size());
    }
    order_ = RoundRobin(sizes);
  }

  std::optional<int64_t> samples() const override { return std::ssize(order_); }
  bool scored_by_likelihood() const override { return true; }

  TaskSample MakeChecked(int64_t sample, int64_t place) const override {
    constexpr int64_t kNewTokens = 5;
    const auto [number, question] = order_[static_cast<size_t>(sample)];
    const MmluSet& set = sets_[number];
    const std::vector<std::string>& row = set.questions[question];
    PromptBuilder prompt;
    prompt.Add("The following are multiple choice questions (with answers) about  " + set.subject +
               ".\n\n");
    for (size_t i = 0; i < set.examples.size(); ++i) {
      prompt.AddSpan(fmt::format("example {}", i + 1), MmluQuestion(set.examples[i]));
      prompt.Add("\nAnswer: " + set.examples[i].back() + "\n\n");
    }
    prompt.AddSpan("question", MmluQuestion(row));
    prompt.Add("\nAnswer:");
    TaskSample made = std::move(prompt).Sample(" " + row.back(), place, 1);
    for (const char letter : std::string_view(kLetters)) {
      const std::string text(1, letter);
      made.choices.push_back({" " + text, text == row.back()});
    }
    made.generation = {kNewTokens, AnswerCut::kWhole, AnswerMetric::kChoiceLetter};
    if (is_folder_) made.groups = set.groups;
    return made;
  }

 private:
  bool is_folder_;
  std::vector<MmluSet> sets_;
  std::vector<std::pair<size_t, size_t>> order_;  // [sample]: subject, question
};

}  // namespace

// Reads a file SUBJECT_test.csv with rows question, A, B, C, D, letter, or a folder of such files.
// With shots > 0, the examples are the first rows of SUBJECT_dev.csv in the same folder, or in the
// folder dev/ beside that folder. The prompt is that of the public code, which puts two spaces in
// front of the subject. The choices " A" to " D" are compared by likelihood (TaskSample::choices);
// generated text is scored by the first letter A to D that is a separate word. There is one place.
//
// The samples of a folder are the first question of every subject, then the second of every
// subject, and so on, so that a few samples cover all subjects. TaskSample::groups are the
// subject's group and the subject.
TaskType MmluTaskType() {
  constexpr int64_t kMostShots = 5;  // number of rows in a dev file
  TaskType type = {"mmlu",
                   "multiple choice in MMLU's format, by likelihood",
                   {WholeNumberParameter("shots", "examples in front of the question", 0,
                                         kMostShots, kMostShots),
                    TaskFile("a file SUBJECT_test.csv of MMLU, or a folder of them", true)}};
  type.make = MakeSpecTask<MmluTask>;
  type.more_files = [](const TaskSpec& spec) {
    const std::vector<std::string> tests = MmluFiles(spec);
    std::vector<std::string> files;
    if (fs::is_directory(spec.file())) files = tests;
    for (const std::string& test : tests) {
      if (spec.Number("shots") > 0) files.push_back(MmluExamplesFile(test));
    }
    return files;
  };
  return type;
}

}  // namespace midscope
