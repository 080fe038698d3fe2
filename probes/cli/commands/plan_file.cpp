// SPDX-License-Identifier: MIT
#include "probes/cli/commands/plan_file.h"

#include <fmt/format.h>
#define TOML_EXCEPTIONS 1
#include <toml++/toml.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/base/error.h"
#include "core/base/text.h"
#include "core/tokenizer/prompt.h"

namespace midscope::cli {
namespace {

using Json = nlohmann::ordered_json;

Json ParseTomlPlan(const std::string& path, const std::string& text) {
  try {
    std::ostringstream json;
    json << toml::json_formatter{toml::parse(text)};
    return Json::parse(json.str());
  } catch (const toml::parse_error& error) {
    throw UsageError(fmt::format("{}, line {}", path, error.source().begin.line),
                     "it is not TOML: " + std::string(error.description()));
  } catch (const Json::parse_error&) {
    throw UsageError(path,
                     "it contains a value that is neither a string nor a number, such as a date");
  }
}

Json ParseJsonPlan(const std::string& path, const std::string& text) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const auto offset = static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = 1 + std::count(text.begin(), text.begin() + offset, '\n');
    throw UsageError(fmt::format("{}, line {}", path, line), "it is not JSON");
  }
}

// Converts a list of models in a plan to options: the first to `model`, the others to --also.
Json Models(const std::string& path, Json plan) {
  const auto model = plan.find("model");
  if (model == plan.end() || !model->is_array()) return plan;
  if (model->empty()) throw UsageError(path + ", 'model'", "it names none");
  if (plan.contains("also")) {
    throw UsageError(path + ", 'also'", "'model' lists several models already",
                     "Put all of them into 'model'");
  }
  Json others = Json::array();
  for (size_t i = 1; i < model->size(); ++i) others.push_back((*model)[i]);
  const Json first = model->front();
  plan["model"] = first;
  if (!others.empty()) plan["also"] = others;
  return plan;
}

// Returns a number or text as it is written on the command line.
std::string TextOf(const std::string& thing, const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number()) return value.dump();
  throw UsageError(thing, "it must be a string or a number, not " +
                              value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

// Converts a value of the file to the option's type.
Json Fitting(const std::string& thing, const Parameter& option, const Json& value) {
  if (option.kind == ParameterKind::kTextList) {
    Json list = Json::array();
    if (!value.is_array()) return Json::array({TextOf(thing, value)});
    for (const Json& item : value) list.push_back(TextOf(thing, item));
    return list;
  }
  const bool is_text = option.kind == ParameterKind::kText || option.kind == ParameterKind::kFile;
  if (!is_text) return value;
  if (!value.is_array()) return TextOf(thing, value);
  std::string joined;
  for (const Json& item : value) joined += (joined.empty() ? "" : ",") + TextOf(thing, item);
  return joined;
}

}  // namespace

Json ReadPlanFile(const std::string& path) {
  const std::string ending = std::filesystem::path(path).extension().string();
  if (ending != ".json" && ending != ".toml") {
    throw UsageError(path, "a plan's name ends in .json or .toml");
  }
  const std::string text = ReadPromptFile(path);
  Json plan = ending == ".json" ? ParseJsonPlan(path, text) : ParseTomlPlan(path, text);
  if (!plan.is_object()) throw UsageError(path, "it is not an object of names and values");
  return plan;
}

OptionSet WithPlanObject(const OptionSet& command_line, const Json& plan, const std::string& path) {
  OptionSet options(command_line.descriptions());
  std::vector<std::string> known;
  for (const Parameter& option : options.descriptions()) {
    if (option.name != "plan") known.push_back(option.name);
  }
  for (const auto& [name, value] : plan.items()) {
    const std::string thing = fmt::format("{}, '{}'", path, name);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw UsageError(thing, "the option is unknown", KnownWordsHint(name, known));
    }
    if (name == "adapter") {
      throw UsageError(thing, "an adapter is a part of the model's text in a plan",
                       "Write model = \"MODEL adapter=FOLDER\"");
    }
    options.FromJson(Json{{name, Fitting(thing, options.Describe(name), value)}}.dump());
  }
  for (const Parameter& option : options.descriptions()) {
    if (command_line.IsSet(option.name)) options.Set(option.name, command_line.Value(option.name));
  }
  return options;
}

OptionSet WithPlanFile(const OptionSet& command_line, const std::string& path) {
  return WithPlanObject(command_line, Models(path, ReadPlanFile(path)), path);
}

void RequireModel(const OptionSet& options, const std::string& command) {
  if (!options.Text("model").empty()) return;
  throw UsageError("MODEL", "it must be given: " + options.Describe("model").help,
                   "midscope " + command + " --help shows how");
}

}  // namespace midscope::cli
