// SPDX-License-Identifier: MIT
// What a command of the program is.
#pragma once

#include <cstdint>
#include <functional>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/base/job.h"
#include "core/base/options.h"
#include "probes/base/option_kinds.h"

namespace midscope {
class ProbeRegistry;
}

namespace midscope::cli {

// What a running command is handed.
struct CommandInput {
  const OptionSet& options;
  const JobContext& job;            // progress, cancel by Ctrl-C, messages to standard error
  const std::string& command_line;  // as given, for the provenance
  std::ostream& out;                // results; throws where they cannot be written
};

struct Command {
  std::string name;
  std::string summary;      // one line
  std::string description;  // for --help
  // Options that are taken by position, in order; a list takes all that are left.
  std::vector<std::string> positionals;
  std::vector<OptionDescription> options;
  std::string examples;  // lines for --help
  // A flag that asks for information alone: with it no positional and no required option is needed.
  std::string informs{};
  // Throws Error, Cancelled, Interrupted.
  std::function<void(const CommandInput&)> run;
  // Of a command that runs probes: the same with these probes and their options. It has --plugin.
  std::function<Command(const ProbeRegistry&)> with_probes;
};

// Cancelled, with what is left behind and how to go on.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Command FetchCommand();
Command InfoCommand();
Command ProbeCommand();
Command SweepCommand();
Command WhatIfCommand();
Command GenerateCommand();
Command ExportCommand();
Command ListCommand();
Command ShowCommand();
Command MergeCommand();
Command CompareCommand();
Command ChannelsCommand();
Command RopeCommand();

// All of them, in the order in which help lists them.
const std::vector<Command>& Commands();

// Throws Error (usage), with the nearest name, for one that does not exist.
const Command& FindCommand(const std::string& name);

// The command with the probes of the libraries that MIDSCOPE_PLUGIN_PATH and --plugin among the
// arguments name, where it runs probes. They bring options, so this comes before the rest of the
// line is read. Throws Error.
Command WithPlugins(const Command& command, const std::vector<std::string>& arguments);

// --with of a command that takes one setting: `none` where it was not given. Throws Error (usage).
std::string OneSetting(const OptionSet& options, const std::string& command);

// The option --with, --json, and --out with this help.
OptionDescription WithOption(const std::string& help);
OptionDescription JsonOption();
// --places: what it takes, between these two texts.
OptionDescription PlacesOption(const std::string& before, const std::string& behind);
OptionDescription OutOption(const std::string& help);

}  // namespace midscope::cli
