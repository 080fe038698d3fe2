// SPDX-License-Identifier: MIT
#include "data/tasks/task_spec.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/base/utf8.h"

namespace midscope {
namespace {

std::string ThingOf(std::string_view spec) { return "task '" + std::string(spec) + "'"; }

template <typename T>
const T* Find(const std::vector<T>& items, std::string_view name) {
  for (const T& item : items) {
    if (item.name == name) return &item;
  }
  return nullptr;
}

bool TakesRest(const TaskType& task, const Parameter& parameter) {
  return parameter.kind == ParameterKind::kFile && &parameter == &task.parameters.back();
}

void CheckRequired(const std::string& thing, const TaskSpec& spec) {
  for (const Parameter& parameter : spec.parameters.descriptions()) {
    if (!parameter.required || spec.parameters.Has(parameter.name)) continue;
    throw UsageError(thing, "it needs " + parameter.help,
                     "Add " + parameter.name +
                         (parameter.kind == ParameterKind::kFile ? "=PATH at its end" : "=VALUE"));
  }
}

template <typename IsStated>
std::string Text(const TaskSpec& spec, IsStated is_stated) {
  std::string text;
  for (const Parameter& parameter : spec.parameters.descriptions()) {
    if (!is_stated(parameter)) continue;
    text += (text.empty() ? ":" : ",") + parameter.name + "=" +
            ParameterText(spec.parameters.Value(parameter.name));
  }
  return spec.task + text;
}

// Throws Error if the file does not exist and its path contains ",PARAMETER=": file= must be the
// last parameter, because its value is the rest of the spec.
void CheckFileIsLast(const std::string& thing, const TaskType& task, const std::string& file) {
  std::error_code ignored;
  if (std::filesystem::exists(file, ignored)) return;
  for (const Parameter& parameter : task.parameters) {
    if (file.find("," + parameter.name + "=") == std::string::npos) continue;
    throw UsageError(thing,
                     "file= takes the rest of the text, so " + parameter.name +
                         "= behind it is a part of the file's name",
                     "Put file= last");
  }
}

// Parses one PARAMETER=VALUE at the front of `rest` and removes it with the comma after it.
void ReadParameter(const std::string& thing, const TaskType& task, std::string_view& rest,
                   TaskSpec& spec) {
  size_t end = rest.find(',');
  const std::string_view pair = rest.substr(0, end);
  const size_t equals = pair.find('=');
  const std::string name(pair.substr(0, equals));
  const Parameter* parameter = Find(task.parameters, name);
  if (!parameter || equals == std::string_view::npos) {
    const bool path = equals == std::string_view::npos && Find(task.parameters, "file") &&
                      name.find_first_of("./") != std::string::npos;
    throw UsageError(
        thing, "expected PARAMETER=VALUE, found '" + std::string(pair) + "'",
        path ? "Write file=" + std::string(rest) : KnownWordsHint(name, NamesIn(task.parameters)));
  }
  if (spec.parameters.IsSet(name)) {
    throw UsageError(thing, name + " occurs twice", "Leave one of the two out");
  }
  const bool last = TakesRest(task, *parameter);
  if (last) end = std::string_view::npos;
  const std::string_view value = rest.substr(0, end).substr(equals + 1);
  const bool file = parameter->kind == ParameterKind::kFile;
  if (file && value.empty()) throw UsageError(thing, name + "= names no file");
  if (last) CheckFileIsLast(thing, task, std::string(value));
  spec.parameters.Set(name, ReadValue(*parameter, value, thing + ", " + name));
  if (end == std::string_view::npos) {
    rest = "";
    return;
  }
  rest = rest.substr(end + 1);
  if (rest.empty() && !file) throw UsageError(thing, "ends in a comma", "Leave it out");
}

}  // namespace

Parameter TaskFile(const std::string& help, bool required) {
  Parameter file = FileParameter("file", help);
  file.required = required;
  return file;
}

Parameter PromptTokensParameter() {
  constexpr int64_t kFewestTokens = 100;
  constexpr int64_t kMostTokens = 1 << 20;
  return WholeNumberParameter("tokens", "length of the prompt", kFewestTokens, kMostTokens, 1024);
}

Parameter FirstPlaceParameter() {
  Parameter place = WholeNumberParameter(
      "first_place", "0: places are counted from 0, as in the published files", 0, 1, 1);
  place.always_stated = false;
  return place;
}

size_t TaskSpec::Choice(std::string_view name) const {
  const auto& choices = parameters.Describe(name).choices;
  return static_cast<size_t>(std::find(choices.begin(), choices.end(), parameters.Text(name)) -
                             choices.begin());
}

const std::string& TaskSpec::Path(std::string_view name) const {
  static const std::string none;
  return Find(parameters.descriptions(), name) ? parameters.Text(name) : none;
}

TaskSpec ParseTaskDraft(std::string_view spec, const std::vector<TaskType>& tasks) {
  const std::string thing = ThingOf(spec);
  if (FindInvalidUtf8(spec)) {
    throw UsageError(thing,
                     "its text must be UTF-8, names of files included: files of results hold it",
                     "Rename the file or its folder");
  }
  const size_t colon = spec.find(':');
  const std::string name(spec.substr(0, colon));
  const TaskType* task = Find(tasks, name);
  if (!task &&
      (spec.ends_with(".jsonl") || spec.ends_with(".jsonl.gz") || spec.ends_with(".csv"))) {
    return ParseTaskDraft("jsonl:file=" + std::string(spec), tasks);
  }
  if (!task) {
    const bool data = spec.ends_with(".json") || spec.ends_with(".parquet") ||
                      spec.ends_with(".tsv") || spec.ends_with(".json.gz");
    throw UsageError(thing,
                     data ? "files of this kind are not read" : "task '" + name + "' is unknown",
                     data ? "Questions are read from JSONL, one object per line, or CSV "
                            "(midscope help jsonl). Convert the file, in Python: "
                            "pandas.read_json(FILE).to_json('log.jsonl', orient='records', "
                            "lines=True); or read_parquet, read_csv(FILE, sep='\\t')"
                          : KnownWordsHint(name, NamesIn(tasks)));
  }
  TaskSpec parsed{name, OptionSet(task->parameters)};
  std::string_view rest = colon == std::string_view::npos ? "" : spec.substr(colon + 1);
  while (!rest.empty()) ReadParameter(thing, *task, rest, parsed);
  return parsed;
}

TaskSpec ParseTaskSpec(std::string_view spec, const std::vector<TaskType>& tasks) {
  TaskSpec parsed = ParseTaskDraft(spec, tasks);
  CheckRequired(ThingOf(spec), parsed);
  return parsed;
}

std::string TaskSpecText(const TaskSpec& spec) {
  return Text(spec, [&spec](const Parameter& parameter) {
    const ParameterValue& value = spec.parameters.Value(parameter.name);
    return spec.parameters.Has(parameter.name) &&
           (parameter.always_stated || value != parameter.default_value);
  });
}

std::string StatedTaskText(const TaskSpec& spec) {
  return Text(
      spec, [&spec](const Parameter& parameter) { return spec.parameters.IsSet(parameter.name); });
}

}  // namespace midscope
