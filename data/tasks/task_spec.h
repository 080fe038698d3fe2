// SPDX-License-Identifier: MIT
// Parses task specs ("list:lines=20") and checks them against the task's description.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/base/parameter.h"
#include "data/tasks/task.h"

namespace midscope {

// Makes parameter `file`, the last one of most tasks.
Parameter TaskFile(const std::string& help, bool required);
// Makes parameter `tokens`: prompt length, for tasks that hide something in a long text.
Parameter PromptTokensParameter();
// Makes parameter `first_place`: 1, or 0 to count places from 0, as some published files do.
Parameter FirstPlaceParameter();

struct TaskSpec {
  std::string task;
  OptionSet parameters;  // set: parameters that the spec states

  int64_t Number(std::string_view name) const { return parameters.Integer(name); }
  // Returns the index of a parameter's value among the parameter's choices.
  size_t Choice(std::string_view name) const;
  // Returns the path of a file parameter; "" if the spec does not state it or the task lacks it.
  const std::string& Path(std::string_view name) const;
  const std::string& file() const { return Path("file"); }
};

// Description of a task. Tasks are defined in files NAME_task.cpp of this folder; tasks.h lists
// them.
struct TaskType {
  std::string name;
  std::string summary;
  // Parameters: numbers, choices and files. If the last one is a file, its path is the rest of the
  // spec, including commas; paths of other files end at the next comma.
  std::vector<Parameter> parameters;
  std::unique_ptr<Task> (*make)(const TaskSpec& spec, const TaskInputs& inputs) = nullptr;
  // Returns further files on whose contents samples depend: those in the folder `file`, or examples
  // beside the file. Null: there are none.
  std::vector<std::string> (*more_files)(const TaskSpec& spec) = nullptr;
  // Whether the task has MiddleCutParameter (token_cut.h), by which its samples are cut.
  bool cuts_middle = false;
  // Whether sample N is made from line N of the file alone.
  bool samples_are_lines = false;
};

// Parses a task spec; a path that ends in .jsonl, .jsonl.gz or .csv is parsed as jsonl:file=PATH.
// Throws Error (usage) if the task or a parameter is unknown, or if a parameter is given twice, out
// of range or missing.
TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskType>& tasks);
// Parses a task spec like ParseTaskSpec, but allows missing required parameters: for input forms.
TaskSpec ParseTaskDraft(std::string_view spec, const std::vector<TaskType>& tasks);

// Returns the spec with every parameter stated: "kv:pairs=75,query_aware=0".
std::string TaskSpecText(const TaskSpec& spec);
// Returns the spec with only the stated parameters: "kv:pairs=75". ParseTaskDraft parses it to an
// equal spec, unless a file that is not the last parameter has a comma in its path.
std::string StatedTaskText(const TaskSpec& spec);

// Base class of tasks that are made from a spec. Subclasses have the constructor (spec, inputs).
class SpecTask : public Task {
 public:
  std::string name() const override { return name_; }
  int64_t pieces() const override { return 1; }
  TaskSample Make(int64_t sample, int64_t place) const final {
    CheckSample(*this, sample);
    CheckPlace(*this, place);
    return MakeChecked(sample, place);
  }

 protected:
  // Constructor for subclasses that set name_ by themselves or have no name.
  SpecTask() = default;
  explicit SpecTask(const TaskSpec& spec) : name_(TaskSpecText(spec)) {}
  // Makes a sample. Make() calls it after checking sample and place.
  virtual TaskSample MakeChecked(int64_t sample, int64_t place) const = 0;

  std::string name_;
};

// Makes a task of type T; usable as TaskType::make.
template <typename T>
std::unique_ptr<Task> MakeSpecTask(const TaskSpec& spec, const TaskInputs& inputs) {
  return std::make_unique<T>(spec, inputs);
}

}  // namespace midscope
