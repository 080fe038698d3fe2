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

// Returns the topics of Help: interventions, ..., and the commands.
std::vector<std::string> HelpTopics();

// Help on the grammar of interventions, from TermTypes().
std::string InterventionHelp();

// Help on the published settings, from InterventionPresets().
std::string PresetHelp();

// Descriptions of the probes, for `midscope probe --list` and `midscope help probes`.

// Returns one paragraph per probe: what it measures, the paper, differences in public code,
// behaviour for grouped heads and other position schemes, and its options.
std::string ProbeHelp(const ProbeRegistry& probes);

// Returns [{"name", "summary", "source", "options": [{"name", "help",
// "unit", "allowed", "default"}]}]; a default is written as on the command line; null: none.
std::string ProbeListJson(const ProbeRegistry& probes);

// Returns one line per probe.
std::string ProbeSummaries(const ProbeRegistry& probes);

}  // namespace midscope::cli
