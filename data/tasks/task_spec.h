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

// Parameter `file`, the last one of most tasks.
Parameter TaskFile(const std::string& help, bool required);
// Parameter `tokens`: length of the prompt, for tasks that hide something in a long text.
Parameter PromptTokensParameter();
// Parameter `first_place`: 1, or 0 to number places as the published files do.
Parameter FirstPlaceParameter();

struct TaskSpec {
  std::string task;
  OptionSet parameters;  // those that the text states are set

  int64_t Number(std::string_view name) const { return parameters.Integer(name); }
  // Index of the value among the parameter's choices.
  size_t Choice(std::string_view name) const;
  // Returns the path of a file parameter; "" if the spec does not state it or the task does not
  // have it.
  const std::string& Path(std::string_view name) const;
  const std::string& file() const { return Path("file"); }
};

// Describes a task. Each is defined in a file NAME_task.cpp of this folder; tasks.h lists them.
struct TaskType {
  std::string name;
  std::string summary;
  // Numbers, choices and files. If the last one is a file, its path is the rest of the spec,
  // including commas; the path of any other file ends at the next comma.
  std::vector<Parameter> parameters;
  std::unique_ptr<Task> (*make)(const TaskSpec& spec, const TaskInputs& inputs) = nullptr;
  // Returns other files on whose contents the samples depend: those in the folder `file`, or
  // examples next to it. Null: there are none.
  std::vector<std::string> (*more_files)(const TaskSpec& spec) = nullptr;
  // Whether the task has MiddleCutParameter (token_cut.h), which cuts its samples.
  bool cuts_middle = false;
  // Whether sample N is made from line N of the file alone.
  bool samples_are_lines = false;
};

// Parses a spec; a path that ends in .jsonl, .jsonl.gz or .csv means
// jsonl:file=PATH. Throws Error
// (usage) if the task or a parameter is unknown, or if a parameter is given twice, out of range or
// missing.
TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskType>& tasks);
// As above, but a required parameter may be missing: for forms that are being filled in.
TaskSpec ParseTaskDraft(std::string_view spec, const std::vector<TaskType>& tasks);

// Returns the spec with every parameter stated: "kv:pairs=75,query_aware=0".
std::string TaskSpecText(const TaskSpec& spec);
// Returns the spec with only the stated parameters: "kv:pairs=75". ParseTaskDraft converts it back,
// unless a file other than the last parameter has a comma in its path.
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
  // For subclasses that set name_ themselves, or have none.
  SpecTask() = default;
  explicit SpecTask(const TaskSpec& spec) : name_(TaskSpecText(spec)) {}
  // As Make, which has checked sample and place.
  virtual TaskSample MakeChecked(int64_t sample, int64_t place) const = 0;

  std::string name_;
};

// For TaskType::make.
template <typename T>
std::unique_ptr<Task> MakeSpecTask(const TaskSpec& spec, const TaskInputs& inputs) {
  return std::make_unique<T>(spec, inputs);
}

}  // namespace midscope
