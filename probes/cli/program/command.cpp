// SPDX-License-Identifier: MIT
#include "probes/cli/program/command.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/text.h"

namespace midscope::cli {

const std::vector<Command>& Commands() {
  static const std::vector<Command> commands = {
      DemoCommand(),       FetchCommand(),   InfoCommand(),
      ProbeCommand(),      SweepCommand(),   ScanCommand(),
      InfluenceCommand(),  WhatIfCommand(),  GenerateCommand(),
      ChannelsCommand(),   RopeCommand(),    PositionsCommand(),
      TuneCommand(),       LensCommand(),    ListCommand(),
      ShowCommand(),       CompareCommand(), CompareModelsCommand(),
      ReportCommand(),     CurvesCommand(),  JudgeCommand(),
      MergeCommand(),      ExportCommand(),  ServeCommand(),
      CompletionCommand(), ManCommand()};
  return commands;
}

const Command& FindCommand(const std::string& name) {
  std::vector<std::string> known = {"help", "version"};
  for (const Command& command : Commands()) {
    if (command.name == name) return command;
    known.push_back(command.name);
  }
  throw UsageError("'" + name + "'", "the command is unknown", KnownWordsHint(name, known));
}

bool IsPositional(const Command& command, const std::string& option) {
  const auto& names = command.positionals;
  return std::find(names.begin(), names.end(), option) != names.end();
}

std::string ShownName(const Command& command, const std::string& option) {
  return IsPositional(command, option) ? UpperCase(option) : "--" + option;
}

std::string UpperCase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string HelpWithFacts(const Parameter& option) {
  const std::string facts = FactsText(option);
  return option.help + (facts.empty() ? "" : "; " + facts);
}

std::string OneSetting(const OptionSet& options, const std::string& command) {
  const std::vector<std::string>& settings = options.TextList("with");
  if (settings.size() > 1) {
    throw UsageError("option --with",
                     fmt::format("{} takes one setting, not {}", command, settings.size()),
                     "Join changes with ' + ', or compare settings with midscope sweep");
  }
  return settings.empty() ? "none" : settings.front();
}

std::vector<Parameter> CommonOptions() {
  Parameter progress = ChoiceParameter(
      "progress",
      "how progress is told on standard error; json: a line for each step, such as {\"stage\": "
      "\"sweep\", \"done\": 12, \"total\": 40, \"unit\": \"samples\"}, for programs that run this "
      "one; notes between them are text, and --quiet leaves them out",
      {"text", "json"});
  progress.default_value = "text";
  return {FlagParameter("quiet",
                        "no progress and no notes on standard error; warnings and errors stay"),
          progress};
}

Parameter WithOption(const std::string& help) {
  return TextListParameter("with", help + " (see midscope help interventions)");
}

Parameter JsonOption() { return FlagParameter("json", "print the results as JSON"); }

Parameter OutOption(const std::string& help) { return FileParameter("out", help); }

}  // namespace midscope::cli
