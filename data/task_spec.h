// SPDX-License-Identifier: MIT
// "list:lines=20" taken apart and checked against what a task says about itself.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace midscope {

struct TaskParameter {
  std::string name;
  std::string help;
  int64_t minimum = 0;
  int64_t maximum = 0;
  int64_t default_value = 0;
};

struct TaskDescription {
  std::string name;
  std::string summary;
  std::vector<TaskParameter> parameters;
};

struct TaskSpec {
  std::string task;
  std::map<std::string, int64_t> values;  // every parameter of the task
};

// Throws Error (usage) for an unknown task or parameter, a parameter given twice or out of range.
TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskDescription>& tasks);

// Every parameter stated: "kv:pairs=75,query_aware=0".
std::string TaskSpecText(const TaskSpec& spec, const TaskDescription& description);

}  // namespace midscope
