// SPDX-License-Identifier: MIT
// `midscope help [TOPIC]`.
#pragma once

#include <string>
#include <vector>

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

}  // namespace midscope::cli
