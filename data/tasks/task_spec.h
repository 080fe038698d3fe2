// SPDX-License-Identifier: MIT
// Parses "list:lines=20" and checks it against the task's description.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/options.h"
#include "core/base/parameter.h"

namespace midscope {

class Task;
struct TaskInputs;

// The last parameter of most tasks, `file`.
Parameter TaskFile(const std::string& help, bool required);
// tokens: how long the prompt of a task is that hides something in a text.
Parameter PromptTokensParameter();
// first_place: 1, or 0 for the numbering of the published files.
Parameter FirstPlaceParameter();

struct TaskSpec {
  std::string task;
  OptionSet parameters;  // set: those that the text states

  int64_t Number(std::string_view name) const { return parameters.Integer(name); }
  // Index among the parameter's choices.
  size_t Choice(std::string_view name) const;
  // A file's path; "" if the spec names none or the task takes none.
  const std::string& Path(std::string_view name) const;
  const std::string& file() const { return Path("file"); }
};

// A task, as data: one file NAME_task.cpp of this folder each; tasks.h lists them.
struct TaskType {
  std::string name;
  std::string summary;
  // Numbers, choices and files. A file that is the last one takes the rest of the spec, commas and
  // all; another file's path ends at the next comma.
  std::vector<Parameter> parameters;
  std::unique_ptr<Task> (*make)(const TaskSpec& spec, const TaskInputs& inputs) = nullptr;
  // Further files, not named in the spec, whose content the samples depend on: those of the folder
  // `file`, examples next to it. Null: there never are any.
  std::vector<std::string> (*more_files)(const TaskSpec& spec) = nullptr;
  // Whether it has the parameter of MiddleCutParameter (token_cut.h), by which its samples are cut.
  bool cuts_middle = false;
};

// A path that ends in .jsonl or .jsonl.gz is read as jsonl:file=PATH. Throws Error (usage) for an
// unknown task or parameter, a parameter given twice, out of range or missing.
TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskType>& tasks);
// As above, but a required parameter may be missing: for forms that are being filled in.
TaskSpec ParseTaskDraft(std::string_view spec, const std::vector<TaskType>& tasks);

// Every parameter stated: "kv:pairs=75,query_aware=0".
std::string TaskSpecText(const TaskSpec& spec);
// The stated parameters alone: "kv:pairs=75". ParseTaskDraft of it gives the same
// spec, unless a file other than the last parameter has a comma in its path.
std::string StatedTaskText(const TaskSpec& spec);

}  // namespace midscope
