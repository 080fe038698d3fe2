// SPDX-License-Identifier: MIT
// Descriptions of the probes, for `midscope probe --list` and `midscope help probes`.
#pragma once

#include <string>

#include "probes/plugin/probe_registry.h"

namespace midscope::cli {

// One paragraph per probe: what it measures, the paper, differences of public code, the effect of
// grouped heads and other positions, its options.
std::string ProbeHelp(const ProbeRegistry& probes);

// [{"name", "summary", "source", "plugin": file name or null, "options": [{"name", "help", "unit",
// "allowed", "default"}]}]; a default as on the command line, null for none.
std::string ProbeListJson(const ProbeRegistry& probes);

// One line per probe.
std::string ProbeSummaries(const ProbeRegistry& probes);

}  // namespace midscope::cli
