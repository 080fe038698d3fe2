// SPDX-License-Identifier: MIT
#include "data/task_spec.h"

#include <charconv>

#include "core/error.h"
#include "core/nearest_word.h"

namespace midscope {
namespace {

template <typename T>
std::vector<std::string> Names(const std::vector<T>& items) {
  std::vector<std::string> names;
  names.reserve(items.size());
  for (const T& item : items) names.push_back(item.name);
  return names;
}

template <typename T>
const T* Find(const std::vector<T>& items, std::string_view name) {
  for (const T& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

int64_t ReadValue(const std::string& thing, const TaskParameter& parameter, std::string_view text) {
  int64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  if (result.ec != std::errc() || result.ptr != text.data() + text.size() ||
      value < parameter.minimum || value > parameter.maximum) {
    throw UsageError(thing,
                     parameter.name + " can't be '" + std::string(text) + "': it is a whole number",
                     "Give " + parameter.name + " from " + std::to_string(parameter.minimum) +
                         " to " + std::to_string(parameter.maximum));
  }
  return value;
}

}  // namespace

TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskDescription>& tasks) {
  const std::string thing = "task '" + std::string(spec) + "'";
  const size_t colon = spec.find(':');
  TaskSpec parsed{std::string(spec.substr(0, colon)), {}};
  const TaskDescription* task = Find(tasks, parsed.task);
  if (!task) {
    throw UsageError(thing, "there is no task '" + parsed.task + "'",
                     KnownWordsHint(parsed.task, Names(tasks)));
  }
  std::string_view rest = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view pair = rest.substr(0, comma);
    const size_t equals = pair.find('=');
    const std::string name(pair.substr(0, equals));
    const TaskParameter* parameter = Find(task->parameters, name);
    if (!parameter || equals == std::string_view::npos) {
      throw UsageError(thing, "expected PARAMETER=NUMBER, found '" + std::string(pair) + "'",
                       KnownWordsHint(name, Names(task->parameters)));
    }
    if (!parsed.values.emplace(name, ReadValue(thing, *parameter, pair.substr(equals + 1)))
             .second) {
      throw UsageError(thing, name + " stands twice", "Leave one of the two out");
    }
    if (comma == std::string_view::npos) break;
    rest = rest.substr(comma + 1);
    if (rest.empty()) throw UsageError(thing, "ends in a comma", "Leave it out");
  }
  for (const TaskParameter& parameter : task->parameters) {
    parsed.values.emplace(parameter.name, parameter.default_value);
  }
  return parsed;
}

std::string TaskSpecText(const TaskSpec& spec, const TaskDescription& description) {
  std::string text = spec.task;
  for (const TaskParameter& parameter : description.parameters) {
    text += (text.size() == spec.task.size() ? ":" : ",") + parameter.name + "=" +
            std::to_string(spec.values.at(parameter.name));
  }
  return text;
}

}  // namespace midscope
