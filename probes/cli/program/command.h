// SPDX-License-Identifier: MIT
// The commands of the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "core/base/parameter.h"
#include "probes/sweep/rank_group.h"

namespace midscope::cli {

// The arguments of a running command.
struct CommandInput {
  const OptionSet& options;
  const JobContext& job;            // progress, cancellation by Ctrl-C, messages to standard error
  const std::string& command_line;  // command line as typed, for the provenance
  std::ostream& out;                // results; throws if they cannot be written
  std::unique_ptr<RankGroup>& ranks;  // set by a command with several processes; used until the end
};

struct Command {
  std::string name;
  std::string summary;      // one line
  std::string description;  // text for --help
  // Names of the positional arguments, in order; a list option takes all remaining arguments.
  std::vector<std::string> positionals;
  std::vector<Parameter> options;
  std::string examples;  // text for --help
  // Name of a flag that only prints information: with it, no positional or required option is
  // needed.
  std::string informs{};
  // Runs the command. Throws Error, Cancelled, Interrupted.
  std::function<void(const CommandInput&)> run;
  // Returns whether several processes (mpirun, srun) share the command's work. If empty, only one
  // of the processes runs the command.
  std::function<bool(const OptionSet&)> is_shared{};
};

// Thrown instead of Cancelled by commands that store finished work; the text says what has been
// stored and how to resume. It is empty if another process reports that.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Command DemoCommand();
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
Command CompareModelsCommand();
Command InfluenceCommand();
Command ReportCommand();
Command CurvesCommand();
Command JudgeCommand();
Command ChannelsCommand();
Command RopeCommand();
Command PositionsCommand();
Command TuneCommand();
Command LensCommand();
Command CompletionCommand();
Command ManCommand();
Command ServeCommand();

// Returns all commands, in the order in which help lists them.
const std::vector<Command>& Commands();

// Finds a command by name. Throws Error (usage), which suggests the nearest name, if there is none
// of that name.
const Command& FindCommand(const std::string& name);

// Returns whether the option is a positional argument of the command.
bool IsPositional(const Command& command, const std::string& option);
// Returns the name of a positional argument as help shows it: "MODEL".
std::string UpperCase(std::string text);
// Returns the option as help shows it: "MODEL" if it is positional, else "--task".
std::string ShownName(const Command& command, const std::string& option);
// Returns the option's help with the allowed values and the default.
std::string HelpWithFacts(const Parameter& option);

// Returns the value of --with for commands that accept only one setting; `none` by default. Throws
// Error (usage) if there are several.
std::string OneSetting(const OptionSet& options, const std::string& command);

// Returns the options that every command has.
std::vector<Parameter> CommonOptions();

// Make the options --with, --json and --out.
Parameter WithOption(const std::string& help);
Parameter JsonOption();
Parameter OutOption(const std::string& help);

}  // namespace midscope::cli
