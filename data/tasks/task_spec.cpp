// SPDX-License-Identifier: MIT
#include "data/tasks/task_spec.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/nearest_word.h"
#include "core/base/number_text.h"
#include "core/base/utf8.h"

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
  if (!parameter.choices.empty()) {
    const auto found = std::find(parameter.choices.begin(), parameter.choices.end(), text);
    if (found == parameter.choices.end()) {
      throw UsageError(thing, parameter.name + " can't be '" + std::string(text) + "'",
                       KnownWordsHint(text, parameter.choices));
    }
    return found - parameter.choices.begin();
  }
  int64_t value = 0;
  if (!ReadWhole(text, value) || value < parameter.minimum || value > parameter.maximum) {
    throw UsageError(thing,
                     parameter.name + " can't be '" + std::string(text) + "': it is a whole number",
                     "Give " + parameter.name + " from " + std::to_string(parameter.minimum) +
                         " to " + std::to_string(parameter.maximum));
  }
  return value;
}

std::string ValueText(const TaskSpec& spec, const TaskParameter& parameter) {
  if (parameter.is_file) return spec.file;
  if (parameter.is_path) return spec.paths.at(parameter.name);
  const int64_t value = spec.values.at(parameter.name);
  return parameter.choices.empty() ? std::to_string(value)
                                   : parameter.choices.at(static_cast<size_t>(value));
}

bool IsStated(const TaskSpec& spec, const TaskParameter& parameter) {
  if (parameter.is_file) return !spec.file.empty();
  if (parameter.is_path) return spec.paths.contains(parameter.name);
  return parameter.always_stated || spec.values.at(parameter.name) != parameter.default_value;
}

// Fills in what the text leaves out.
void FillDefaults(const std::string& thing, const TaskDescription& task, TaskSpec& spec) {
  for (const TaskParameter& parameter : task.parameters) {
    if (!parameter.is_file && !parameter.is_path) {
      spec.values.emplace(parameter.name, parameter.default_value);
    } else if (parameter.is_file && parameter.required && spec.file.empty()) {
      throw UsageError(thing, "it needs " + parameter.help, "Add file=PATH at its end");
    }
  }
}

// file= takes the rest of the spec. Where there is no such file and another parameter stands in it,
// that is the mistake.
void CheckFileIsLast(const std::string& thing, const TaskDescription& task,
                     const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return;
  for (const TaskParameter& parameter : task.parameters) {
    if (file.find("," + parameter.name + "=") == std::string::npos) continue;
    throw UsageError(thing,
                     "file= takes the rest of the text, so " + parameter.name +
                         "= behind it is a part of the file's name",
                     "Put file= last");
  }
}

// Takes one PARAMETER=VALUE off the front of `rest`, with the comma after it.
void ReadParameter(const std::string& thing, const TaskDescription& task, std::string_view& rest,
                   TaskSpec& spec) {
  size_t end = rest.find(',');
  const std::string_view pair = rest.substr(0, end);
  const size_t equals = pair.find('=');
  const std::string name(pair.substr(0, equals));
  const TaskParameter* parameter = Find(task.parameters, name);
  if (!parameter || equals == std::string_view::npos) {
    throw UsageError(thing, "expected PARAMETER=NUMBER, found '" + std::string(pair) + "'",
                     KnownWordsHint(name, Names(task.parameters)));
  }
  if (!spec.given.insert(name).second) {
    throw UsageError(thing, name + " occurs twice", "Leave one of the two out");
  }
  if (parameter->is_file) {
    spec.file = rest.substr(equals + 1);
    rest = "";
    if (spec.file.empty()) throw UsageError(thing, "file= names no file");
    CheckFileIsLast(thing, task, spec.file);
    return;
  }
  if (parameter->is_path) {
    const std::string_view path = pair.substr(equals + 1);
    if (path.empty()) throw UsageError(thing, name + "= names no file");
    spec.paths[name] = path;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    return;
  }
  spec.values[name] = ReadValue(thing, *parameter, pair.substr(equals + 1));
  if (end == std::string_view::npos) {
    rest = "";
    return;
  }
  rest = rest.substr(end + 1);
  if (rest.empty()) throw UsageError(thing, "ends in a comma", "Leave it out");
}

}  // namespace

TaskParameter ChoiceParameter(const std::string& name, const std::string& help,
                              const std::vector<std::string>& choices) {
  return {name, help, 0, static_cast<int64_t>(choices.size()) - 1, 0, choices};
}

TaskParameter FileParameter(const std::string& help, bool required) {
  return {.name = "file", .help = help, .is_file = true, .required = required};
}

TaskParameter PathParameter(const std::string& name, const std::string& help) {
  return {.name = name, .help = help, .is_path = true};
}

TaskParameter PromptTokensParameter() {
  constexpr int64_t kFewestTokens = 100;
  constexpr int64_t kMostTokens = 1 << 20;
  return {"tokens", "length of the prompt", kFewestTokens, kMostTokens, 1024};
}

TaskParameter FirstPlaceParameter() {
  return {.name = "first_place",
          .help = "0: places are counted from 0, as in the published files",
          .minimum = 0,
          .maximum = 1,
          .default_value = 1,
          .always_stated = false};
}

TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskDescription>& tasks) {
  const std::string thing = "task '" + std::string(spec) + "'";
  CheckUtf8("task", spec);
  const size_t colon = spec.find(':');
  TaskSpec parsed;
  parsed.task = spec.substr(0, colon);
  const TaskDescription* task = Find(tasks, parsed.task);
  if (!task && (spec.ends_with(".jsonl") || spec.ends_with(".jsonl.gz"))) {
    return ParseTaskSpec("jsonl:file=" + std::string(spec), tasks);
  }
  if (!task) {
    throw UsageError(thing, "there is no task '" + parsed.task + "'",
                     KnownWordsHint(parsed.task, Names(tasks)));
  }
  std::string_view rest = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  while (!rest.empty()) ReadParameter(thing, *task, rest, parsed);
  FillDefaults(thing, *task, parsed);
  return parsed;
}

std::string TaskSpecText(const TaskSpec& spec, const TaskDescription& description) {
  std::string text = spec.task;
  for (const TaskParameter& parameter : description.parameters) {
    if (!IsStated(spec, parameter)) continue;
    text += (text.size() == spec.task.size() ? ":" : ",") + parameter.name + "=" +
            ValueText(spec, parameter);
  }
  return text;
}

}  // namespace midscope
