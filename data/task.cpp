// SPDX-License-Identifier: MIT
#include "data/task.h"

#include "core/error.h"
#include "data/key_value_task.h"
#include "data/list_task.h"
#include "data/task_spec.h"

namespace midscope {
namespace {

std::vector<TaskDescription> Tasks() { return {DescribeListTask(), DescribeKeyValueTask()}; }

}  // namespace

void CheckPlace(const Task& task, int64_t place) {
  if (place < 1 || place > task.pieces()) {
    throw UsageError("place " + std::to_string(place),
                     "task " + task.name() + " has " + std::to_string(task.pieces()) + " places",
                     "Give a place from 1 to " + std::to_string(task.pieces()));
  }
}

std::unique_ptr<Task> MakeTask(std::string_view spec, uint64_t seed, const WordFilter& filter) {
  const TaskSpec parsed = ParseTaskSpec(spec, Tasks());
  if (parsed.task == "list") return MakeListTask(parsed, seed, filter);
  return MakeKeyValueTask(parsed, seed);
}

std::string TaskHelp() {
  std::string help;
  for (const TaskDescription& task : Tasks()) {
    help += task.name + ": " + task.summary + "\n";
    for (const TaskParameter& parameter : task.parameters) {
      help += "  " + parameter.name + ": " + parameter.help + " (" +
              std::to_string(parameter.minimum) + " to " + std::to_string(parameter.maximum) +
              ", default " + std::to_string(parameter.default_value) + ")\n";
    }
  }
  return help;
}

}  // namespace midscope
