// SPDX-License-Identifier: MIT
// `midscope help [TOPIC]`.
#pragma once

#include <string>
#include <vector>

#include "probes/plugin/probe_registry.h"

namespace midscope::cli {

// The overview, or help on a command, `interventions`, `presets`, `probes` or `tasks`. Throws Error
// (usage) for another topic.
std::string Help(const std::vector<std::string>& topics);

// The topics of Help: interventions, ..., and the commands.
std::vector<std::string> HelpTopics();

// The grammar of interventions, from TermTypes().
std::string InterventionHelp();

// The published settings, from InterventionPresets().
std::string PresetHelp();

// Descriptions of the probes, for `midscope probe --list` and `midscope help probes`.

// One paragraph per probe: what it measures, the paper, differences of public code, the effect of
// grouped heads and other positions, its options.
std::string ProbeHelp(const ProbeRegistry& probes);

// [{"name", "summary", "source", "plugin": file name or null, "options": [{"name", "help", "unit",
// "allowed", "default"}]}]; a default as on the command line, null for none.
std::string ProbeListJson(const ProbeRegistry& probes);

// One line per probe.
std::string ProbeSummaries(const ProbeRegistry& probes);

}  // namespace midscope::cli
