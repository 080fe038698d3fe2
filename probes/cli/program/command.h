// SPDX-License-Identifier: MIT
// The commands of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/parameter.h"

namespace midscope {
class ProbeRegistry;
}

namespace midscope::cli {

// The arguments of a running command.
struct CommandInput {
  const OptionSet& options;
  const JobContext& job;            // progress, cancel by Ctrl-C, messages to standard error
  const std::string& command_line;  // as given, for the provenance
  std::ostream& out;                // results; throws if they cannot be written
};

struct Command {
  std::string name;
  std::string summary;      // one line
  std::string description;  // for --help
  // Options that are positional, in order; a list takes all remaining arguments.
  std::vector<std::string> positionals;
  std::vector<Parameter> options;
  std::string examples;  // lines for --help
  // A flag that only prints information: with it no positional and no required option is needed.
  std::string informs{};
  // Throws Error, Cancelled, Interrupted.
  std::function<void(const CommandInput&)> run;
  // Whether several processes (mpirun, srun) share the work; empty: never, and one of them runs it.
  std::function<bool(const OptionSet&)> is_shared{};
  // For a command that runs probes: the same command with these probes and their options. It has
  // --plugin.
  std::function<Command(const ProbeRegistry&)> with_probes;
};

// Cancelled, with the state that is left and how to resume.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Command FetchCommand();
Command InfoCommand();
Command ProbeCommand();
Command SweepCommand();
Command ScanCommand();
Command WhatIfCommand();
Command GenerateCommand();
Command ExportCommand();
Command ListCommand();
Command ShowCommand();
Command MergeCommand();
Command CompareCommand();
Command CurvesCommand();
Command ChannelsCommand();
Command RopeCommand();
Command PositionsCommand();
Command CompletionCommand();
Command ManCommand();

// All commands, in the order of the help.
const std::vector<Command>& Commands();

// Throws Error (usage) with the nearest name for an unknown one.
const Command& FindCommand(const std::string& name);

// The command with the probes of the libraries in MIDSCOPE_PLUGIN_PATH and in --plugin among the
// arguments, where it runs probes. Called before the other arguments are parsed, because plugins
// add options. Throws Error.
Command WithPlugins(const Command& command, const std::vector<std::string>& arguments);

// All commands, with the probes of the libraries in MIDSCOPE_PLUGIN_PATH. Throws Error.
std::vector<Command> CommandsWithPlugins();

// Whether the command takes the option by its place on the line.
bool IsPositional(const Command& command, const std::string& option);
// Such an option's name in help: "MODEL".
std::string UpperCase(std::string text);
// The option's help with the allowed values and the default.
std::string HelpWithFacts(const Parameter& option);

// --with of a command with one setting; default: `none`. Throws Error (usage).
std::string OneSetting(const OptionSet& options, const std::string& command);

// The options of every command.
std::vector<Parameter> CommonOptions();

// The option --with, --json, and --out with this help.
Parameter WithOption(const std::string& help);
Parameter JsonOption();
Parameter OutOption(const std::string& help);

}  // namespace midscope::cli
