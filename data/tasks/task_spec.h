// SPDX-License-Identifier: MIT
// Parses "list:lines=20" and checks it against the task's description.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct TaskParameter {
  std::string name;
  std::string help;
  int64_t minimum = 0;
  int64_t maximum = 0;
  int64_t default_value = 0;  // of choices: an index
  std::vector<std::string> choices = {};
  bool is_file = false;  // takes the rest of the spec, commas and all
  bool is_path = false;  // names another file; up to the next comma
  bool required = false;
  // false: is in the spec's full text only where it differs from the default. For what was
  // added to a task whose name is in files already.
  bool always_stated = true;
};

TaskParameter ChoiceParameter(const std::string& name, const std::string& help,
                              const std::vector<std::string>& choices);
TaskParameter FileParameter(const std::string& help, bool required);
TaskParameter PathParameter(const std::string& name, const std::string& help);
// tokens: how long the prompt of a task is that hides something in a text.
TaskParameter PromptTokensParameter();
// first_place: 1, or 0 for the numbering of the published files.
TaskParameter FirstPlaceParameter();

struct TaskDescription {
  std::string name;
  std::string summary;
  std::vector<TaskParameter> parameters;
};

struct TaskSpec {
  std::string task;
  std::map<std::string, int64_t> values;          // every parameter of the task but its file
  std::map<std::string, std::string> paths = {};  // of is_path, those that are given
  std::string file;                               // empty: none
  std::set<std::string> given;                    // parameters that the text states

  bool IsGiven(const std::string& name) const { return given.contains(name); }
};

// A path that ends in .jsonl or .jsonl.gz is read as jsonl:file=PATH. Throws Error (usage) for an
// unknown task or parameter, a parameter given twice or out of range.
TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskDescription>& tasks);

// Every parameter stated: "kv:pairs=75,query_aware=0".
std::string TaskSpecText(const TaskSpec& spec, const TaskDescription& description);

}  // namespace midscope
