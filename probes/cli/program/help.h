// SPDX-License-Identifier: MIT
// Texts of `midscope help [TOPIC]`.
#pragma once

#include <string>
#include <vector>

#include "probes/measure/builtin/probe_registry.h"

namespace midscope::cli {

// Returns the overview, or help on a command, `interventions`, `presets`, `probes`, `tasks` or
// another topic. Throws Error (usage) if the topic is unknown.
std::string Help(const std::vector<std::string>& topics);

// Returns the topics that Help accepts: interventions, ..., and the names of commands.
std::vector<std::string> HelpTopics();

// Returns help on the grammar of interventions, from TermTypes().
std::string InterventionHelp();

// Returns help on the published settings, from InterventionPresets().
std::string PresetHelp();

// Returns one paragraph per probe, for `midscope help probes`: what it measures, the paper,
// differences in public code, behaviour for grouped heads and other position schemes, options.
std::string ProbeHelp(const ProbeRegistry& probes);

// Returns the probes as JSON, [{"name", "summary", "source", "options": [{"name", "help", "unit",
// "allowed", "default"}]}]; a default is written as on the command line; null: none.
std::string ProbeListJson(const ProbeRegistry& probes);

// Returns one line per probe, with its name and summary.
std::string ProbeSummaries(const ProbeRegistry& probes);

}  // namespace midscope::cli
